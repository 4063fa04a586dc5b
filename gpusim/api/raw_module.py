"""Machine code as a module whose kernels are called with NumPy arrays, as `cupy.RawModule` has it.

m = gpusim.RawModule(path="saxpy.cubin")
result = m.get_function("saxpy")((8,), (128,), (numpy.int32(1000), numpy.float32(2), x, y))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusim.analysis.account.answer import Result, warned
from gpusim.api import raw_arguments, raw_variable
from gpusim.api.extent import extent
from gpusim.api.python_words import in_words_of_python
from gpusim.api.raw_arguments import Region, Variables
from gpusim.engines.simulate import Progress
from gpusim.launch.file.caches import SETTINGS, holding
from gpusim.launch.file.document import Caches
from gpusim.launch.file.draft import capture as captured
from gpusim.machine import machine as model
from gpusim.machine.architecture import machine_for
from gpusim.machine.machine import Machine
from gpusim.machine.simulated_sms import Sms
from gpusim.simulation import left
from gpusim.simulation.simulation import simulate
from gpusim.support.document import Setting
from gpusim.support.written import write_text, written_at_faults
from isa import memory
from isa.architecture import Target
from isa.errors import UserError
from isa.kernel import Kernel
from isa.nvidia.abi import load
from isa.nvidia.abi.declaration import known_types
from isa.nvidia.abi.launch import STACK_BYTES, LaunchState
from isa.nvidia.abi.on_chip import on_chip
from isa.nvidia.compiler import compile, ptx
from isa.nvidia.file import code as machine_code
from isa.nvidia.file.choice import chosen, kernels
from isa.nvidia.file.code import Code
from isa.nvidia.file.cubin import Function
from isa.nvidia.file.names import named
from isa.reading import input_file
from isa.reading.source import suggest

MAX_CYCLES = 200_000_000  # of a kernel that may never end
SOURCE, PTX = "source.cu", "source.ptx"  # the name of a text's lines


class RawModule:
    """Machine code for one architecture, with its variables.

    `contents` is the code, `name` that of its file, `loaded` its path; a text is `given` by its name. `text` is the
    CUDA C or PTX that it was compiled from, empty where it is not known; `image` is the cubin, empty for other files.
    `memory` and `constants` are what `__device__` and `__constant__` variables hold: `get_global` gives views of them;
    calls read them, and leave there what kernels store.
    """

    contents: Code
    name: str
    loaded: str
    given: Mapping[str, str]
    text: str
    image: bytes
    memory: NDArray[np.uint8]
    constants: NDArray[np.uint8]

    def __init__(
        self,
        code: str | None = None,
        *,
        path: str | Path | None = None,
        options: Sequence[str] = (),
        architecture: int | None = None,
    ) -> None:
        """Read a file: a cubin, fat binary, executable, dump, `.cu` or `.ptx`; or compile `code`, CUDA C or PTX.

        `options` are the compiler's; `architecture` is 90 for sm_90, for which is compiled if nothing is given. Raises
        UserError for code that can't be read, and for errors of the compiler.
        """
        if (code is None) == (path is None):
            raise UserError("RawModule: give code, a text of CUDA C or PTX, or path, one of the two")
        if code is not None and not isinstance(code, str):
            raise UserError(f"code={code!r}: give a text of CUDA C or PTX, or path=, a file")
        if path is not None and not isinstance(path, str | Path):
            raise UserError(f"path={path!r}: give the path of a file")
        if isinstance(options, str):
            raise UserError(f"options={options!r}: give a tuple of options, such as ({options!r},)")
        if architecture is not None and not isinstance(architecture, int):
            raise UserError(f"architecture={architecture!r}: give a number, 90 for sm_90")
        if path is not None:
            self.contents, self.name = machine_code.read(path, architecture, options), str(path)
            self.loaded, self.given = self.name, {}
            self.text, self.image = _text(path), machine_code.cubin_in(path)
        else:
            self.image, self.name = _compiled(code or "", options, architecture), _name_of(code or "")
            self.contents = machine_code.of_cubin(self.image, self.name)
            self.loaded, self.given = "", {self.name: code or ""}
            self.text = code or ""
        cubin = self.contents.cubin
        self.memory = _held(cubin.memory if cubin else b"")
        self.constants = _held(cubin.constants if cubin else b"")

    def __repr__(self) -> str:
        """Return one line."""
        return f"<RawModule {self.name}: sm_{self.contents.architecture}, kernels {', '.join(self.kernels)}>"

    def get_function(self, name: str) -> RawFunction:
        """Return the kernel of that name, plain or mangled; raises UserError if there is none, or several."""
        return RawFunction(self, chosen(self.contents, name, self.name))

    def get_global(self, name: str, dtype: Any = None) -> NDArray[Any]:
        """Return a view of a variable's memory, plain or mangled, as elements of a type.

        Without a type it is bytes, into which arrays of any type are copied: `m.get_global("t")[:] = x`. Raises
        UserError if there is no variable of that name, or several, or no whole number of elements; the view without a
        type raises it for a number, which needs one, and for an array of another size.
        """
        cubin = self.contents.cubin
        variables = cubin.variables if cubin else {}
        meant = named(name, tuple(variables))
        if len(meant) != 1:
            why = f"several: {', '.join(meant)}" if meant else f"none; {suggest(name, variables)}"
            raise UserError(f"{self.name}: variable {name}: {why}")
        one = variables[meant[0]]
        held = (self.constants if one.constant else self.memory)[one.offset : one.offset + one.size]
        if dtype is None:
            return raw_variable.of_bytes(name, held)
        if one.size % np.dtype(dtype).itemsize:
            raise UserError(f"{self.name}: {name} has {one.size} bytes, no whole number of {np.dtype(dtype)}")
        return held.view(dtype)

    @property
    def kernels(self) -> tuple[str, ...]:
        """Mangled names of the kernels."""
        return kernels(self.contents)


@dataclass(frozen=True)
class RawFunction:
    """A kernel of a module, to be called; `name` is mangled."""

    module: RawModule
    name: str

    def __call__(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] = (),
        *,
        shared_mem: int = 0,
        cluster: int | Sequence[int] | None = None,
        cooperative: bool = False,
        machine: Machine | str | None = None,
        caches: str | None = "warm",
        sms: Sms = 1,
        threads: int | None = None,
        complete: bool = True,
        force: bool = False,
        stack: int = STACK_BYTES,
        values: bool = True,
        engine: str = "compiled",
        policy: str | None = None,
        max_cycles: int | None = MAX_CYCLES,
        trace: bool = False,
        progress: Progress | None = None,
        strict: bool = False,
        names: Sequence[str] = (),
    ) -> Result:
        """Simulate a launch, leave the results in the arrays, and return what `gpusim.simulate` returns.

        `args`: NumPy arrays, of which the kernel gets the address of the first element; textures; NumPy scalars,
        structured ones too, by value; Python's numbers, which get the size of the parameter. `machine` is by default
        that of the code's architecture; `force` lets others run it. `caches`: warm, the L2 holds the arrays; cold;
        None, as the machine has it. `cluster`: blocks of a cluster, where the code does not say them. `cooperative`:
        blocks may synchronise the grid, and then all SMs are simulated. With `sms=1` the SM with most work is
        simulated, or the SMs of one cluster, and the blocks of other SMs are run in program order without time, so that
        all results are there; unless `complete`, they don't run at all.
        `sms="all"` simulates all, a divisor of their number so many, on so many `threads`. Without `values` only time
        is found, and arrays stay. A load behind an array, in its last page of memory, is a BeyondBufferWarning, or with
        `strict` an error. Messages call arrays by `names`, a distinct one for each argument. What blocks print is
        written to the standard output, control characters as escapes. Raises UserError for arguments that the kernel
        doesn't take, and as `simulate` does.
        """
        _check_bytes(shared_mem=shared_mem, stack=stack)
        if not isinstance(args, tuple | list):
            raise UserError(f"args: {type(args).__name__}; give a tuple of the arguments, also of one")
        with in_words_of_python():
            where, settings = _machine(machine, self.module.contents.architecture, caches)
        found = raw_arguments.regions(args, self._variables, names)
        made = self._kernel(grid, block, args, shared_mem, stack, found, cluster, cooperative)
        asked = {path: str(value) for path, value in settings.items()}
        kernel = replace(on_chip(made, where.chip.sms), any_machine=force, settings=MappingProxyType(asked))
        kernel = replace(kernel, page_bytes=0) if strict else kernel
        options = {"engine": engine, "policy": policy, "max_cycles": max_cycles, "trace": trace, "progress": progress}
        options["threads"] = threads
        sample = "all" if sms == 1 else None
        with in_words_of_python(), written_at_faults():
            result = simulate(kernel, where, sms=sms, sample=sample, values=values, **options)  # type: ignore[arg-type]  # each has its own type
        if values:
            with written_at_faults():
                result = left.complete(result, threads) if complete else result
            self._keep(kernel, found, result.run.memory)
            write_text(result.printed)
        return warned(Result.of(result, settings, self.module.loaded, self.module.given))

    def launched(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] = (),
        *,
        shared_mem: int = 0,
        cluster: int | Sequence[int] | None = None,
        cooperative: bool = False,
        stack: int = STACK_BYTES,
    ) -> Kernel:
        """Return the kernel of a launch, for `gpusim.simulate`; raises UserError as a call does."""
        _check_bytes(shared_mem=shared_mem, stack=stack)
        found = raw_arguments.regions(args, self._variables)
        return self._kernel(grid, block, args, shared_mem, stack, found, cluster, cooperative)

    def capture(
        self,
        file: Path,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any] = (),
        *,
        shared_mem: int = 0,
        cluster: int | Sequence[int] | None = None,
        cooperative: bool = False,
        caches: Caches = "warm",
    ) -> None:
        """Write a launch as it is about to be as a launch file, its arrays and code with it, for `gpusim run FILE`.

        Raises UserError as a call does, for code that is no cubin and was not compiled here, and for textures.
        """
        if not self.module.image:
            raise UserError(f"{self.module.name}: a launch of this file can't be captured; load a cubin, or CUDA C")
        found = raw_arguments.regions(args, self._variables)
        code, state = self._launch(grid, block, args, shared_mem, STACK_BYTES, found, cluster, cooperative)
        captured.capture(file, code, state, image=self.module.image, source=self.module.text, caches=caches)

    @property
    def num_regs(self) -> int:
        """32-bit registers of a thread; 0 where a text doesn't say."""
        return self._function.registers if self._function else 0

    @property
    def shared_size_bytes(self) -> int:
        """Bytes of shared memory of a block that the code declares, and that the system keeps."""
        return self._function.shared_bytes if self._function else 0

    @property
    def parameter_bytes(self) -> tuple[int, ...]:
        """Bytes of each parameter, in order; none where a text doesn't say."""
        launch = self._function.launch if self._function else None
        return tuple(one.size for one in launch.parameters) if launch else ()

    @property
    def local_size_bytes(self) -> int:
        """Bytes of a thread's stack frame."""
        return self._function.stack_bytes if self._function else 0

    @property
    def max_threads_per_block(self) -> int:
        """Threads of a block at most, as its `__launch_bounds__` say; 0 where they don't."""
        launch = self._function.launch if self._function else None
        return launch.most_threads if launch else 0

    @property
    def _function(self) -> Function | None:
        cubin = self.module.contents.cubin
        return cubin.functions[self.name] if cubin else None

    @property
    def _variables(self) -> Variables:
        return Variables(self.module.memory, self.module.constants)

    def _launch(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any],
        shared_mem: int,
        stack: int,
        found: Sequence[Region],
        cluster: int | Sequence[int] | None,
        cooperative: bool,
    ) -> tuple[Code, LaunchState]:
        code, function = _with_variables(self.module), self._function
        parameters = function.launch.parameters if function and function.launch else None
        sizes = None if parameters is None else [one.size for one in parameters]
        types = known_types(self.name, self.module.text, parameters)
        buffers = raw_arguments.buffers(found)
        given = raw_arguments.values(args, sizes, types, found, buffers, self._variables)
        state = LaunchState(
            kernel=self.name,
            grid=extent("grid", grid),
            block=extent("block", block),
            dynamic_shared=shared_mem,
            arguments=load.arguments(code, self.name, given),
            buffers=buffers,
            stack=stack,
            textures=raw_arguments.textures(args, found),
            sms=1,
            cluster=None if cluster is None else extent("cluster", cluster),
            cooperative=cooperative,
        )
        return code, state

    def _kernel(self, *launch: Any) -> Kernel:
        return load.kernel(*self._launch(*launch))

    def _keep(self, kernel: Kernel, found: Sequence[Region], words: NDArray[np.uint32]) -> None:
        """Leave what memory holds in the arrays, and in the module's variables."""
        held = words.view(np.uint8)
        where = memory.bases(kernel.buffers)
        left = {one.name: held[where[one.name] : where[one.name] + one.nbytes] for one in kernel.buffers}
        raw_arguments.keep(found, left)
        if load.VARIABLES in left:
            self.module.memory[:] = left[load.VARIABLES]


def _compiled(code: str, options: Sequence[str], architecture: int | None) -> bytes:
    if ptx.is_ptx(code):
        return ptx.compile_ptx(code.encode(errors="replace"), architecture, options, PTX, PTX)
    return compile.compile_source(code, tuple(options), architecture or compile.ARCHITECTURE, SOURCE)


def _name_of(code: str) -> str:
    return PTX if ptx.is_ptx(code) else SOURCE


def _text(path: str | Path) -> str:
    """Return the text of a file of CUDA C or PTX; empty for another file."""
    if not machine_code.is_compiled(path):
        return ""
    return input_file.read(path, machine_code.FIX).decode(errors="replace")


def _held(data: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(bytearray(data), np.uint8)


def _with_variables(one: RawModule) -> Code:
    """Return the code with what its variables hold now."""
    cubin = one.contents.cubin
    if cubin is None:
        return one.contents
    return replace(one.contents, cubin=replace(cubin, constants=one.constants.tobytes(), memory=one.memory.tobytes()))


def _machine(
    given: Machine | str | None, architecture: int, caches: str | None
) -> tuple[Machine, Mapping[str, Setting]]:
    """Return the machine with caches as they are when the launch begins, and what that sets; raises UserError."""
    if caches is not None and caches not in SETTINGS:
        raise UserError(f"caches={caches!r}: give {', '.join(map(repr, SETTINGS))} or None")
    if given is None and not architecture:
        raise UserError("the text doesn't say its architecture; give machine=")
    if not isinstance(given, Machine | str | None):
        raise UserError(f"machine={given!r}: give the name of a machine, or what gpusim.load returns")
    where = (
        machine_for(Target("nvidia", architecture))
        if given is None
        else model.load(given)
        if isinstance(given, str)
        else given
    )
    return holding(where, caches) if caches else (where, {})


def _check_bytes(**sizes: object) -> None:
    """Raise UserError for a number of bytes that is none."""
    for name, size in sizes.items():
        if not isinstance(size, int | np.integer) or isinstance(size, bool) or size < 0:
            raise UserError(f"{name}={size!r}: give a number of bytes, 0 or more")
