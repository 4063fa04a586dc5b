"""Textures in launch files."""

import pytest

from gpusim.launch.file import arguments
from isa.errors import UserError
from isa.nvidia.abi.launch import handle

ONE = '[[argument]]\nname = "t"\nbuffer = "uint8"\ntexture = { size = [8, 4], channels = 4, read = "normalized"'


def test_a_texture_is_a_handle_of_its_buffer(launch):
    """Its buffer has as many elements as it has texels and channels; handles count textures from 1 on."""
    source = launch('[[argument]]\nvalue = 1\ntype = "int32"\n' + ONE + ', filter = "linear", address = "border" }\n')
    found = arguments.buffers(source)
    (texture,) = arguments.textures(source, found)
    assert [(one.name, one.elements) for one in found] == [("t", 128)]
    assert arguments.values(source, found)[1] == handle(0)
    assert (texture.size, texture.pitch, texture.address) == ((8, 4, 1), 32, ("border",) * 3)


def found(launch, text):
    """Return the textures of a launch file."""
    source = launch(text)
    return arguments.textures(source, arguments.buffers(source))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ONE + " }\nelements = 100\n", "t has 100 elements, the texture 128"),
        ("[[argument]]\ntexture = { size = [8] }\n", "a texture without a buffer"),
        (ONE.replace("uint8", "uint32") + " }\n", "only 8 and 16 bits"),
        (ONE + ', filter = "cubic" }\n', "filter: invalid enum value 'cubic'; take point, linear$"),
        (ONE + ', address = "edge" }\n', "take clamp, border, wrap, mirror$"),
        (ONE + ", chanels = 1 }\n", "unknown key chanels; did you mean channels"),
        (ONE + ", depth = 1 }\n", "known: size, channels, address"),
    ],
)
def test_what_no_texture_is_is_refused(launch, text, said):
    """The message says what does not fit."""
    with pytest.raises(UserError, match=said):
        found(launch, text)
