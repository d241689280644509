"""Python entry points: `run`, `tiling`, `infer_shapes`, `device`."""
