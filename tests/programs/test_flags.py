"""Words of --nvcc-flags that are files: they are compiled and linked, and count in what an executable is made of."""

from pathlib import Path

import pytest

from gpusim.programs.flags import libraries, parted


@pytest.mark.parametrize(
    ("flags", "options", "inputs"),
    [
        ("-O3 other.cu -rdc=true", "-O3 -rdc=true", ["other.cu"]),
        ("b.cpp -lm x.a sub/y.o", "-lm", ["b.cpp", "x.a", "sub/y.o"]),
        ("-include common.cu -D FILE=x.c -Xcompiler a.c", "-include common.cu -D FILE=x.c -Xcompiler a.c", []),
    ],
)
def test_sources_are_no_options(flags, options, inputs):
    """Words that end as sources, objects or libraries do are inputs, unless they are the value of an option."""
    assert parted(flags.split()) == (tuple(options.split()), tuple(map(Path, inputs)))


@pytest.mark.parametrize(
    "flags",
    [
        "-L {0} -lmine",
        "-L{0} -l mine",
        "--library-path={0} --library=mine",
        "-Xlinker {0}/libmine.a",
        "-L{0} -l:libmine.a",
    ],
)
def test_libraries_that_are_linked_count(flags, tmp_path):
    """The bytes of a library that options name or find are read anew; one that is not there is left to the linker."""
    words = flags.format(tmp_path).split()
    assert list(libraries(words)) == []
    file = tmp_path / "libmine.a"
    for content in (b"one", b"two"):
        file.write_bytes(content)
        assert list(libraries(words)) == [str(file), content]
