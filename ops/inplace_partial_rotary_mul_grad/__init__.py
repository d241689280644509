"""InplacePartialRotaryMulGrad: the gradient of rotating a slice of the last axis, in place (950 only)."""
