"""What a run got wrong."""
