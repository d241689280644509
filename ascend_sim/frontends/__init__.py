"""Other ways in."""
