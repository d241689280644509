"""inplace_partial_rotary_mul: interleaved rotary embedding of a slice of the last axis, in place."""
