"""What a run tells people."""
