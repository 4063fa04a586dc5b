"""The place of `gpusim.api.cupy`, so that it is imported as `gpusim.cupy`."""

import sys

from gpusim.api import cupy

sys.modules[__name__] = cupy
