"""The few calls of the CUDA driver that load a cubin and run its kernels; needs a GPU, NumPy and nothing else."""

import ctypes
import time
from collections.abc import Sequence

import numpy as np

_NOT_READY = 600  # CUDA_ERROR_NOT_READY
_LONGEST = 20.0  # seconds of a kernel


class DriverError(RuntimeError):
    """A call of the driver failed, or a kernel did not end."""


class Device:
    """The first GPU, with one cubin loaded."""

    def __init__(self, cubin: bytes) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        self.number, context, self.module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(self.number), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.number)
        self.call("cuCtxSetCurrent", context)
        self.call("cuModuleLoadData", ctypes.byref(self.module), cubin)

    def call(self, name: str, *arguments) -> None:
        """Call a function of the driver; raises DriverError."""
        code = getattr(self.library, name)(*arguments)
        if code:
            raise DriverError(f"{name}: error {code}")

    def name(self) -> str:
        """Return the name of the GPU."""
        text = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", text, 100, self.number)
        return text.value.decode()

    def version(self) -> int:
        """Return the newest version of CUDA that the driver knows, 13000 for 13.0."""
        number = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(number))
        return number.value

    def room(self, nbytes: int) -> ctypes.c_uint64:
        """Return the address of new memory."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(nbytes))
        return address

    def put(self, address: ctypes.c_uint64, data: np.ndarray) -> None:
        """Copy an array to the GPU."""
        self.call("cuMemcpyHtoD_v2", address, data.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(data.nbytes))

    def take(self, address: ctypes.c_uint64, data: np.ndarray) -> np.ndarray:
        """Fill an array from the GPU, and return it."""
        self.call("cuMemcpyDtoH_v2", data.ctypes.data_as(ctypes.c_void_p), address, ctypes.c_size_t(data.nbytes))
        return data

    def run(self, kernel: str, grid: int, block: int, arguments: Sequence) -> None:
        """Run a kernel to its end; an argument is a number of ctypes or an array. Raises DriverError."""
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), self.module, kernel.encode())
        places = [x.ctypes.data if isinstance(x, np.ndarray) else ctypes.addressof(x) for x in arguments]
        pointers = (ctypes.c_void_p * len(places))(*places)
        self.call("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, None, pointers, None)
        until = time.monotonic() + _LONGEST
        while (code := self.library.cuStreamQuery(None)) == _NOT_READY:
            if time.monotonic() > until:
                raise DriverError(f"{kernel} does not end")
        if code:
            raise DriverError(f"{kernel}: error {code}")
