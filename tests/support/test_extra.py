import sys

import pytest

from gpusim.support import extra
from isa.errors import UserError


def test_an_installed_module_is_returned():
    """It is the module that an import gives."""
    assert extra.module("json", "none") is sys.modules["json"]


def test_what_is_not_installed_is_reported():
    """One line names the package and the extra to install, also for a module inside of a package."""
    with pytest.raises(UserError, match=r"^no_such_package is not installed; run pip install 'gpusim\[parquet\]'$"):
        extra.module("no_such_package.inside", "parquet")
