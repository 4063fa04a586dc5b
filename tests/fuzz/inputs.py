"""Every kind of text that a user may give: real ones to change, and their readers."""

from __future__ import annotations

import gzip
import io
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType

import msgspec
import pytest
from mutated import BUSY, REUSING
from read.fenced import ROOT

from fuzz import code_files
from gpusim.analysis.search import kernel_tuner
from gpusim.analysis.search.results_file import results
from gpusim.analysis.validate import measured
from gpusim.bounds.bounds import bound
from gpusim.commands.frame.arguments import kernel_of, overrides_of
from gpusim.commands.main import execute
from gpusim.engines.simulate import run_sm
from gpusim.machine.machine import load
from gpusim.simulation.timeline.build import timeline
from gpusim.views.html import pack
from gpusim.views.kanata import kanata
from gpusim.views.svg import svg
from gpusim.views.table import csv
from gpusim.views.text import text
from gpusim.views.timeline.document import Timeline
from gpusim.views.timeline.file import load as load_timeline
from isa.errors import UserError
from isa.nvidia.file import code, cubin
from isa.nvidia.lowering import syntax
from isa.text import listing

SECONDS = 5.0  # a text that takes longer counts as endless
CYCLES, INSTRUCTIONS = 20_000, 20_000
TINY = listing.read(".block 64\n.shared 256\nS2R R0, TID.X\nSHL R1, R0, 2\nLDS R2, [R1]\nFADD R2, R2, R2\nEXIT")


class OvertimeError(BaseException):
    """A text took longer than it may; no reader catches it."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Raise OvertimeError in code that takes more of the processor's time.

    It comes as Ctrl-C does, which is held back while code must not be interrupted.
    """

    def late(_: int, __: object) -> None:
        raise OvertimeError(f"more than {seconds:g} s")

    handlers = {signal.SIGPROF: lambda *_: signal.raise_signal(signal.SIGINT), signal.SIGINT: late}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def wrong(kind: str, text: bytes, seconds: float = SECONDS) -> str:
    """The fault in reading a text: empty if it gives a result or one line for the user."""
    try:
        with within(seconds), tempfile.TemporaryDirectory() as folder, quiet(), temporary(Path(folder)):
            READERS[kind](text, Path(folder))
    except UserError as error:
        return "" if len(str(error).splitlines()) == 1 else f"not one line: {error!r}"
    except (Exception, OvertimeError) as error:
        return f"{type(error).__name__}: {str(error)[:300]}"
    return ""


@contextmanager
def temporary(folder: Path) -> Iterator[None]:
    """Let temporary files be made in a folder; raise AssertionError if one is left, or anything but files `a.*`."""
    room = folder / "temporary"
    room.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(room))
        patch.setattr(tempfile, "tempdir", str(room))
        try:
            yield
        finally:
            left = [
                *room.iterdir(),
                *(one for one in folder.iterdir() if one != room and not one.name.startswith("a.")),
            ]
            parts = list(folder.glob("*.part"))
    if left or parts:
        raise AssertionError(f"left behind: {[one.name for one in (*left, *parts)]}")


@contextmanager
def quiet() -> Iterator[None]:
    """Print nothing."""
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        yield


@cache
def warm() -> None:
    """Compile once, as it takes long, the code that reading a listing needs."""
    run_sm(listing.read(BUSY), load("wide"), max_cycles=CYCLES)
    run_sm(TINY, load("mi60", {"limits.warp_size": 32}), max_cycles=CYCLES)


def _put(text: bytes, folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(text)
    return path


def read_listing(text: bytes, folder: Path) -> None:
    """Read a listing, bound it, and run its first cycles."""
    kernel, machine = listing.load(_put(text, folder, "a.asm")), load("gtx580" if b".warp 64" not in text else "mi60")
    str(kernel)
    run_sm(kernel, machine, max_cycles=CYCLES)
    bound(kernel, machine, limit=INSTRUCTIONS)


def read_machine(text: bytes, folder: Path) -> None:
    """Read a machine file, and run some instructions on it."""
    run_sm(TINY, load(str(_put(text, folder, "a.toml"))), max_cycles=CYCLES)


def read_settings(text: bytes, _: Path) -> None:
    """Take lines as `--set`, after the name of a machine, and run some instructions."""
    name, *settings = text.decode("utf-8", "replace").split("\n")
    run_sm(TINY, load(name, overrides_of(settings, None)), max_cycles=CYCLES)


def read_parameters(text: bytes, _: Path) -> None:
    """Take lines as `-p`, after the name of a kernel."""
    name, *parameters = text.decode("utf-8", "replace").split("\n")
    kernel_of(name, parameters)


def read_timeline(text: bytes, folder: Path) -> None:
    """Read a timeline document, and write it in every format."""
    _shown(load_timeline(_put(text, folder, "a.json")))


def read_zipped_timeline(text: bytes, folder: Path) -> None:
    """Read a timeline document that was compressed."""
    _shown(load_timeline(_put(text, folder, "a.json.gz")))


def read_space(text: bytes, folder: Path) -> None:
    """Read a T1 search space, and ask for its first point."""
    space = kernel_tuner.read_t1(_put(text, folder, "a.json"))
    if all(space.values.values()):
        space.allows({name: values[0] for name, values in space.values.items()})


def read_measured(text: bytes, folder: Path) -> None:
    """Read a file of measured rows."""
    measured.read(_put(text, folder, "a.csv"), ())


class _Settings(msgspec.Struct):
    machine: str


class _Point(msgspec.Struct):
    point: dict[str, int | str]
    cycles: int | None


def read_results(text: bytes, folder: Path) -> None:
    """Go on with a file of results."""
    with results(_put(text, folder, "a.jsonl"), _Settings("gtx580"), _Point) as (_, add):
        add(_Point({"a": 1}, 2))


def read_dump(text: bytes, folder: Path) -> None:
    """Read a dump of machine code, and each of its instructions."""
    found = code.read(_put(text, folder, "a.sass"))
    for section in found.sections.values():
        for one in section.instructions:
            with suppress(ValueError):
                assert syntax.parse(syntax.show(syntax.parse(one.text))) == syntax.parse(one.text)


def read_cubin(text: bytes, folder: Path) -> None:
    """Read a cubin's functions and variables."""
    cubin.read(text, str(folder / "a.cubin"))


def run_command(text: bytes, folder: Path) -> None:
    """Run a command line of one argument a line; an error must print one line."""
    del folder
    reported = io.StringIO()
    with redirect_stderr(reported):
        code = execute([line for line in text.decode("utf-8", "replace").split("\n") if "/" not in line])
    if code not in (0, 1, 2, 3) or (code == 2 and len(reported.getvalue().splitlines()) != 1):
        raise AssertionError(f"exit code {code}, told {reported.getvalue()[-300:]!r}")


READERS: Mapping[str, Callable[[bytes, Path], None]] = MappingProxyType(
    {
        "listing": read_listing,
        "machine file": read_machine,
        "settings": read_settings,
        "parameters": read_parameters,
        "timeline": read_timeline,
        "zipped timeline": read_zipped_timeline,
        "search space": read_space,
        "measured rows": read_measured,
        "results": read_results,
        "dump": read_dump,
        "cubin": read_cubin,
        "command": run_command,
        **code_files.READERS,
    }
)


def _shown(document: Timeline) -> None:
    for write in (csv, svg, kanata, pack, text):
        for _ in write(document):
            pass


@cache
def seeds(kind: str) -> Sequence[bytes]:
    """Return real texts of a kind."""
    return tuple(SEEDS[kind]())


def _listings() -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted((ROOT / "examples").glob("*.asm")))
    yield from (text.encode() for text in (BUSY, REUSING))


def _machines() -> Iterator[bytes]:
    folder = ROOT / "gpusim" / "machines"
    yield from ((folder / f"{name}.toml").read_bytes() for name in ("gtx580", "wide", "h200", "mi60", "gtx580-1566"))
    yield b'extends = "gtx580"\nname = "mine"\n[schedulers]\ncount = { value = 1, source = "me", method = "vendor" }\n'


def _settings() -> Iterator[bytes]:
    yield b"gtx580\nschedulers.count=1\nschedulers.policy=gto\nunit.fp32.latency=9"
    yield b"h200\nload_store.queue=4\nregister_file.banks=2\nl1.bytes=65536"
    yield b"mi60\nlimits.blocks=2\nmemory_paths.schedulers=2\nwait_counters.vector=3"


def _parameters() -> Iterator[bytes]:
    yield b"sgemm-lai\nm=96\nn=96\nk=32"
    yield b"chain\nop=FFMA\nlength=20\niterations=3"
    yield b"bank-conflict\nstride=2\niterations=6"
    yield b"stream\nblocks=4"


def _timelines() -> Iterator[bytes]:
    yield msgspec.json.encode(timeline(TINY, load("gtx580")))
    yield msgspec.json.encode(timeline(listing.read(BUSY), load("gtx580"), end=400))


def _spaces() -> Iterator[bytes]:
    parameters = [{"Name": "m", "Type": "int", "Values": "[96, 192]"}, {"Name": "k", "Type": "int", "Values": [8, 16]}]
    parameters += [{"Name": "n", "Type": "int", "Values": "range(96, 400, 96)"}]
    conditions = [{"Parameters": ["m", "k"], "Expression": "m * k <= 3072 and (k % 8 == 0 or not m > 96)"}]
    yield msgspec.json.encode({"ConfigurationSpace": {"TuningParameters": parameters, "Conditions": conditions}})


def _measured() -> Iterator[bytes]:
    head = b"exp,op,W,ILP,param,i1,i2,cyc1_med,cyc2_med\n"
    yield head + b"lat,FFMA,1,1,,100,200,500,900\nthr,FFMA,16,4,,64,128,2000,3900\n"
    yield b"name,kernel,W,cyc1_med,cyc2_med\nU8_FFMA,ffma.cubin,4,300,812.5\nminstall,x,1,30,81\n"


def _results() -> Iterator[bytes]:
    yield b'{"machine":"gtx580"}\n{"point":{"a":1},"cycles":20}\n{"point":{"a":2},"cycles":null}\n'


def _dumps() -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted((ROOT / "examples").glob("*.sass")))


def _cubins() -> Iterator[bytes]:
    yield from (path.read_bytes() for path in sorted((ROOT / "tests" / "isa" / "sass" / "data").glob("*.cubin")))


def _commands() -> Iterator[bytes]:
    lines = (
        "bound chain --machine gtx580", "run chain -p length=5 -p iterations=2 --json", "machines gtx580 --json",
        "kernels chain", "timeline chain -p length=4 --cycles 0:40", "report chain -p length=8 --machine h200",
        "explain chain -p length=4 --warp 0 --cycle 20", "codes chain --machine v100", "traffic chain -p length=4",
        "sweep chain -p length=4,8 --set unit.fp32.latency=9:12 --jobs 1", "compare chain --set schedulers.policy=gto",
        "hazards chain --machine v100", "races barrier", "space zgemm --machine c2050", "schema timeline",
        "sass saxpy.sass saxpy",
    )  # fmt: skip
    yield from (b"\n".join(line.encode().split()) for line in lines)


SEEDS: Mapping[str, Callable[[], Iterator[bytes]]] = MappingProxyType(
    {
        "listing": _listings,
        "machine file": _machines,
        "settings": _settings,
        "parameters": _parameters,
        "timeline": _timelines,
        "zipped timeline": lambda: (gzip.compress(text, mtime=0) for text in _timelines()),
        "search space": _spaces,
        "measured rows": _measured,
        "results": _results,
        "dump": _dumps,
        "cubin": _cubins,
        "command": _commands,
        **code_files.SEEDS,
    }
)
