"""Every refusal that the operators' pages document, with the code of the aclnn layer and what PyTorch's layer does."""

from __future__ import annotations

from typing import Any

from refusal_calls import GOOD, GRAD, INVALID, NO_KERNEL, NULL, QK, TILING, Row, both


def _inplace(good: str, first: str, code: int) -> list[Row]:
    """What the pages of the operator and of its gradient have in common; `code` is theirs for shapes and modes."""
    short = (2, 8, 1, 15)
    return [
        Row(good, "no first tensor", NULL, "", "Ref is a null pointer", shapes={first: None}),
        Row(good, "no cos", NULL, "", "cos is a null pointer", shapes={"cos": None}),
        Row(good, "no sin", NULL, "", "sin is a null pointer", shapes={"sin": None}),
        Row(good, "dtype of the first", INVALID, "run", "are (float64, float32, float32)", dtypes={first: "float64"}),
        Row(good, "dtypes of cos and sin", INVALID, "run", "float16, float32)", dtypes={"cos": "float16"}),
        Row(good, "format", INVALID, "", "has format ACL_FORMAT_NCHW", special="format"),
        Row(good, "not contiguous", INVALID, "run", "is not contiguous", special="strides"),
        Row(
            good,
            "half mode",
            code,
            "compile",
            "rotary_mode is ",
            attrs={"rotary_mode": 0},
            torch_attrs={"rotary_mode": "half"},
        ),
        Row(good, "slice of one", code, "compile", "partial_slice has 1 entry", attrs={"partial_slice": [8]}),
        Row(
            good, "slice of three", code, "compile", "partial_slice has 3 entries", attrs={"partial_slice": [0, 8, 16]}
        ),
        Row(good, "slice before 0", code, "run", "start must not be negative", attrs={"partial_slice": [-2, 14]}),
        Row(good, "slice behind D", code, "run", "end must not exceed", attrs={"partial_slice": [18, 34]}),
        Row(
            good,
            "odd slice",
            code,
            "run",
            "the length must be even",
            shapes=both(cos=short),
            attrs={"partial_slice": [8, 23]},
        ),
        Row(good, "cos of another length", code, "run", "16", shapes=both(cos=(2, 8, 1, 14))),
        Row(
            good,
            "cos and sin of two shapes",
            code,
            "run",
            "they must have the same shape",
            shapes={"sin": (2, 1, 1, 16)},
        ),
        Row(good, "first with 3 dims", code, "compile", "dims", shapes={first: (2, 8, 32)}),
        Row(good, "cos with 3 dims", code, "run", "all must have 4", shapes=both(cos=(2, 8, 16))),
        Row(good, "D over 1024", code, "run", "must not exceed 1024", shapes={first: (2, 8, 2, 1026)}),
        Row(good, "no broadcast", code, "run", "cos and sin ", shapes=both(cos=(2, 3, 1, 16))),
    ]


def _inplace_forward(good: str) -> list[Row]:
    return [
        *_inplace(good, "x_ref", TILING),
        Row(
            good,
            "more precise x",
            INVALID,
            "run",
            "are (float32, float16, float16)",
            dtypes={"cos": "float16", "sin": "float16"},
        ),
        Row(
            good,
            "slice ends before it begins",
            TILING,
            "run",
            "end must not lie before start",
            attrs={"partial_slice": [24, 8]},
        ),
        Row(good, "odd D", TILING, "run", "so it must be even", shapes={"x_ref": (2, 8, 2, 33)}),
        Row(good, "empty x", TILING, "run", "must be positive", shapes={"x_ref": (2, 0, 2, 32)}),
    ]


def _apply(good: str) -> list[Row]:
    query, cos, empty = (2, 8, 3, 64), (2, 8, 1, 64), "are not supported" if "A2" in good else "must be positive"
    odd = both(query_ref=(2, 8, 3, 63), key_ref=(2, 8, 1, 63), cos=(2, 8, 1, 63))
    rows = [
        Row(good, f"no {name}", NULL, "", f"{c_name} is a null pointer", shapes={name: None})
        for name, c_name in (("query_ref", "queryRef"), ("key_ref", "keyRef"), ("cos", "cos"), ("sin", "sin"))
    ]
    return [
        *rows,
        Row(good, "dtypes", INVALID, "run", "are (float32, float16, float32, float32)", dtypes={"key_ref": "float16"}),
        Row(good, "dtype", INVALID, "run", "are (float64", dtypes=dict.fromkeys(QK, "float64")),
        Row(good, "format", INVALID, "", "has format ACL_FORMAT_NCHW", special="format"),
        Row(good, "layout 5", INVALID, "compile", "layout is ", attrs={"layout": 5}, torch_attrs={"layout": "NBSD"}),
        Row(good, "unknown mode", INVALID, "compile", "is 'third'", attrs={"rotary_mode": "third"}),
        Row(
            good,
            "cos and sin of two shapes",
            INVALID,
            "run",
            "they must have the same shape",
            shapes={"sin": (1, 8, 1, 64)},
        ),
        Row(good, "cos with heads", INVALID, "run", "head", shapes=both(cos=(2, 8, 3, 64))),
        Row(good, "other positions", INVALID, "run", "positions must agree", shapes={"key_ref": (2, 7, 1, 64)}),
        Row(good, "other batches", INVALID, "run", "batches", shapes={"key_ref": (3, 8, 1, 64)}),
        Row(good, "3 dims in BSND", INVALID, "run", "query ", shapes={"query_ref": query[1:]}),
        Row(good, "empty", INVALID, "compile", empty, shapes={"key_ref": (2, 8, 0, 64)}),
        Row(good, "odd D", INVALID, "run", "last dim", shapes=odd),
        Row(good, "cos wider than query", INVALID, "run", "last dim", shapes=both(cos=(*cos[:3], 128))),
    ]


APPLY_A2 = [
    Row("apply A2", "SBND", INVALID, "run", "layout is 2", attrs={"layout": 2}, torch_attrs={"layout": "SBND"}),
    Row("apply A2", "BNSD", INVALID, "run", "layout is 3", attrs={"layout": 3}, torch_attrs={"layout": "BNSD"}),
    Row("apply A2", "D of 32", INVALID, "run", "must be 64 or 128", shapes={n: (*s[:3], 32) for n, s in QK.items()}),
    Row("apply A2", "cos broadcast over B", INVALID, "run", "batches must agree", shapes=both(cos=(1, 8, 1, 64))),
    Row(
        "apply A2",
        "ub_required over UB",
        TILING,
        "run",
        "only 196352 B are there",
        shapes={"query_ref": (2, 8, 127, 128), "key_ref": (2, 8, 127, 128), **both(cos=(2, 8, 1, 128))},
    ),
]
APPLY_950 = [
    Row(
        "apply 950",
        "D over 1024",
        INVALID,
        "run",
        "must not exceed 1024",
        shapes={n: (*s[:3], 1026) for n, s in QK.items()},
    ),
    Row(
        "apply 950",
        "quarters of 62",
        INVALID,
        "run",
        "must be a multiple of 4",
        shapes={n: (*s[:3], 62) for n, s in QK.items()},
        attrs={"rotary_mode": "quarter"},
    ),
]


def _grad_shapes(change: Any) -> dict[str, Any]:
    """`change` applied to every tensor of the gradient's call."""
    return {name: change(shape) for name, shape in GRAD.items()}


def _apply_grad() -> list[Row]:
    good, q, k, c = "apply grad", (2, 8, 3, 64), (2, 8, 1, 64), (2, 8, 1, 64)
    required = {
        "grad_query_embed": "gradQueryEmbed",
        "grad_key_embed": "gradKeyEmbed",
        "cos": "cos",
        "sin": "sin",
        "grad_query_out": "gradQueryOut",
        "grad_key_out": "gradKeyOut",
    }
    return [
        *(Row(good, f"no {n}", NULL, "", f"{t} is a null pointer", shapes={n: None}) for n, t in required.items()),
        Row(good, "dtype", INVALID, "compile", "float64", dtypes=dict.fromkeys(GRAD, "float64")),
        *(
            Row(good, f"dtype of {name}", INVALID, "compile", "float16", dtypes={name: "float16"})
            for name in ("grad_key_embed", "cos", "sin", "query_optional", "key_optional")
        ),
        Row(good, "dtype of an output", INVALID, "", "gradKeyOut is float16", dtypes={"grad_key_out": "float16"}),
        Row(good, "format", INVALID, "", "has format ACL_FORMAT_NCHW", special="format"),
        Row(good, "query alone", INVALID, "compile", "both", shapes={"key_optional": None}),
        Row(good, "key alone", INVALID, "compile", "both", shapes={"query_optional": None}),
        Row(
            good,
            "interleave",
            INVALID,
            "compile",
            "rotary_mode is 'interleave'",
            attrs={"rotary_mode_optional": "interleave"},
            torch_attrs={"rotary_mode": "interleave"},
        ),
        Row(good, "layout 5", INVALID, "compile", "layout is 5", attrs={"layout": 5}),
        Row(good, "layout 3, reserved", INVALID, "run", "layout is 3", attrs={"layout": 3}),
        Row(good, "TND with 4 dims", INVALID, "compile", "TND goes with 3 dims", attrs={"layout": 4}),
        Row(
            good, "2 dims", INVALID, "compile", "dims", shapes={"grad_query_embed": (8, 64), "grad_query_out": (8, 64)}
        ),
        Row(
            good,
            "another query",
            INVALID,
            "compile",
            "must have the same shape",
            shapes={"query_optional": (2, 8, 4, 64)},
        ),
        Row(
            good, "another key", INVALID, "compile", "must have the same shape", shapes={"key_optional": (2, 8, 2, 64)}
        ),
        Row(good, "cos and sin of two shapes", INVALID, "run", "same shape", shapes={"sin": (1, 8, 1, 64)}),
        Row(
            good,
            "cos with heads",
            INVALID,
            "run",
            "one head",
            shapes={**both(cos=q), "grad_cos_out": q, "grad_sin_out": q},
        ),
        Row(
            good,
            "other positions of key",
            INVALID,
            "run",
            "all dims but that of the heads",
            shapes=dict.fromkeys(("grad_key_embed", "key_optional", "grad_key_out"), (2, 7, 1, 64)),
        ),
        Row(
            good,
            "other positions of cos",
            INVALID,
            "run",
            "cos must have the positions of grad_query_embed",
            shapes=dict.fromkeys(("cos", "sin", "grad_cos_out", "grad_sin_out"), (2, 7, 1, 64)),
        ),
        Row(
            good,
            "other batches of cos",
            INVALID,
            "run",
            "cos must have one batch or those",
            shapes=dict.fromkeys(("cos", "sin", "grad_cos_out", "grad_sin_out"), (3, 8, 1, 64)),
        ),
        Row(good, "D over 1024", INVALID, "run", "must not exceed 1024", shapes=_grad_shapes(lambda s: (*s[:3], 1026))),
        Row(good, "odd D", INVALID, "run", "must be even", shapes=_grad_shapes(lambda s: (*s[:3], 63))),
        Row(
            good,
            "empty",
            INVALID,
            "compile",
            "every dim must be positive",
            shapes=_grad_shapes(lambda s: (2, 0, *s[2:])),
        ),
        Row(good, "shape of an output", INVALID, "", "gradQueryOut is (2, 8, 1, 64)", shapes={"grad_query_out": k}),
        Row(
            good, "shape of an optional output", INVALID, "", "gradSinOut is (2, 8, 3, 64)", shapes={"grad_sin_out": q}
        ),
        Row(good, "output not contiguous", INVALID, "", "gradQueryOut is not contiguous", special="strides"),
        Row("apply grad on A2", "chip", NO_KERNEL, "run", "it exists on ascend950", shapes={"cos": c}),
    ]


def _rotary(good: str, first: str, outs: tuple[str, ...]) -> list[Row]:
    """The pages of the operator and of its gradient are alike."""
    names = GOOD[good].shapes
    a2 = "950" not in good
    limit, text = (896, "at most 896") if a2 else (1024, "must not exceed 1024")
    wide = {name: (*shape[:3], limit + 2) for name, shape in names.items() if shape}
    odd = {name: (*shape[:3], 63) for name, shape in names.items() if shape}
    required = [name for name in names if "optional" not in name]
    return [
        *(Row(good, f"no {name}", NULL, "", "is a null pointer", shapes={name: None}) for name in required),
        Row(good, "dtype", INVALID, "run", "are (float64", dtypes=dict.fromkeys(names, "float64")),
        Row(good, "dtype of an output", INVALID, "", "is float16; it must be float32", dtypes={outs[0]: "float16"}),
        Row(good, "format", INVALID, "", "has format ACL_FORMAT_NCHW", special="format"),
        Row(good, "mode 4", TILING, "compile", "mode is ", attrs={"mode": 4}, torch_attrs={"rotary_mode": "fifth"}),
        Row(good, "cos and sin of two shapes", TILING, "run", "same shape", shapes={"sin": (2, 8, 1, 64)}),
        Row(
            good,
            "no broadcast",
            TILING,
            "run",
            "but the last must be 1 or that of ",
            shapes=both(cos=(1, 5, 1, 64)),
        ),
        Row(good, "2 dims", TILING, "compile", "dims", shapes={first: (8, 64), outs[0]: (8, 64)}),
        Row(good, f"D over {limit}", TILING, "run", text, shapes=wide),
        Row(good, "odd D", TILING, "run", "must be even" if a2 else "multiple of 2", shapes=odd),
        Row(good, "shape of an output", TILING, "", "it must be (2, 8, 3, 64)", shapes={outs[0]: (2, 8, 1, 64)}),
        Row(good, "output not contiguous", INVALID, "", "is not contiguous", special="strides"),
    ]


ROWS: list[Row] = [
    *_inplace_forward("inplace A2"),
    *_inplace_forward("inplace 950"),
    Row("inplace A2", "cos broadcast over B", TILING, "run", "dim 0 must agree", shapes=both(cos=(1, 8, 1, 16))),
    Row(
        "inplace A2", "cos with heads", TILING, "run", "dim 2 of cos and sin must be 1", shapes=both(cos=(2, 8, 2, 16))
    ),
    *_inplace("inplace grad", "dy_ref", TILING),
    Row(
        "inplace grad",
        "quarter",
        TILING,
        "compile",
        "only 1 (interleave) is supported",
        attrs={"rotary_mode": 2},
        torch_attrs={"rotary_mode": "quarter"},
    ),
    Row("inplace grad on A2", "chip", NO_KERNEL, "run", "it exists on ascend950"),
    *_apply("apply A2"),
    *APPLY_A2,
    *_apply("apply 950"),
    *APPLY_950,
    *_apply_grad(),
    *_rotary("rotary", "x", ("out",)),
    *_rotary("rotary 950", "x", ("out",)),
    *_rotary("rotary grad 950", "dy", ("dx_out", "dcos_out", "dsin_out")),
    *(
        Row(
            good,
            "quarters of 62",
            TILING,
            "run",
            "multiple of 4",
            shapes={name: (*shape[:3], 62) for name, shape in GOOD[good].shapes.items() if shape},
            attrs={"mode": 2},
            torch_attrs={"rotary_mode": "quarter"},
        )
        for good in ("rotary 950", "rotary grad 950")
    ),
    Row("rotary V2 950", "rotate", INVALID, "", "on the 950 leave it out", shapes={"rotate": (64, 64)}),
    *_rotary("rotary grad", "dy", ("dx_out", "dcos_out", "dsin_out")),
    Row("rotary grad", "x of another shape", TILING, "run", "same shape", shapes={"x_optional": (2, 8, 1, 64)}),
    Row("rotary grad", "dtype of x", INVALID, "run", "float16", dtypes={"x_optional": "float16"}),
]
