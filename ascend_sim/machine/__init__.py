"""The SimPy model of the device."""
