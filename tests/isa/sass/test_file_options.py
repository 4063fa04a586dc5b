"""The options that a file may ask nvcc for, and those that run programs, write files, or read others."""

import pytest

from isa.nvidia.compiler.file_options import allowed

TAKEN = {
    "each as one word": (
        ["-O3", "-D", "TILE=16", "--define-macro=T=unsigned int", "-UX", "-std", "c++17", "--maxrregcount", "64"],
        ("-O3", "-DTILE=16", "-DT=unsigned int", "-UX", "-std=c++17", "-maxrregcount=64"),
    ),
    "arithmetic": (
        ["-use_fast_math", "--fmad=false", "-ftz", "true", "-prec-div=false"],
        ("-use_fast_math", "-fmad=false", "-ftz=true", "-prec-div=false"),
    ),
    "the assembler's": (
        ["-Xptxas", "-O3,-dlcm=cg", "--ptxas-options=-v"],
        ("-Xptxas=-O3", "-Xptxas=-dlcm=cg", "-Xptxas=-v"),
    ),
    "debugging and targets": (
        ["-G", "--generate-line-info", "-arch=sm_90a", "-gencode", "arch=compute_90a,code=[sm_90a,compute_90a]"],
        ("-G", "-lineinfo", "-arch=sm_90a", "-gencode=arch=compute_90a,code=[sm_90a,compute_90a]"),
    ),
    "a macro of punctuation": (
        ["-DOP=std::plus<float>()", "-DN=(1<<4)|2"],
        ("-DOP=std::plus<float>()", "-DN=(1<<4)|2"),
    ),
}
REFUSED = {
    "runs a program": (
        ["-ccbin", "./x"], ["-ccbin=./x"], ["--compiler-bindir", "./x"], ["--compiler-bindir=./x"], ["--run"], ["-run"],
        ["-Xcompiler", "-wrapper,./x"], ["-Xcompiler=-wrapper,./x"], ["--compiler-options", "-fplugin=./x.so"],
        ["-fplugin=./x.so"], ["-Xlinker", "x"], ["-Xnvlink", "x"], ["-Xarchive=x"], ["--run-args", "x"],
        ["-gcc-specs=x"], ["-ldir", "x"], ["-target-dir", "x"], ["-dryrun"], ["-t", "4"],
    ),
    "writes a file": (
        ["-o", "x"], ["-ox"], ["--output-file=x"], ["-MF", "x"], ["-MD"], ["-M"], ["--time", "x"], ["--keep"],
        ["--keep-dir", "x"], ["-odir", "x"], ["-fdevice-time-trace", "x"], ["-Xptxas=-o,x"], ["-Xptxas", "-o"],
        ["-Xptxas", "-O3,-o,x"], ["-Xptxas", "--output-file=x"], ["-pch", "-pch-dir=x"], ["-ptx"], ["-c"],
    ),
    "reads a file": (
        ["--options-file", "x"], ["-optf=x"], ["@x"], ["x.cu"], ["./x"], ["-include", "x"], ["-isystem", "/x"],
        ["-x", "cu"],         ["-Xptxas", "@x"], ["-Xptxas=--options-file=x"], ["-"], [""], ["--"],
    ),
    "a value that is none": (
        ["-D", "-ccbin"], ["-D", "A=1", "-D"], ["-DA=1;$(touch x)"], ["-DA=`touch x`"], ['-DA=" ; touch x"'],
        ["-DA=\\"], ["-DA='"], ["-DA=1\n#include </etc/passwd>"], ["-DA=1,B"], ["-D1=2"], ["-DF(x)=x"],
        ["-std=c++17 -o x"], ["-maxrregcount=64 "], ["-O", "-o"],
        ["-O3x"], ["-arch=native"], ["-arch", "all"], ["-G=x"], ["-U", "A B"],
        ["-fmad=maybe"], ["-gencode", "arch=compute_90,code=sm_90;touch x"], ["-std"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("given", "written"), TAKEN.values(), ids=TAKEN)
def test_what_a_file_may_ask_for(tmp_path, given, written):
    """Options that decide about the code are taken in each spelling of nvcc, and given on with their value joined."""
    assert allowed(given, tmp_path) == written


@pytest.mark.parametrize("given", [one for some in REFUSED.values() for one in some], ids=" ".join)
def test_what_a_file_may_not_ask_for(tmp_path, given):
    """What runs a program, writes or reads a file, or has a value with a meaning for a shell, is refused with a fix."""
    with pytest.raises(ValueError, match="command line"):
        allowed(given, tmp_path)


def test_folders_of_headers(tmp_path):
    """Folders of headers are found from the file's folder, and are below it, also where links lead elsewhere."""
    folder = tmp_path / "own"
    (folder / "include").mkdir(parents=True)
    (folder / "etc").symlink_to("/etc")
    for given in (["-I", "include"], ["-Iinclude"], ["-I=include"], ["--include-path", "include/../include"]):
        (one,) = allowed(given, folder)
        assert one.startswith(f"-I{folder}/include")
    for name in ("..", "/etc", "etc", "include/../..", "~/x/../../.."):
        with pytest.raises(ValueError, match=r"not below .*command line"):
            allowed([f"-I{name}"], folder)
    for name in ("a,/etc", "a$(touch x)", 'a"b'):
        with pytest.raises(ValueError, match="command line"):
            allowed(["-I", name], folder)
