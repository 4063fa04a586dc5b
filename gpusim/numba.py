"""The place of `gpusim.api.numba`, so that it is imported as `gpusim.numba`, and `gpusim.numba.cuda` with it."""

import sys

from gpusim.api import numba
from gpusim.api.numba import cuda

sys.modules[__name__] = numba
sys.modules[f"{__name__}.cuda"] = cuda  # numba-cuda looks for every module of such a name itself
sys.modules[f"{__name__}.cuda.random"] = cuda.random
