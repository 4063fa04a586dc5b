"""Numbers that all machines since Volta share, by which the compiled engine has code of its own for these machines."""

from __future__ import annotations

from collections.abc import Mapping

from gpusim.sm.records import MachineNumbers

SINCE_VOLTA: Mapping[str, int] = {  # none of them is changed once the numbers are packed
    **{"groups": 1, "schedulers": 4, "interval": 1, "shift": 0, "stagger": 0, "issue_interval": 1, "policy": 3},
    **{"policy_code": 0, "selection_may_wait": 1, "rotate": 1, "wastes_slot": 0, "moves_pointer": 1, "retry": 1},
    **{"ports": 1, "same_warp": 1, "obeys_codes": 1, "yield_stall": 2, "yield_lasts": 65536, "yield_rest": 12},
    **{"counts": 0, "register_banks": 2, "window": 2, "carried": 0, "collecting": 0, "replays": 0, "packs": 0},
    **{"queues": 4, "sharing": 0, "exclusive": 0, "branch": 11, "per_warp": 0, "per_arrival": 2, "banks": 32},
    **{"pass_slots": 0, "request_slots": 0, "shared_ideal": 0, "side_by_side": 0, "near_holds": 0, "far_holds": 0},
    **{"at_once": 0, "passes_per_cycle": 1, "merge_halves": 0, "shared_rule": 3, "bank_words": 1, "row_bytes": 128},
    **{"global_rule": 2, "line_bytes": 128},
}


def is_since_volta(numbers: MachineNumbers) -> bool:
    """Tell whether a machine's packed numbers are these."""
    return all(int(numbers[name]) == number for name, number in SINCE_VOLTA.items())  # type: ignore[call-overload]
