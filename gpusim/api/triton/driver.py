"""What Triton asks of a driver, answered for a simulated card (the interface is that of Triton 3.8).

Triton compiles for the target that its active driver names, gives it the machine code, and calls its launcher with the
arguments as the user gave them. Each `Driver` has a number of its own as its device, since Triton keeps what it
compiled by device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

from gpusim.api.card.card import Call, Card, Cleared
from gpusim.api.card.clock import device_interface
from gpusim.api.python_words import in_words_of_python
from gpusim.api.raw_module import RawFunction, RawModule
from gpusim.api.triton.array import passed
from gpusim.api.triton.descriptor import of_descriptor
from gpusim.api.triton.on_cpu import pytorch
from gpusim.api.triton.scratch import scratch
from gpusim.machine.architecture import number
from isa.reading import extra

WARP, WORD = 32, 4
MOST_THREADS = 1024
STREAM = 0
KHZ = 1000  # of a MHz
BUS_BITS = 4096  # of which, with the clock, Triton makes the DRAM's bandwidth
_DEVICES = count()


class Driver:
    """A driver whose one device is a simulated card."""

    def __init__(self, card: Card) -> None:
        """Answer for that card."""
        self.card = card
        self.device = next(_DEVICES)
        self.utils = SimpleNamespace(
            get_device_properties=self._properties, load_binary=self._loaded, unload_module=lambda _module: None
        )
        self.launcher_cls = partial(_launcher, card)

    def is_active(self) -> bool:
        """Return whether there is a device."""
        return True

    def get_current_target(self) -> Any:
        """Return what Triton compiles for."""
        target = extra.module("triton.backends.compiler", "triton").GPUTarget
        return target("cuda", number(self.card.machine), WARP)

    def get_current_device(self) -> int:
        """Return the number by which Triton keeps what it compiled."""
        return self.device

    def set_current_device(self, device: int) -> None:
        """Do nothing: there is one."""

    def get_current_stream(self, _device: int) -> int:
        """Return the one stream."""
        return STREAM

    def get_active_torch_device(self) -> Any:
        """Return where tensors lie: in the host's memory."""
        return pytorch().device("cpu")

    def get_device_interface(self) -> Any:
        """Return what `torch.cuda` is for a benchmark: events of simulated time."""
        return device_interface(self.card, self.device)

    def get_benchmarker(self) -> Callable[..., list[float]]:
        """Return how a configuration is timed: by one launch from a cold L2, as all repetitions are alike."""
        return self._timed

    def get_empty_cache_for_benchmark(self) -> Cleared:
        """Return what a benchmark clears the L2 by; as long as it is held, launches are only timed."""
        return self.card.benchmark()

    def clear_cache(self, _cache: Cleared) -> None:
        """Clear the L2."""
        self.card.clear()

    def map_python_to_cpp_type(self, kind: str) -> str:
        """Return a type's name, which nothing here asks for."""
        return kind

    def allocate_default_profile_scratch(self, _size: int, _alignment: int, _stream: int) -> None:
        """Return no memory for a profiler."""

    def _timed(
        self, kernel_call: Callable[[], object], *, quantiles: Sequence[float] = (0.5,), **_: Any
    ) -> list[float]:
        """Return the milliseconds of a call, of all quantiles."""
        card, outer = self.card, (self.card.cleared, self.card.known)
        held = card.benchmark()
        card.clear()
        begun = card.milliseconds
        try:
            kernel_call()
        finally:
            del held
            card.cleared, card.known = outer
        return [card.milliseconds - begun] * len(quantiles)

    def _properties(self, _device: int | None = None) -> dict[str, int]:
        """Return what Triton and its tutorials ask of a device: bytes, counts, and clocks in kHz."""
        machine = self.card.machine
        return {
            "max_shared_mem": machine.limits.shared_per_block,
            "multiprocessor_count": machine.chip.sms,
            "max_num_regs": machine.limits.registers,
            "warpSize": WARP,
            "sm_clock_rate": machine.chip.shader_mhz * KHZ,
            "mem_bus_width": BUS_BITS,
            "mem_clock_rate": round(machine.chip.dram_mbs * KHZ * 8 / BUS_BITS / 2),  # two transfers a clock
        }

    def _loaded(self, name: str, binary: bytes, _shared: int, _device: int) -> tuple[Any, ...]:
        """Return a module, its kernel, registers, words that a thread spills, and threads of a block at most."""
        with TemporaryDirectory() as folder, in_words_of_python():
            path = Path(folder) / f"{name}.cubin"
            path.write_bytes(binary)
            module = RawModule(path=path)
        function = module.get_function(name)
        most = function.max_threads_per_block or MOST_THREADS
        return module, function, function.num_regs, function.local_size_bytes // WORD, most


def _launcher(card: Card, source: Any, told: Any) -> Callable[..., None]:
    """Return what Triton calls for each launch of a compiled kernel; `told` is the compiler's metadata."""
    kinds = tuple(source.signature.values())
    ctas = getattr(told, "num_ctas", 1)

    def launch(x: int, y: int, z: int, _stream: int, function: RawFunction, *given: Any) -> None:
        _packed, launch_metadata, enter, leave, *arguments = given
        if x * y * z == 0:
            return
        if enter is not None:
            enter(launch_metadata)
        maps = iter(getattr(told, "tensordesc_meta", None) or [])
        values = [one for value, kind in zip(arguments, kinds, strict=True) for one in _flat(value, kind, maps)]
        hidden = scratch(len(function.parameter_bytes) - len(values), told.global_scratch_size, x * y * z * ctas)
        size, cluster = ((x * ctas, y, z), (ctas, 1, 1)) if ctas > 1 else ((x, y, z), None)
        with in_words_of_python():
            card.launch(Call(function, size, WARP * told.num_warps, told.shared, (*values, *hidden), cluster))
        if leave is not None:
            leave(launch_metadata)

    return launch


def _flat(value: Any, kind: Any, maps: Iterator[Mapping[str, Any] | None]) -> Iterator[Any]:
    """Yield what the launch passes for an argument of a type; `maps` are how the kernel reads the next descriptors."""
    if isinstance(kind, tuple):
        for one, its in zip(value, kind, strict=True):
            yield from _flat(one, its, maps)
    elif kind.startswith("tensordesc"):
        yield from of_descriptor(value, next(maps, None))
    elif kind != "constexpr":
        yield passed(value, kind)
