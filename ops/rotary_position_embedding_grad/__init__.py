"""rotary_position_embedding_grad: gradient of rotary_position_embedding, and of its cos and sin where x is given."""
