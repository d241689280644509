"""pyasc's `asc.language`: other import paths of the same names."""
