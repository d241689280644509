"""ApplyRotaryPosEmbGrad: the gradient of rotating query and key together (950 only)."""
