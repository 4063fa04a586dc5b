"""`python -m fuzz SECONDS [SEED]`: a campaign; it stores the failures, and ends with exit code 1 if there are any."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from secrets import randbits
from time import monotonic

from fuzz import found
from fuzz.campaign import ALL, Tally, campaign, drawn
from fuzz.report import document, lines


def main() -> int:
    """Run a campaign, print its coverage, store its failures; return the exit code."""
    given = _arguments()
    start = monotonic()

    def report(tally: Tally) -> None:
        tried = ", ".join(f"{tally.covered[kind]:,} {kind}" for kind in ALL)
        counts = f"{tried}, {len(tally.found)} failed"
        sys.stderr.write(f"\r{monotonic() - start:.0f} s: {counts}")

    tally = campaign(given.seconds, drawn(given.seed, given.only), given.jobs, report)
    content = document(tally, monotonic() - start, given.seed)
    sys.stderr.write("\n")
    sys.stdout.write("".join(f"{line}\n" for line in lines(content)))
    if given.json:
        given.json.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    for each in _some(tally.found):
        smaller = found.smaller(each)
        path = found.store(smaller)
        sys.stdout.write(f"{path}: {smaller.check}: {smaller.what}\n")
    return int(bool(content["failed"]))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="fuzz", description="Random pairs, programs and mutated texts, for so many seconds."
    )
    parser.add_argument("seconds", type=float)
    parser.add_argument("seed", type=int, nargs="?", default=None, help="of all that is drawn; default: a new one")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", choices=ALL, default="", help="one kind of batch")
    parser.add_argument("--json", type=Path, help="a file for what was covered")
    given = parser.parse_args()
    given.seed = randbits(31) if given.seed is None else given.seed
    return given


def _some(failures: list[found.Found]) -> list[found.Found]:
    """Return at most three failures of each check, to be made smaller and stored."""
    checks = dict.fromkeys(each.check for each in failures)
    return [each for check in checks for each in [one for one in failures if one.check == check][:3]]


if __name__ == "__main__":
    sys.exit(main())
