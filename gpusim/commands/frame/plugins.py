"""Scheduling policies from Python files outside of the package: `--plugin policy.py`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from gpusim.sm.front.policies.declaration import POLICY_NAMES, Policy, register_policy
from isa.errors import UserError, one_line

TAKES = "sm", "k", "eligible"  # the parameters by which a policy is known


def plug(paths: Iterable[Path]) -> None:
    """Run these files, which are the user's own code, and register each function of (sm, k, eligible) by its name.

    Raises UserError for a file that can't be read or run, has no such function, or names one as a built-in policy or
    another file does.
    """
    known = dict[str, Path]()
    for number, path in enumerate(dict.fromkeys(paths)):
        found = _policies(_executed(path, number))
        if not found:
            advice = f"write def mine({', '.join(TAKES)}): ... that returns the chosen warp's number, or -1"
            raise UserError(f"--plugin {path}: has no scheduling policy; {advice}")
        for name, function in found.items():
            if name in POLICY_NAMES:
                raise UserError(f"--plugin {path}: policy {name} comes with the simulator; rename the function")
            if name in known:
                raise UserError(f"--plugin {path}: policy {name} is in {known[name]} too; rename one of the functions")
            known[name] = path
            register_policy(name, function)


def _executed(path: Path, number: int) -> ModuleType:
    """Return the module of a file; it is known by number and file name, so that the compiler finds its functions."""
    name = f"gpusim_plugin_{number}_{path.stem}"
    spec = spec_from_file_location(name, path)
    if path.suffix != ".py" or not path.is_file() or not spec or not spec.loader:
        raise UserError(f"--plugin {path}: no such file of Python; give the path of a .py file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the user's own code may raise anything, or end as a script does
        what = f"{type(error).__name__}: {one_line(str(error))}"
        raise UserError(f"--plugin {path}: its code failed with {what}; mend the file") from None
    return module


def _policies(module: ModuleType) -> dict[str, Policy]:
    """Return the functions of a module that are policies, by name."""
    own = inspect.getmembers(module, inspect.isfunction)
    return {name: one for name, one in own if one.__module__ == module.__name__ and _is_policy(one)}


def _is_policy(function: object) -> bool:
    return inspect.isfunction(function) and tuple(inspect.signature(function).parameters) == TAKES
