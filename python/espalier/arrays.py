"""Arrays whose memory a collective uses directly: NumPy's, PyTorch's on the CPU, and all others that share theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InputError

Array = npt.NDArray[Any]


def view_of(x: Any, *, is_written: bool) -> Array:
    """A NumPy view of x's memory, never a copy. Raises InputError where x has none, or it cannot be used."""
    view = np.asarray(x)
    if not isinstance(x, np.ndarray) and not np.shares_memory(view, np.asarray(x)) and view.size > 0:
        raise InputError(f"a {type(x).__name__} has no memory of numbers to send from; make an array of it")
    if view.dtype.hasobject:
        raise InputError("an array of Python objects cannot be sent")
    if not (view.flags.c_contiguous or view.flags.f_contiguous):
        raise InputError("the array is not contiguous; give numpy.ascontiguousarray(x)")
    if is_written and not view.flags.writeable:
        raise InputError("the array cannot be written")
    return view


def bytes_of(view: Array) -> Array:
    """The same memory as bytes. The array is contiguous."""
    flat = view.ravel(order="K")
    return flat.view(np.uint8) if flat.size > 0 else np.empty(0, np.uint8)
