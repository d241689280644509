"""`ascend-sim`."""
