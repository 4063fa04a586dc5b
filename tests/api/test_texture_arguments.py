"""Textures as arguments from Python; the code is that of the kernels whose fetches an H200 recorded."""

import lzma
from dataclasses import replace

import numpy as np
import pytest
from hardware.texture_replay import FOLDER
from hardware.textures import CUBIN
from interpreter.interpret import interpret

import gpusim
from isa.errors import UserError

ROWS, IMAGE = 64, np.arange(8 * 16, dtype=np.float32).reshape(8, 16)


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    """The module of all texture kernels."""
    path = tmp_path_factory.mktemp("textures") / "textures.cubin"
    path.write_bytes(lzma.decompress((FOLDER / CUBIN).read_bytes()))
    return gpusim.RawModule(path=path)


def fetched(module, kernel, texture, at, **how):
    """Return what a kernel fetches at each of some coordinates."""
    out = np.zeros((ROWS, 4), np.float32)
    module.get_function(kernel)((1,), (ROWS,), (texture, np.int32(ROWS), at, out), **how)
    return out


def places():
    """Return coordinates inside and outside of an image of 16 times 8 texels."""
    draw = np.random.default_rng(1)
    return draw.uniform(-4, 20, (ROWS, 4)).astype(np.float32)


@pytest.mark.jit
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_the_nearest_texels_of_an_image(module, engine):
    """Both engines fetch the texels that NumPy finds at whole numbers below the coordinates, kept inside."""
    at = places()
    found = fetched(module, "sample2", gpusim.Texture(IMAGE), at, engine=engine)[:, 0]
    x, y = np.clip(np.floor(at[:, 0]), 0, 15).astype(int), np.clip(np.floor(at[:, 1]), 0, 7).astype(int)
    assert found.tolist() == IMAGE[y, x].tolist()


@pytest.mark.jit
def test_a_filter_costs_no_values_of_other_arrays(module):
    """A filtered image in one part of an array leaves the array as it was, and is between its neighbours."""
    held = np.concatenate([IMAGE, -IMAGE])
    before, at = held.copy(), places()
    found = fetched(module, "sample2", gpusim.Texture(held[8:], filter="linear"), at)[:, 0]
    assert (held == before).all()
    assert (found <= 0).all()
    assert found.min() >= -IMAGE.max()


@pytest.mark.jit
def test_time_is_the_same_in_both_engines(module):
    """A filtered fetch of four channels takes as many cycles in both, cold and warm."""
    texels = gpusim.Texture(IMAGE.reshape(8, 4, 4), channels=4, filter="linear")
    for caches in ("warm", "cold"):
        times = set()
        for engine in ("compiled", "reference"):
            arguments = (texels, np.int32(ROWS), places(), np.zeros((ROWS, 4), np.float32))
            call = module.get_function("sample2")
            times.add(call((1,), (ROWS,), arguments, caches=caches, engine=engine).cycles)
        assert len(times) == 1


@pytest.mark.jit
def test_a_handle_that_is_none_ends_the_run(module):
    """A number in the place of a texture is refused where it is used, with its place."""
    with pytest.raises(UserError, match="0x7 is no handle of a texture object"):
        fetched(module, "sample2", np.uint64(7), places())


WRONG = "a fetch in 2D from texture 1, of 128 texels; give a texture of 2 dimensions"


@pytest.mark.jit
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_fetch_of_other_dimensions_ends_the_run(module, engine):
    """A kernel that fetches by two coordinates takes no texture of one dimension, with the fetch's place."""
    with pytest.raises(UserError, match=WRONG):
        fetched(module, "sample2", gpusim.Texture(IMAGE.ravel()), places(), engine=engine)


@pytest.mark.jit
def test_the_interpreter_refuses_it_as_well(module):
    """Without time the same texture ends with the same words."""
    arguments = gpusim.Texture(IMAGE), np.int32(ROWS), places(), np.zeros((ROWS, 4), np.float32)
    kernel = module.get_function("sample2")((1,), (ROWS,), arguments).kernel
    row = tuple(replace(one, size=(128, 1, 1), axes=1) for one in kernel.textures)
    with pytest.raises(UserError, match=WRONG):
        interpret(replace(kernel, textures=row))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: gpusim.Texture([1, 2]), "give a NumPy array"),
        (lambda: gpusim.Texture(IMAGE.reshape(2, 2, 4, 8)), r"give \[x\], \[y, x\]"),
        (lambda: gpusim.Texture(IMAGE, channels=4), "the last axis has 16 elements"),
        (lambda: gpusim.Texture(IMAGE[:, ::2]), "ascontiguousarray"),
        (lambda: gpusim.Texture(IMAGE.astype(np.float64)), "a texture of float64"),
        (lambda: gpusim.Texture(IMAGE, filter="cubic"), "'cubic' is no filter"),
        (lambda: gpusim.Texture(IMAGE, border=5), "border=5; give up to four numbers"),
        (lambda: gpusim.Texture(IMAGE, border=range(5)), "a border of 5 numbers"),
    ],
)
def test_what_no_texture_is_has_a_reason(make, said):
    """Each argument that makes no texture is refused with what it may be."""
    with pytest.raises(UserError, match=said):
        make()


def test_a_texture_in_the_place_of_a_number_is_refused(module):
    """The parameter must have the 8 bytes of a handle."""
    with pytest.raises(UserError, match="argument 2: a texture, where the parameter is 4 bytes"):
        module.get_function("sample2")((1,), (1,), (gpusim.Texture(IMAGE), gpusim.Texture(IMAGE), IMAGE, IMAGE))
