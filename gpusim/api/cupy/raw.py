"""Kernels and modules of CUDA C as CuPy's programs have them, on the current card."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gpusim.analysis.account.answer import Result
from gpusim.api.cupy.launching import architecture, checked, launch
from gpusim.api.extent import Size
from gpusim.api.python_words import in_words_of_python
from gpusim.api.raw_module import RawFunction
from gpusim.api.raw_module import RawModule as Module
from isa.errors import UserError

_OF_BACKEND = re.compile(r"--?(dlink-time-opt|default-device|device-as-default-execution-space).*")  # nvcc has no such


class RawModule:
    """A module of CUDA C, PTX or a cubin, compiled for each card that it is used on."""

    def __init__(
        self,
        code: str | None = None,
        *,
        path: str | Path | None = None,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Sequence[str] | None = None,
        jitify: bool = False,
    ) -> None:
        """Take a text, or the path of a file; it is compiled when a kernel is asked for.

        `name_expressions` are instances of templates that kernels are asked for by. Raises UserError for a source that
        includes a header of CuPy's own, and for `translate_cucomplex` and `jitify`, which need them.
        """
        if translate_cucomplex or jitify:
            raise UserError("translate_cucomplex and jitify need headers of CuPy's own; leave them out")
        self.code, self.path, self.backend = code if code is None else checked(code), path, backend
        self.options = tuple(one for one in options if not _OF_BACKEND.fullmatch(one))
        self.name_expressions = tuple(name_expressions or ())
        self.enable_cooperative_groups = enable_cooperative_groups
        self._modules = dict[int, Module]()

    def compile(self, log_stream: object = None) -> None:
        """Compile it for the current card; raises UserError with the compiler's errors."""
        self._module()

    def get_function(self, name: str) -> Kernel:
        """Return the kernel of that name, an instance of a template as `name_expressions` has it."""
        return Kernel(self, name)

    def get_global(self, name: str, dtype: Any = None) -> Any:
        """Return a view of a variable's memory on the current card, as `gpusim.RawModule` does."""
        return self._module().get_global(name, dtype)

    def _module(self) -> Module:
        target = architecture()
        if target not in self._modules:
            with in_words_of_python():
                self._modules[target] = self._compiled(target)
        return self._modules[target]

    def _compiled(self, target: int) -> Module:
        if self.code is None:
            compiled = self.path is not None and str(self.path).endswith((".cu", ".ptx"))
            return Module(path=self.path, architecture=target, options=self.options if compiled else ())
        uses = (f"static void *_gpusim_{n} = (void *)({one});" for n, one in enumerate(self.name_expressions))
        return Module("\n".join((self.code, *uses)), options=self.options, architecture=target)


class Kernel:
    """A kernel of a module: called with grid, block and arguments, it runs on the current card."""

    def __init__(self, module: RawModule, name: str) -> None:
        """Take its name in a module."""
        self.module, self.name = module, name

    def __call__(
        self, grid: Size, block: Size, args: Sequence[Any] = (), *, shared_mem: int = 0, stream: object = None
    ) -> Result | None:
        """Run a launch, leave the results in the arrays, and return how it ran; None of a grid without blocks.

        Python's numbers get the size of the parameter. Streams are all one. Raises UserError as a call of
        `gpusim.RawModule`'s kernels does.
        """
        cooperative = self.module.enable_cooperative_groups
        return launch(self.kernel, grid, block, args, shared_mem, cooperative=cooperative)

    def compile(self, log_stream: object = None) -> None:
        """Compile it for the current card; raises UserError with the compiler's errors."""
        self.module.compile()

    @property
    def kernel(self) -> RawFunction:
        """The kernel as compiled for the current card."""
        return self.module._module().get_function(self.name)

    @property
    def attributes(self) -> dict[str, int]:
        """What the code says of itself: registers, and bytes of memory."""
        names = "num_regs", "shared_size_bytes", "local_size_bytes", "max_threads_per_block"
        return {name: getattr(self.kernel, name) for name in names}

    def __getattr__(self, name: str) -> Any:
        """Return one of its attributes, such as `num_regs`."""
        if name in ("num_regs", "shared_size_bytes", "local_size_bytes", "max_threads_per_block"):
            return getattr(self.kernel, name)
        raise AttributeError(f"a kernel has no {name}")


class RawKernel(Kernel):
    """A kernel of a source, as `cupy.RawKernel` has it."""

    def __init__(self, code: str, name: str, options: Sequence[str] = (), **named: Any) -> None:
        """Take a text of CUDA C and the kernel's name; it is compiled at its first launch. Raises as `RawModule`."""
        super().__init__(RawModule(code, options=options, **named), name)

    @property
    def code(self) -> str:
        """The text."""
        return self.module.code or ""

    @property
    def options(self) -> tuple[str, ...]:
        """Options of the compiler."""
        return self.module.options
