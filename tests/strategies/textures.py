"""Fetches from random textures: any kind, size, address modes and filter, coordinates inside and far outside."""

from __future__ import annotations

import numpy as np
from hardware.textures import GATHERS, Case
from hypothesis import strategies as st

KERNELS = {1: ("sample1", "fetch1", "fetch1_one"), 2: ("sample2", "fetch2", *GATHERS), 3: ("sample3", "fetch3")}
ROWS = 32
MODES = st.sampled_from(("clamp", "border", "wrap", "mirror"))


@st.composite
def fetches(draw: st.DrawFn) -> tuple[Case, np.ndarray, np.ndarray]:
    """A case, its texels [z, y, x, channel], and the places of its fetches."""
    dimensions = draw(st.integers(1, 3))
    dtype = draw(st.sampled_from(("u1", "i2", "u4", "f2", "f4")))
    as_integer = dtype == "u4" or (dtype[0] in "ui" and draw(st.booleans()))
    case = Case(
        kernel=draw(st.sampled_from(KERNELS[dimensions])),
        dimensions=dimensions,
        dtype=dtype,
        channels=draw(st.sampled_from((1, 2, 4))),
        address=(draw(MODES), draw(MODES), draw(MODES)),
        sampling="point" if as_integer else draw(st.sampled_from(("point", "linear"))),
        normalized=draw(st.booleans()),
        as_integer=as_integer,
        border=(1.0, 0.5, -0.25, 0.0),
    )
    sizes = [draw(st.integers(1, 9)) if axis < dimensions else 1 for axis in range(3)]
    random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    shape = (*reversed(sizes), case.channels)
    real = dtype[0] == "f"
    texels = random.normal(size=shape).astype(dtype) if real else random.integers(0, 120, shape).astype(dtype)
    reach = draw(st.sampled_from((1.0, 12.0, 1e5)))
    places = random.uniform(-reach, reach, (ROWS, 4)).astype(np.int32 if case.whole else np.float32)
    return case, texels, places
