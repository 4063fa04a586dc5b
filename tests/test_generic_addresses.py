"""Generic addresses in shared, local and global memory, lane by lane, as an H200 has them.

Values were compared only after the code was written; of `times` the rule was read off them: it is in sight.
"""

import csv
import shutil

import numpy as np
import pytest
from draws import few
from generic_addresses import LAUNCHES, chip, code, kernel
from idioms import DATA
from interpreter.interpret import interpret

import gpusim
from isa import memory
from isa.architecture import nvidia
from isa.nvidia.compiler import tools

needs_nvcc = pytest.mark.skipif(
    not (tools.installed("nvcc") and shutil.which("g++")), reason="nvcc (extra cuda) or g++ is not installed"
)

SLOT = 8  # numbers that a thread of `machine_state` leaves; the first is its warp's slot
SPACES = {0: "shared", 1: "local", 2: "global", 3: "shared and global", 4: "shared and local", 10: "8 lanes in shared"}


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """The cubin as a module."""
    path = tmp_path_factory.mktemp("generic") / "generic.cubin"
    path.write_bytes(code())
    return gpusim.RawModule(path=path)


def different(name, arrays):
    """Return the places of the arguments that differ from what the chip left, or that it left alone."""
    pairs = [(chip().get(f"{name}.{i}", before), arrays[i]) for i, before in enumerate(LAUNCHES[name].values())]
    if name == "machine_state":
        pairs = [tuple(np.where(np.arange(len(one)) % SLOT, one, 0) for one in pairs[0])]
    return [i for i, (one, other) in enumerate(pairs) if one.tobytes() != other.tobytes()]


@pytest.mark.jit
@pytest.mark.parametrize("name", few(list(LAUNCHES)[::-1], 1))
def test_generic_addresses_leave_what_the_chip_left(module, name):
    """The compiled engine, and the interpreter without time, leave every array as an H200 does."""
    launch = LAUNCHES[name]
    arrays = launch.values()
    run = module.get_function(kernel(name))(launch.grid, launch.block, arrays, shared_mem=launch.shared, sms="all")
    assert different(name, arrays) == []
    words, bases = interpret(run.kernel).memory, memory.bases(run.kernel.buffers)
    own = [memory.view(words, b, bases[b.name]) for b in run.kernel.buffers if b.name.startswith("argument")]
    places = [i for i, array in enumerate(arrays) if array.ndim]
    given = dict(zip(places, own, strict=True))
    assert different(name, [given.get(i, array) for i, array in enumerate(arrays)]) == []


@pytest.mark.long
@needs_nvcc
@pytest.mark.parametrize("architecture", [100, 120])
def test_generic_addresses_of_later_architectures_leave_what_the_chip_left(architecture):
    """Compiled for one that no machine has, all arrays are an H200's, but for the warps that an SM of sm_120 holds."""
    module = gpusim.RawModule(path=DATA / "generic.cu", architecture=architecture)
    for name in few(list(LAUNCHES), 12):
        launch, arrays = LAUNCHES[name], LAUNCHES[name].values()
        made = module.get_function(kernel(name)).launched(launch.grid, launch.block, arrays, shared_mem=launch.shared)
        words, bases = interpret(made).memory, memory.bases(made.buffers)
        own = [memory.view(words, b, bases[b.name]) for b in made.buffers if b.name.startswith("argument")]
        if name == "machine_state":  # its second number is %nwarpid
            assert set(own[0][1::SLOT].tolist()) == {nvidia(architecture).warps}
            own[0][1::SLOT] = nvidia(90).warps
        places = [i for i, array in enumerate(arrays) if array.ndim]
        assert different(name, [dict(zip(places, own, strict=True)).get(i, x) for i, x in enumerate(arrays)]) == []


def times():
    """Return the rows that are compared: kernel, what the lanes point to, threads, cycles of one access on the chip."""
    with (DATA / "generic.csv").open() as file:
        return [(r["kernel"], int(r["mode"]), int(r["threads"]), float(r["cycles"])) for r in csv.DictReader(file)]


def cycles(module, name, mode, threads):
    """Return the simulated cycles of one access more."""
    found = []
    for count in (64, 192):
        arrays = np.zeros(1 << 16, np.uint64), np.zeros(4096, np.int64)
        module.get_function(name)((1,), (threads,), (*arrays, np.int32(mode), np.int32(count)), shared_mem=16384)
        found.append(int(arrays[1].reshape(-1, 2)[:threads, 1].max()))
    return (found[1] - found[0]) / 128


@pytest.mark.jit
@pytest.mark.parametrize("row", few([r for r in times() if r[0] == "chain" and r[1] in SPACES], 4))
def test_a_chain_takes_the_cycles_of_the_slowest_memory(module, row):
    """Loads that give the next address come at most 3 cycles sooner than on the chip, and never later."""
    name, mode, threads, measured = row
    assert -3 <= cycles(module, name, mode, threads) - measured <= 0


@pytest.mark.long
@pytest.mark.jit
@pytest.mark.parametrize("mode", [0, 2, 3, 4])
def test_the_memories_of_one_access_take_the_unit_one_after_the_other(module, mode):
    """32 warps that load all the time are within 5 % of the chip's cycles; two memories take the sum of both."""
    (measured,) = [r[3] for r in times() if r[:3] == ("rate", mode, 1024)]
    assert cycles(module, "rate", mode, 1024) == pytest.approx(measured, rel=0.05)


@pytest.mark.jit
@pytest.mark.parametrize(("mode", "lanes"), [(0, 0), (2, 32), (3, 16)])
def test_only_lanes_in_global_memory_count_as_its_bytes(module, mode, lanes):
    """A store and twice 64 loads of 8 bytes count for each lane that points there, and 16 bytes that each leaves."""
    arrays = np.zeros(1 << 16, np.uint64), np.zeros(4096, np.int64)
    result = module.get_function("chain")((1,), (32,), (*arrays, np.int32(mode), np.int32(64)), shared_mem=16384)
    account = result.memory
    buffers = [place for place, name in enumerate(account.places) if name.startswith("argument")]
    assert account.of(places=buffers).needed == 8 * (1 + 2 * 64) * lanes + 16 * 32
