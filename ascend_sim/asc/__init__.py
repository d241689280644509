"""The language kernels are written in: pyasc's names, signatures and meaning."""
