"""Quantities as arguments: a number in the base unit, or text with a unit, as on the command line."""

from __future__ import annotations

import operator
from typing import SupportsFloat, SupportsIndex, Union

from . import _espalier

Size = Union[SupportsIndex, str]  # bytes, or "64MiB"
Duration = Union[SupportsFloat, str]  # seconds, or "20 us"
Rate = Union[SupportsFloat, str]  # bytes per second, or "10 Gbit/s"


def size(value: Size | None) -> int | None:
    """Bytes."""
    if value is None:
        return None
    return _espalier.parse_size(value if isinstance(value, str) else str(operator.index(value)))


def duration(value: Duration | None) -> float | None:
    """Seconds."""
    if value is None:
        return None
    return _espalier.parse_duration(value) if isinstance(value, str) else float(value)


def rate(value: Rate | None) -> float | None:
    """Bytes per second."""
    if value is None:
        return None
    return _espalier.parse_rate(value) if isinstance(value, str) else float(value)
