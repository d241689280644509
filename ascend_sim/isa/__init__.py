"""What instructions exist: one table row each."""
