"""When a launch reads a number of the machine at all, and why not: what the units say of their keys.

Each condition names keys of machine files, what these are packed to (fields of the record `machine`, or
columns of decoded rows), and says in words why nobody reads them where it does not hold. Fields are left out when two
machines are compared for a launch (`gpusim/analysis/settings/ineffective.py`); conditions without fields are words
alone.
"""

from __future__ import annotations

from gpusim.sm.state.every import EVERY

CONDITIONS = tuple(condition for unit in EVERY for condition in unit.conditions)
