import sys

import pytest

from isa.errors import UserError
from isa.reading import extra


def test_an_installed_module_is_returned():
    """For an installed module the same module as by import is returned."""
    assert extra.module("json", "none") is sys.modules["json"]


def test_a_missing_package_is_reported():
    """For a missing package, or a module in one, one line names the package and the extra to install."""
    with pytest.raises(UserError, match=r"^no_such_package is not installed; run pip install 'gpusim\[parquet\]'$"):
        extra.module("no_such_package.inside", "parquet")
