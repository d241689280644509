"""MKI: the layer of kernels below ATB's runners."""
