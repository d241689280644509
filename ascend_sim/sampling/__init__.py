"""Big launches from small ones: tile loops are timed for a few rounds and carried on, the error bounded and stated."""
