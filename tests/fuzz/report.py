"""The report of a campaign: pairs and texts tried, their coverage, and the failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from fuzz.campaign import Tally
from fuzz.coverage import every

GROUPS = (
    "check", "text", "file", "feed", "ended by", "event", "reason", "mechanism", "mnemonic", "compiled", "not tried",
)  # fmt: skip
WIDTH = 112


def document(tally: Tally, seconds: float, seed: int) -> dict[str, Any]:
    """Return the coverage as JSON: counts by group, and the names that never occurred."""
    covered = tally.covered
    return {
        "seed": seed,
        "seconds": round(seconds),
        "pairs": covered["pairs"],
        "texts": covered["texts"],
        "programs": covered["programs"],
        "runs of programs": covered["runs of programs"],
        "skipping": covered["skipping"],
        "cycles": covered["cycles"],
        "skipped": covered["skipped"],
        "covered": {group: _group(covered, group) for group in GROUPS},
        "never": sorted(every() - covered.keys()),
        "failed": _group(covered, "failed"),
    }


def _group(covered: Counter[str], group: str) -> dict[str, int]:
    """Counts of a group by name, the fewest first."""
    found = {key.partition(": ")[2]: n for key, n in covered.items() if key.startswith(f"{group}: ") and n}
    return dict(sorted(found.items(), key=lambda pair: (pair[1], pair[0])))


def lines(content: dict[str, Any]) -> Iterator[str]:
    """Yield the same as lines of text."""
    rate = content["pairs"] / max(1, content["seconds"])
    yield f"seed {content['seed']}: {content['pairs']:,} pairs, {rate:.1f} a second, {content['texts']:,} mutated texts"
    pairs, cycles = max(1, content["pairs"]), max(1, content["cycles"])
    yield (
        f"fast-forward skipped in {100 * content['skipping'] / pairs:.0f} % of the pairs: "
        f"{content['skipped']:,} of {content['cycles']:,} cycles, {100 * content['skipped'] / cycles:.0f} %"
    )
    for group, counts in content["covered"].items():
        yield from _wrapped(group, [f"{name} {n:,}" for name, n in counts.items()])
    yield f"{content['programs']:,} programs of CUDA C, compared in {content['runs of programs']:,} runs"
    yield from _wrapped("never", content["never"])
    yield from _wrapped("failed", [f"{name} {n:,}" for name, n in content["failed"].items()])


def _wrapped(head: str, words: list[str]) -> Iterator[str]:
    line = f"{head} ({len(words)}):"
    for word in words:
        if len(line) + len(word) + 2 > WIDTH:
            yield line
            line = "   "
        line += f" {word};"
    yield line.rstrip(";")
