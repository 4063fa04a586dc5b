"""The place of `gpusim.api.kernel_tuner`, so that it is imported as `gpusim.kernel_tuner`; it runs scripts, too."""

import sys

from gpusim.api import kernel_tuner

if __name__ == "__main__":
    from gpusim.api.kernel_tuner.script import main

    main()
else:
    sys.modules[__name__] = kernel_tuner
