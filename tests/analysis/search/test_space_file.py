from itertools import product

import pytest
from space_files import SPACE, written

from gpusim.analysis.search.space_file import at_check, defines, launch, moved, points, read, with_given
from isa.errors import UserError


@pytest.fixture
def space(tmp_path):
    """Return the search space of the tests' space file."""
    return read(written(tmp_path))


def refusal(tmp_path, old, new, act=read):
    """Return the message for the space file with a text in place of another, without the folder."""
    assert SPACE.count(old) == 1
    path = written(tmp_path, SPACE.replace(old, new))
    with pytest.raises(UserError) as caught:
        act(path)
    return str(caught.value).replace(f"{tmp_path}/", "")


def test_the_points_are_the_product_that_meets_the_restrictions(space):
    """Values come from lists and from expressions; points that a restriction excludes are none."""
    every = product([64, 128, 2048], [1, 2], [1, 2])
    wanted = [{"BLOCK": b, "EACH": e, "PAD": p} for b, e, p in every if b * e <= 512]
    assert points(space) == wanted


def test_a_launch_is_evaluated_at_each_point(space):
    """Grid, block, operations, elements and values follow from the point and the sizes; texts stay texts."""
    found = launch(space, {"BLOCK": 64, "EACH": 2, "PAD": 1}).file
    assert (found.grid, found.block, found.flops) == ([128], [64], 16384)
    assert [one.elements for one in found.argument] == [16384, 16384, 0]
    assert found.argument[2].value == 16384
    assert found.expect[0].value == "x + 1"
    assert moved(space, {"BLOCK": 64, "EACH": 2, "PAD": 1}) == 8 * 16384


def test_the_check_has_sizes_of_its_own(space):
    """The launch whose values are checked has the sizes of [check]."""
    assert launch(at_check(space), {"BLOCK": 64, "EACH": 2, "PAD": 1}).file.grid == [8]


def test_sizes_and_values_can_be_given(space):
    """A size is replaced, and a parameter keeps the values that are given."""
    found = with_given(space, {"N": "2048", "BLOCK": "128,64", "PAD": "2"})
    assert found.sizes == {"N": 2048}
    assert [(each["BLOCK"], each["PAD"]) for each in points(found)] == [(128, 2), (128, 2), (64, 2), (64, 2)]


def test_a_size_may_follow_from_those_before_it(tmp_path):
    """A size that is an expression follows a size that is given."""
    space = read(written(tmp_path, SPACE.replace("N = 16384", 'M = 4\nN = "4096 * M"')))
    assert space.sizes == {"M": 4, "N": 16384}
    assert with_given(space, {"M": "2"}).sizes == {"M": 2, "N": 8192}


def test_members_of_a_struct_may_be_expressions(tmp_path):
    """Numbers of a struct are evaluated; the name of a buffer in it is not."""
    text = SPACE.replace('value = "N"\ntype = "int32"', 'struct = [["int32", "N // EACH"], ["pointer", "x"]]')
    found = launch(read(written(tmp_path, text)), {"BLOCK": 64, "EACH": 2, "PAD": 1})
    assert found.file.argument[2].struct == [("int32", 8192), ("pointer", "x")]


def test_the_compiler_learns_the_point():
    """Each parameter is an option -DNAME=VALUE; a truth value is 1 or 0."""
    assert defines({"A": 4, "B": True, "T": "float2"}) == ["-DA=4", "-DB=1", "-DT=float2"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"sum.cu"', "7", "sum.toml:1:1: source: expected `str`, got `int`; gpusim schema space-file lists the keys"),
        ("[sizes]", "[size]", "sum.toml:9:2: unknown key size; did you mean sizes?"),
        ("EACH <= 512", "EECH <= 512", "sum.toml:2:1: BLOCK * EECH <= 512: there is no parameter EECH; "),
        ('"N // (BLOCK', '"open(BLOCK', "sum.toml:16:1: open(BLOCK * EACH): takes numbers, operators and "),
        ('"range(1, 3)"', "[1, 1]", "sum.toml:6:1: EACH: a value is given twice; leave one out"),
        ('"range(1, 3)"', '"7"', "sum.toml:6:1: EACH: 7 is no list of numbers or words; write [1, 2, 4]"),
        ('"range(1, 3)"', "[]", "sum.toml:6:1: EACH: [] is no list of numbers or words; write [1, 2, 4]"),
        ("N = 16384", "PAD = 16384", "sum.toml:10:1: PAD is a tunable parameter too; rename one"),
        ("N = 1024", "M = 1024", "sum.toml:13:1: M is no size; it has N"),
        ("PAD = [1, 2]", "P-D = [1, 2]", "sum.toml:7:1: P-D is no name of C; write letters, digits and _"),
        ("relative = 1e-6", "near = 1", "sum.toml:39:1: unknown key near; known: buffer, value, file, within, "),
        ("[parameters]", "[tunable]", "sum.toml:1:1: no [parameters], so no space file; give the path of a space file"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_with_its_place(tmp_path, old, new, message):
    """What a space file can't say is refused with file, line and column, cause and fix."""
    assert refusal(tmp_path, old, new).startswith(message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"BLOCK"]', '"BLOCK / 2"]', "sum.toml:17:1: block.0: BLOCK / 2 is 32.0, expected `int`, got `float`; "),
        ('"BLOCK"]', '"BLOCK - 64"]', "sum.toml:17:1: block.0: BLOCK - 64 is 0, expected `int` >= 1; gpusim "),
        ('"BLOCK"]', '"BLOCK // (EACH - 1)"]', "sum.toml:17:1: BLOCK // (EACH - 1): integer division or modulo by "),
    ],
)
def test_a_launch_that_is_none_is_one_line(tmp_path, old, new, message):
    """An expression that gives no size at a point is refused with the place of its key, and with its value."""
    at = {"BLOCK": 64, "EACH": 1, "PAD": 1}
    assert refusal(tmp_path, old, new, lambda path: launch(read(path), at)).startswith(message)


def test_bytes_are_not_computed_for_a_refusal_of_another_key(tmp_path):
    """Where bytes can't be computed at a point whose grid is refused, the refusal is that of the grid."""
    text = SPACE.replace('bytes = "8 * N"', 'bytes = "N // PAD"').replace('"BLOCK"]', '"BLOCK - 64"]')
    at = {"BLOCK": 64, "EACH": 1, "PAD": 0}
    with pytest.raises(UserError, match=r"block.0: BLOCK - 64 is 0, expected"):
        launch(read(written(tmp_path, text)), at)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("EACH <= 512", "EACH <= 5", "sum.toml:2:1: none of 12 points is left by BLOCK * EACH <= 5; loosen it, "),
        ('"range(1, 3)"', '"range(0, 999999)"', "sum.toml:4:2: 5,999,994 points; leave 1,000,000 at most"),
        ("BLOCK * EACH <= 512", "BLOCK % (EACH - 1)", "sum.toml:2:1: BLOCK % (EACH - 1): integer modulo by zero; "),
    ],
)
def test_no_points_or_too_many_are_one_line(tmp_path, old, new, message):
    """A space without points, with too many, or whose restriction can't be computed, is refused."""
    assert refusal(tmp_path, old, new, lambda path: points(read(path))).startswith(message)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"M": "1"}, "-p M=1: {} has no M; it has BLOCK, EACH, PAD, N"),
        ({"BLOCK": "32"}, "-p BLOCK=32: no value of BLOCK; choose from 64, 128, 2048"),
        ({"N": "many"}, "-p N=many: is no number; give a size such as N=1024"),
    ],
)
def test_what_is_given_must_be_there(space, given, message):
    """A name or a value that the file doesn't have is refused."""
    with pytest.raises(UserError) as caught:
        with_given(space, given)
    assert str(caught.value) == message.format(space.path)


def test_what_the_compiler_is_told_by_a_file(tmp_path):
    """Options and words that a shell would take for commands are refused; those of the file come before all others."""
    old = "restrictions ="
    assert refusal(tmp_path, old, f'flags = ["-O3", "--run"]\n{old}').startswith("sum.toml:2:1: ")
    assert refusal(tmp_path, "BLOCK = [", 'T = ["float", "$(touch x)"]\nBLOCK = [').startswith(
        "sum.toml:5:1: T: '$(touch x)' is no value of -D"
    )
    assert read(written(tmp_path, SPACE.replace(old, f'flags = ["-O", "3"]\n{old}'))).flags == ("-O3",)


def test_a_restriction_that_would_take_hours(tmp_path):
    """A long list in a restriction at many points is one line, with the place of the restrictions, within seconds."""
    text = SPACE.replace("PAD = [1, 2]", 'PAD = "range(100000)"')
    path = written(tmp_path, text.replace('"BLOCK * EACH <= 512"', '"max(list(range(99999))) > BLOCK + EACH + PAD"'))
    space = read(path)
    space.budget.left //= 20
    with pytest.raises(UserError, match=r"sum\.toml:2:1: max\(.*takes over .* steps at all points; write shorter"):
        points(space)
    with pytest.raises(UserError, match=r"sum\.toml:4:2: the list of points takes over .* steps"):
        points(space)
