"""What the host does before and around a launch."""
