import pytest
from space_files import POINT, SOURCE, SPACE, needs_compiler, written

from gpusim.analysis.search.code.code_points import Wanted, compiled, kernel, refusal, stored
from gpusim.analysis.search.space_file import read
from gpusim.machine.machine import load


def at(tmp_path, source=SOURCE, **values):
    """Return what compiling a point for sm_80 gives, with a source in place of the tests' own."""
    space = read(written(tmp_path, source=source))
    return compiled(Wanted(POINT | values, 80), space, tmp_path)


@needs_compiler
def test_points_with_the_same_code_have_one_digest(tmp_path):
    """A parameter that the source does not use changes nothing; one that it uses makes other code."""
    unused = SOURCE.replace("BLOCK * PAD", "BLOCK")
    first, other = (at(tmp_path, unused, PAD=pad).code for pad in (1, 2))
    assert first == other
    assert at(tmp_path, PAD=1).code != at(tmp_path, PAD=2).code


@pytest.mark.long
@needs_compiler
def test_code_alone_makes_another_digest(tmp_path):
    """Points whose kernels differ in one constant of an instruction, and in no resource, are two."""
    constant = SOURCE.replace("BLOCK * PAD", "BLOCK").replace("+ 1.0f", "+ (float)PAD")
    first, other = (at(tmp_path, constant, PAD=pad).code for pad in (1, 2))
    kernels = [kernel(read(written(tmp_path)), POINT, stored(tmp_path, code).read_bytes()) for code in (first, other)]
    assert first != other
    assert len({one.program.registers for one in kernels}) == len({len(one.program) for one in kernels}) == 1


@pytest.mark.long
@needs_compiler
def test_another_launch_is_another_digest(tmp_path):
    """The same code with another grid and other arguments counts as another."""
    first = at(tmp_path).code
    space = read(written(tmp_path, SPACE.replace("N = 16384", "N = 8192")))
    assert compiled(Wanted(POINT, 80), space, tmp_path).code != first


@pytest.mark.long
@needs_compiler
def test_what_is_expected_does_not_count(tmp_path):
    """Points that differ in what is expected of them only are one launch."""
    first = at(tmp_path).code
    space = read(written(tmp_path, SPACE.replace("relative = 1e-6", "relative = 1e-5")))
    assert compiled(Wanted(POINT, 80), space, tmp_path).code == first


@needs_compiler
def test_an_error_of_the_compiler_is_one_line(tmp_path):
    """A point that can't be compiled has the first error, with its place, as its reason."""
    found = at(tmp_path, SOURCE.replace("+ 1.0f", "+ missing"))
    assert found.code == ""
    assert found.reason == f'{tmp_path}/sum.cu:7:45: identifier "missing" is undefined'


@needs_compiler
def test_a_kernel_has_its_points_launch(tmp_path):
    """The kernel of stored code has grid, block and shared memory of the point, and its values only where asked."""
    space, found = read(written(tmp_path)), at(tmp_path, PAD=2)
    data = stored(tmp_path, found.code).read_bytes()
    made = kernel(space, POINT | {"PAD": 2}, data)
    assert (made.grid, made.block, made.program.shared_bytes) == ((128, 1, 1), (64, 1, 1), 2 * 64 * 4)
    assert made.outcome is None
    assert kernel(space, POINT | {"PAD": 2}, data, expected=True).outcome is not None


def test_what_no_card_can_launch_is_refused_before_it_is_compiled(tmp_path):
    """Threads and dynamic shared memory are compared with the machines' limits, and a launch that is none refused."""
    space, machines = read(written(tmp_path)), [load("rtx3090"), load("rtx-a4000")]
    assert refusal(space, POINT, machines) == ""
    assert refusal(space, POINT | {"BLOCK": 2048}, machines) == "needs 2048 threads per block; rtx3090 has 1024"
    large = read(written(tmp_path, SPACE.replace('flops = "N"', 'shared = "1024 * BLOCK * PAD"')))
    assert refusal(large, POINT, machines) == ""
    assert refusal(large, POINT | {"PAD": 2}, machines[:1]) == "needs 131072 bytes of shared memory; rtx3090 has 101376"
    assert refusal(large, POINT | {"PAD": 2}, [load("a100"), *machines]) == ""
    assert "is 0, expected `int` >= 1" in refusal(space, POINT | {"BLOCK": 16384}, machines)
