"""pypto_rope: rotary position embeddings written in PyPTO, lowered to the simulated core."""
