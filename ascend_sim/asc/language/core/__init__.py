"""pyasc's `asc.language.core`: other import paths of the same names."""
