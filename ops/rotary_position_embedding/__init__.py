"""rotary_position_embedding: rotary embedding of the whole last axis, half or interleaved."""
