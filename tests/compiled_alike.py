"""What nvcc makes of the sources of examples, beside the cubins that stand there."""

import pytest

from isa.nvidia.compiler import compile, tools
from isa.nvidia.file import code


def alike(path, kept, flags=()):
    """Tell whether the compiler makes of a source the code that was kept: instructions, control codes and lines.

    Another compiler than nvcc 13.0, which made the cubins, skips the test.
    """
    if "release 13.0" not in tools.version("nvcc"):
        pytest.skip("the cubins are of nvcc 13.0")
    made = code.of_cubin(compile.compile_file(path, flags=flags), path.name)
    return _instructions(made) == _instructions(kept)


def _instructions(made):
    """Return the text, encoding and line of each instruction, by section."""
    return {
        name: [(one.text, one.low, one.high, one.source.line) for one in section.instructions]
        for name, section in made.sections.items()
    }
