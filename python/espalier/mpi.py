"""Plans on the ranks of an mpi4py communicator. Needs no planner."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, Sequence

import numpy as np
from mpi4py import MPI

from . import _espalier_mpi
from .arrays import Array, bytes_of, view_of
from .errors import Error, InputError

if TYPE_CHECKING:
    from .plans import Plan

_THEIRS = MPI.Get_library_version().rstrip("\0")
if _THEIRS != _espalier_mpi.library_version():
    raise ImportError(f"mpi4py uses {_THEIRS!r}, but Espalier {_espalier_mpi.library_version()!r}; build both with the same MPI")

_TYPES = {"b1": MPI.C_BOOL, "i1": MPI.INT8_T, "i2": MPI.INT16_T, "i4": MPI.INT32_T, "i8": MPI.INT64_T, "u1": MPI.UINT8_T,
          "u2": MPI.UINT16_T, "u4": MPI.UINT32_T, "u8": MPI.UINT64_T, "f4": MPI.FLOAT, "f8": MPI.DOUBLE,
          "c8": MPI.C_FLOAT_COMPLEX, "c16": MPI.C_DOUBLE_COMPLEX}


class Collective:
    """A plan bound to a communicator: made once, called any number of times, by all ranks alike.

    plan: a Plan, the name of a plan file, or None on ranks other than 0, which get that of rank 0.
    segment: bytes; 0: chosen for each message. ports: the most sends of a rank at once; 0: no limit.
    mapping: "order" (rank i is plan.nodes[i]) or "host" (by the host's name).
    rounds, schedule: keep the plan's rounds, or its schedule. timeout: seconds without progress after which a rank gives up
    with LimitReached.

    Arrays are NumPy's, PyTorch's on the CPU, or have __array_interface__; they are contiguous, and used without a copy.
    start_bcast(x) and its like begin a call, of which one at a time may be in progress; test() says whether it is complete, and
    wait() returns what the call would have returned. Until then its arrays belong to it. The message makes progress while this
    thread is in start_…(), test() or wait() of any Collective; those in progress at the same time are started in the same order
    on all ranks.
    Close it on all ranks, or use it in a `with` block, before MPI ends. After an exception it can only be closed.
    """

    def __init__(
        self,
        comm: MPI.Intracomm,
        plan: Plan | str | os.PathLike[str] | None,
        *,
        segment: int = 0,
        ports: int = 0,
        mapping: str = "order",
        rounds: bool = False,
        schedule: bool = False,
        direct_copies: bool = True,
        timeout: float | None = None,
    ) -> None:
        if mapping not in ("order", "host"):
            raise InputError(f"mapping is 'order' or 'host', not {mapping!r}")
        text, file = _shared(comm, plan)
        self._rank = comm.Get_rank()
        self._result: Any = None  # of the call that has begun
        self._core = _espalier_mpi.Collective(MPI._handleof(comm), text, file, segment, ports, mapping == "host", rounds, schedule,
                                              direct_copies, timeout)

    @property
    def operation(self) -> str:
        return self._core.operation

    @property
    def root(self) -> int:
        """The rank of the plan's source; 0 where every rank is a root."""
        return self._core.root

    @property
    def node(self) -> str:
        """The name of this rank's node in the plan."""
        return self._core.node

    @property
    def receives_all(self) -> bool:
        """False: this rank only copies parts of a broadcast on the way to others."""
        return self._core.receives_all

    @property
    def shares(self) -> list[float]:
        """The share of each rank's part that the plan was made for; see docs/formats.md."""
        return self._core.shares

    def close(self) -> None:
        self._core.close()

    def __enter__(self) -> Collective:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        if fault is None:  # else the other ranks may wait for this one
            self.close()

    def bcast(self, x: Any) -> Any:
        """The root's array into x of all others, which have the same size. Returns x."""
        self._require("broadcast")
        array = view_of(x, is_written=True)
        self._core.bcast(bytes_of(array), array.nbytes, MPI._handleof(MPI.BYTE))
        return x

    def reduce(self, x: Any, out: Any = None, op: MPI.Op = MPI.SUM) -> Any:
        """The combination of all ranks' x at the root, in `out` (which may be x), or a new array; None on other ranks."""
        self._require("reduce")
        return self._combine(x, out, op, self._rank == self.root)

    def allreduce(self, x: Any, out: Any = None, op: MPI.Op = MPI.SUM) -> Any:
        """The combination of all ranks' x on all ranks, in `out` (which may be x), or a new array."""
        self._require("allreduce")
        return self._combine(x, out, op, True)

    def allgather(self, x: Any, out: Any = None, counts: Sequence[int] | None = None) -> Any:
        """All ranks' x on all ranks: a row for each rank. counts: of each rank, the elements of its x, one after another."""
        self._require("allgather")
        return self._gather(x, out, counts, True)

    def gather(self, x: Any, out: Any = None, counts: Sequence[int] | None = None) -> Any:
        """The same at the root; None on other ranks."""
        self._require("gather")
        return self._gather(x, out, counts, self._rank == self.root)

    def scatter(self, x: Any, out: Any, counts: Sequence[int] | None = None) -> Any:
        """A part of the root's x (None on other ranks) into `out` of each rank, as many elements as `counts` says, or out has."""
        self._require("scatter")
        part = view_of(out, is_written=True)
        parts = self._counts(counts, part)
        whole = view_of(x, is_written=False) if self._rank == self.root else None
        self._core.scatter(self._rank, None if whole is None else _alike(whole, part.dtype), bytes_of(part),
                           [one * part.itemsize for one in parts], MPI._handleof(MPI.BYTE))
        return out

    def reduce_scatter(self, x: Any, out: Any, op: MPI.Op = MPI.SUM, counts: Sequence[int] | None = None) -> Any:
        """The combination of all ranks' x, of which each rank gets a part in `out`."""
        self._require("reduce-scatter")
        part, whole = view_of(out, is_written=True), view_of(x, is_written=False)
        self._core.reduce_scatter(self._rank, _alike(whole, part.dtype), bytes_of(part), self._counts(counts, part), _type_of(part),
                                  MPI._handleof(op))
        return out

    def alltoall(self, x: Any, out: Any = None) -> Any:
        """Part i of x to rank i, and its part for this rank into part i of `out` (which may be x), or of a new array."""
        self._require("alltoall")
        array = view_of(x, is_written=False)
        ranks = self._core.ranks
        if array.size % ranks != 0:
            raise InputError(f"{array.size} elements cannot be divided among {ranks} ranks")
        result = np.empty_like(array) if out is None else out
        into = view_of(result, is_written=True)
        send = None if np.shares_memory(array, into) else bytes_of(array)
        self._core.alltoall(send, _alike(into, array.dtype), array.nbytes // ranks, MPI._handleof(MPI.BYTE))
        return result

    def barrier(self) -> None:
        """Returns when all ranks have called it."""
        self._require("barrier")
        self._core.barrier()

    def start_bcast(self, x: Any) -> None:
        """Begins bcast()."""
        self._start(self.bcast, x)

    def start_reduce(self, x: Any, out: Any = None, op: MPI.Op = MPI.SUM) -> None:
        """Begins reduce()."""
        self._start(self.reduce, x, out, op)

    def start_allreduce(self, x: Any, out: Any = None, op: MPI.Op = MPI.SUM) -> None:
        """Begins allreduce()."""
        self._start(self.allreduce, x, out, op)

    def start_allgather(self, x: Any, out: Any = None, counts: Sequence[int] | None = None) -> None:
        """Begins allgather()."""
        self._start(self.allgather, x, out, counts)

    def start_gather(self, x: Any, out: Any = None, counts: Sequence[int] | None = None) -> None:
        """Begins gather()."""
        self._start(self.gather, x, out, counts)

    def start_scatter(self, x: Any, out: Any, counts: Sequence[int] | None = None) -> None:
        """Begins scatter()."""
        self._start(self.scatter, x, out, counts)

    def start_reduce_scatter(self, x: Any, out: Any, op: MPI.Op = MPI.SUM, counts: Sequence[int] | None = None) -> None:
        """Begins reduce_scatter()."""
        self._start(self.reduce_scatter, x, out, op, counts)

    def start_alltoall(self, x: Any, out: Any = None) -> None:
        """Begins alltoall()."""
        self._start(self.alltoall, x, out)

    def start_barrier(self) -> None:
        """Begins barrier()."""
        self._start(self.barrier)

    def test(self) -> bool:
        """Whether the call that has begun is complete, or none has begun; if not, the message makes progress."""
        return self._core.test()

    def wait(self) -> Any:
        """Waits until the call that has begun is complete, and returns its result; None if none has begun."""
        self._core.wait()
        result, self._result = self._result, None
        return result

    def _start(self, call: Callable[..., Any], *arguments: Any) -> None:
        self._result = self._core.start(lambda: call(*arguments))

    def _require(self, operation: str) -> None:
        if self.operation != operation:
            raise InputError(f"the plan is for a different operation: {self.operation}, not {operation}")

    def _counts(self, counts: Sequence[int] | None, part: Array) -> list[int]:
        given = [part.size] * self._core.ranks if counts is None else [int(one) for one in counts]
        if len(given) != self._core.ranks or min(given) < 0:
            raise InputError(f"counts are one number for each of {self._core.ranks} ranks, not negative")
        return given

    def _combine(self, x: Any, out: Any, op: MPI.Op, has_result: bool) -> Any:
        array = view_of(x, is_written=False)
        if not has_result:
            self._core.combine(bytes_of(array), None, array.size, _type_of(array), MPI._handleof(op))
            return None
        result = np.empty_like(array) if out is None else out
        into = view_of(result, is_written=True)
        send = None if np.shares_memory(array, into) else bytes_of(array)
        self._core.combine(send, _alike(into, array.dtype), array.size, _type_of(array), MPI._handleof(op))
        return result

    def _gather(self, x: Any, out: Any, counts: Sequence[int] | None, has_result: bool) -> Any:
        array = view_of(x, is_written=False)
        parts = self._counts(counts, array)
        byte_counts = [one * array.itemsize for one in parts]
        result = out
        if has_result and out is None:
            shape = (self._core.ranks, *array.shape) if counts is None else (sum(parts),)
            result = np.empty(shape, array.dtype)
        into = _alike(view_of(result, is_written=True), array.dtype) if has_result else None
        call = self._core.allgather if self.operation == "allgather" else self._core.gather
        call(self._rank, bytes_of(array), into, byte_counts, MPI._handleof(MPI.BYTE))
        return result if has_result else None


def _shared(comm: MPI.Intracomm, plan: Plan | str | os.PathLike[str] | None) -> tuple[str, str]:
    """The text of rank 0's plan on all ranks, and the name of its file. An error of rank 0 is raised on all."""
    text, file = "", "<plan>"
    fault: Error | None = None
    if comm.Get_rank() == 0:
        try:
            if plan is None:
                raise InputError("rank 0 has no plan")
            if isinstance(plan, (str, os.PathLike)):
                file = os.fspath(plan)
                with open(file, encoding="utf-8") as stream:
                    text = stream.read()
            else:
                text = plan.to_json()
        except (OSError, UnicodeDecodeError) as error:
            fault = InputError(f"{file}: {getattr(error, 'strerror', None) or error}")
        except Error as error:
            fault = error
    text, file, fault = comm.bcast((text, file, fault), root=0)
    if fault is not None:
        raise fault
    return text, file


def _type_of(array: Array) -> int:
    """MPI's type of the elements, for reductions."""
    kind = array.dtype.str[1:]
    if kind not in _TYPES or not array.dtype.isnative:
        raise InputError(f"MPI combines no elements of type {array.dtype}")
    return int(MPI._handleof(_TYPES[kind]))


def _alike(array: Array, dtype: np.dtype[Any]) -> Array:
    if array.dtype != dtype:
        raise InputError(f"the arrays have different types, {dtype} and {array.dtype}")
    return bytes_of(array)
