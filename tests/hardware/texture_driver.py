"""The calls of the CUDA driver that make a texture object of an array or of linear memory."""

import ctypes
from collections.abc import Sequence

import numpy as np

from hardware.driver import Device

_HOST, _ARRAY = 1, 3  # CU_MEMORYTYPE
_GATHERS = 0x08  # CUDA_ARRAY3D_TEXTURE_GATHER
_OF_ARRAY, _LINEAR, _PITCHED = 0, 2, 3  # CUresourcetype
_FORMATS = {"u1": 1, "u2": 2, "u4": 3, "i1": 8, "i2": 9, "i4": 10, "f2": 16, "f4": 32}  # CUarray_format
_ADDRESSES = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}  # CUaddress_mode
_FILTERS = {"point": 0, "linear": 1}  # CUfilter_mode
_AS_INTEGER, _NORMALIZED = 1, 2  # CU_TRSF
_PITCH = 512  # bytes of which a pitch is a multiple
Size = ctypes.c_size_t


class _Copy(ctypes.Structure):
    _fields_ = [
        *((f"source_{name}", Size) for name in ("x", "y", "z", "level")),
        ("source_kind", ctypes.c_uint),
        *((f"source_{name}", ctypes.c_void_p) for name in ("host", "device", "array", "reserved")),
        ("source_pitch", Size),
        ("source_height", Size),
        *((f"target_{name}", Size) for name in ("x", "y", "z", "level")),
        ("target_kind", ctypes.c_uint),
        *((f"target_{name}", ctypes.c_void_p) for name in ("host", "device", "array", "reserved")),
        ("target_pitch", Size),
        ("target_height", Size),
        *((name, Size) for name in ("width", "height", "depth")),
    ]


class _Array(ctypes.Structure):
    _fields_ = [
        *((name, Size) for name in ("width", "height", "depth")),
        *((name, ctypes.c_uint) for name in ("format", "channels", "flags")),
    ]


class _Resource(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint), ("room", ctypes.c_uint), ("words", ctypes.c_uint64 * 16), ("flags", Size)]


class _Texture(ctypes.Structure):
    _fields_ = [
        ("address", ctypes.c_uint * 3),
        *((name, ctypes.c_uint) for name in ("filter", "flags", "anisotropy", "between_levels")),
        *((name, ctypes.c_float) for name in ("bias", "least", "most")),
        ("border", ctypes.c_float * 4),
        ("reserved", ctypes.c_uint * 12),
    ]


def _format(texels: np.ndarray) -> int:
    return _FORMATS[texels.dtype.str[1:]]


def of_array(device: Device, texels: np.ndarray, dimensions: int) -> _Resource:
    """Return the resource of a new CUDA array with these texels [z, y, x, channel]."""
    depth, height, width, channels = texels.shape
    extent = (width, height if dimensions > 1 else 0, depth if dimensions > 2 else 0)
    gathers = _GATHERS if dimensions == 2 else 0
    array, made = ctypes.c_void_p(), _Array(*extent, _format(texels), channels, gathers)
    device.call("cuArray3DCreate_v2", ctypes.byref(array), ctypes.byref(made))
    held = np.ascontiguousarray(texels)
    row = width * channels * held.itemsize
    copy = _Copy(
        source_kind=_HOST, source_host=held.ctypes.data, source_pitch=row, source_height=height,
        target_kind=_ARRAY, target_array=array, width=row, height=height, depth=depth,
    )  # fmt: skip
    device.call("cuMemcpy3D_v2", ctypes.byref(copy))
    resource = _Resource(_OF_ARRAY)
    resource.words[0] = array.value
    return resource


def of_memory(device: Device, texels: np.ndarray, *, pitched: bool) -> _Resource:
    """Return the resource of new linear memory with these texels [z, y, x, channel], rows apart if `pitched`."""
    _, height, width, channels = texels.shape
    row = width * channels * texels.itemsize
    pitch = -(-row // _PITCH) * _PITCH if pitched else row
    held = np.zeros((height, pitch), np.uint8)
    held[:, :row] = np.ascontiguousarray(texels).view(np.uint8).reshape(height, row)
    place = device.room(held.nbytes)
    device.put(place, held)
    resource = _Resource(_PITCHED if pitched else _LINEAR)
    resource.words[0] = place.value
    resource.words[1] = _format(texels) | channels << 32
    sizes = (width, height, pitch) if pitched else (row * height,)
    resource.words[2 : 2 + len(sizes)] = sizes
    return resource


def texture(
    device: Device,
    resource: _Resource,
    address: Sequence[str],
    sampling: str,
    *,
    normalized: bool,
    as_integer: bool,
    border: Sequence[float] = (0, 0, 0, 0),
) -> ctypes.c_uint64:
    """Return the handle of a new texture object; `address` has a mode for each of three coordinates."""
    flags = _AS_INTEGER * as_integer | _NORMALIZED * normalized
    given = _Texture(filter=_FILTERS[sampling], flags=flags)
    given.address[:] = [_ADDRESSES[mode] for mode in address]
    given.border[:] = border
    handle = ctypes.c_uint64()
    device.call("cuTexObjectCreate", ctypes.byref(handle), ctypes.byref(resource), ctypes.byref(given), None)
    return handle
