"""The forward rotary embedding operator of ATB."""
