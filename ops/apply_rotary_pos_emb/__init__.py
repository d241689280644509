"""ApplyRotaryPosEmb: rotary position embedding of query and key together, in place."""
