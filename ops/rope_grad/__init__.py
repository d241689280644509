"""The RoPE backward operator of ATB."""
