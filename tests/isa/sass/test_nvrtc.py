import pytest

from isa.nvidia.compiler import nvrtc

needs_library = pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed (extra cuda)")


def test_flags_of_nvcc():
    """An option and its value are one, as the library wants; those for host code are left out, others kept."""
    flags = [
        "-O3",
        "-Xptxas",
        "-v,-O2",
        "-I",
        "a",
        "-Ib",
        "-D",
        "N=4",
        "--maxrregcount",
        "32",
        "-use_fast_math",
        "-foo",
    ]
    wanted = ["-Xptxas=-v,-O2", "-Ia", "-Ib", "-DN=4", "--maxrregcount=32", "-use_fast_math", "-foo"]
    assert list(nvrtc.options(flags)) == wanted
    assert list(nvrtc.options(["-std=c++17", "--optimize=2", "-std", "c++20"])) == ["-std=c++17", "-std=c++20"]


def test_without_the_library(monkeypatch, tmp_path):
    """Where neither packages nor the system have it, it is not available."""
    monkeypatch.setattr(nvrtc.tools, "packaged", lambda part: sorted(tmp_path.glob(f"*/{part}")))
    monkeypatch.setattr(nvrtc.ctypes.util, "find_library", lambda _: None)
    assert nvrtc._library.__wrapped__() is None


@needs_library
def test_a_source_is_compiled():
    """The bytes are an ELF file; the version has two numbers."""
    assert nvrtc.cubin('extern "C" __global__ void k() {}', "k.cu", ["-arch=sm_90"]).startswith(b"\x7fELF")
    assert nvrtc.version().startswith("NVRTC 1")


@needs_library
@pytest.mark.parametrize(("flags", "text"), [(["-arch=sm_90"], "identifier"), (["--foo"], "unrecognized option --foo")])
def test_a_source_is_refused(flags, text):
    """A wrong source and an unknown option give the compiler's own words."""
    with pytest.raises(nvrtc.NvrtcError, match=text):
        nvrtc.cubin("__global__ void k() { x = 1; }", "k.cu", flags)
