"""What the tests of several operators share."""
