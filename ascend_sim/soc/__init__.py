"""What a chip is."""
