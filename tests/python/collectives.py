"""Run with mpirun and `python3 -m mpi4py`, which ends all ranks where one fails: every operation on arrays of every kind."""

import json
import time

import numpy as np
from mpi4py import MPI

import espalier

comm = MPI.COMM_WORLD
ranks, rank = comm.Get_size(), comm.Get_rank()
network = espalier.Platform.from_matrix(np.full((ranks, ranks), 1e9))
ROOT = 1


def collective(operation, **options):
    source = str(ROOT) if operation in espalier.names()["rooted"] else None
    plan = espalier.plan(network, operation=operation, source=source)
    return espalier.Collective(comm, plan if rank == 0 else None, **options)


def refused(call, *arguments, **named):
    try:
        call(*arguments, **named)
    except espalier.InputError as fault:
        return str(fault)
    raise AssertionError(f"{arguments} was not refused")


class Tensor:
    """As PyTorch's on the CPU: no buffer, but NumPy gets the memory itself."""

    def __init__(self, memory):
        self.memory = memory

    def __array__(self, dtype=None):
        return self.memory if dtype is None else self.memory.astype(dtype)


class Interface:
    def __init__(self, memory):
        self.memory = memory
        self.__array_interface__ = memory.__array_interface__


def check_broadcast():
    with collective("broadcast", segment=4096, timeout=60) as call:
        assert (call.operation, call.root, call.node, call.receives_all) == ("broadcast", ROOT, str(rank), True)
        for expected in (np.arange(100003), np.array("text"), np.zeros((0, 3)), np.float16(2.5).reshape(1, 1),
                         np.asfortranarray(np.arange(15.0).reshape(3, 5)), np.array([("a", 1)], dtype="U4,i2")):
            x = expected.copy(order="K") if rank == ROOT else np.zeros_like(expected)
            assert call.bcast(x) is x and (x == expected).all()
        for kind in (Tensor, Interface):
            x = kind(np.full(7, rank))
            call.bcast(x)
            assert (x.memory == ROOT).all()
        view = np.zeros((4, 6))
        assert refused(call.bcast, view[:, ::2]) == "the array is not contiguous; give numpy.ascontiguousarray(x)"
        assert refused(call.bcast, [1, 2]).startswith("a list has no memory of numbers")
        assert refused(call.bcast, np.array([None])) == "an array of Python objects cannot be sent"
        assert refused(call.bcast, np.broadcast_to(np.zeros(1), (1,))) == "the array cannot be written"
        assert refused(call.reduce, view) == "the plan is for a different operation: broadcast, not reduce"
    assert refused(call.bcast, view) == "this collective is closed"


def check_reductions():
    with collective("reduce") as call:
        total = call.reduce(np.full((10, 100), rank, np.float32))
        assert (total is None) == (rank != ROOT)
        assert rank != ROOT or ((total == sum(range(ranks))).all() and total.shape == (10, 100))
        largest = np.empty(3, np.int16)
        call.reduce(np.full(3, rank, np.int16), out=largest, op=MPI.MAX)
        assert rank != ROOT or (largest == ranks - 1).all()
        assert refused(call.reduce, np.zeros(3, np.float16)) == "MPI combines no elements of type float16"
    with collective("allreduce") as call:
        x = Tensor(np.full((4, 5), rank + 1, np.complex64))
        assert call.allreduce(x, out=x) is x and (x.memory == sum(range(ranks + 1))).all()
        assert refused(call.allreduce, np.zeros(3), out=np.zeros(3, np.float32)).startswith("the arrays have different types")
    with collective("reduce-scatter") as call:
        part = np.empty(2, int)
        call.reduce_scatter(np.arange(2 * ranks), part)
        assert (part == np.array([2 * rank, 2 * rank + 1]) * ranks).all()


def check_parts():
    with collective("allgather") as call:
        assert (call.allgather(np.full(3, rank)) == np.arange(ranks)[:, None]).all()
        of_sizes = call.allgather(np.full(rank, rank, np.int8), counts=range(ranks))
        assert (of_sizes == np.repeat(np.arange(ranks), np.arange(ranks))).all()
        assert refused(call.allgather, np.zeros(1), counts=[1]) == f"counts are one number for each of {ranks} ranks, not negative"
    with collective("gather") as call:
        everything = call.gather(np.full((2, 2), rank))
        assert (everything is None) == (rank != ROOT)
        assert rank != ROOT or (everything == np.arange(ranks)[:, None, None]).all()
    with collective("scatter") as call:
        part = np.empty(2, np.int32)
        call.scatter(np.arange(2 * ranks, dtype=np.int32) if rank == ROOT else None, part)
        assert (part == [2 * rank, 2 * rank + 1]).all()
    with collective("alltoall") as call:
        x = np.arange(ranks) + 10 * rank
        expected = 10 * np.arange(ranks) + rank
        assert (call.alltoall(x) == expected).all()
        call.alltoall(x, out=x)
        assert (x == expected).all()


def check_calls_in_progress():
    with collective("broadcast", segment=4096, timeout=60) as call, collective("allreduce", timeout=60) as other:
        assert call.test() and call.wait() is None  # none has begun
        for _ in range(3):
            x = np.arange(100003) if rank == ROOT else np.zeros(100003, int)
            call.start_bcast(x)
            other.start_allreduce(np.full(70000, rank))  # nobody else keeps this array
            assert refused(call.start_bcast, x) == "a call of this collective is in progress, maybe of another thread"
            while not call.test():
                pass
            assert call.wait() is x and (x == np.arange(100003)).all() and call.wait() is None
            assert (other.wait() == sum(range(ranks))).all()
        assert refused(call.start_reduce, x) == "the plan is for a different operation: broadcast, not reduce"
        assert refused(call.start_bcast, [1]).startswith("a list has no memory of numbers")
        assert (call.bcast(x) == np.arange(100003)).all()
    with collective("reduce") as call:
        call.start_reduce(np.full(5, rank, float), op=MPI.MAX)
        largest = call.wait()
        assert (largest is None) == (rank != ROOT) and (rank != ROOT or (largest == ranks - 1).all())
    with collective("allgather") as call:
        call.start_allgather(np.full(rank, rank), counts=range(ranks))
        assert (call.wait() == np.repeat(np.arange(ranks), np.arange(ranks))).all()
    with collective("gather") as call:
        call.start_gather(np.full(3, rank))
        everything = call.wait()
        assert rank != ROOT or (everything == np.arange(ranks)[:, None]).all()
    with collective("scatter") as call:
        part = np.empty(2, int)
        call.start_scatter(np.arange(2 * ranks) if rank == ROOT else None, part)
        assert call.wait() is part and (part == [2 * rank, 2 * rank + 1]).all()
    with collective("reduce-scatter") as call:
        call.start_reduce_scatter(np.arange(2 * ranks), part)
        assert call.wait() is part and (part == np.array([2 * rank, 2 * rank + 1]) * ranks).all()
    with collective("alltoall") as call:
        call.start_alltoall(np.arange(ranks) + 10 * rank)
        assert (call.wait() == 10 * np.arange(ranks) + rank).all()


def barrier_plan():
    """A flat tree up and down: barriers are planned on the command line only."""
    nodes, others = [str(one) for one in range(ranks)], range(1, ranks)
    return espalier.Plan.from_json(json.dumps({
        "format": "espalier-plan", "version": 1, "operation": "barrier", "platform": "p", "source": "0", "model": "one-port",
        "algorithm": "flat", "nodes": nodes, "slice_bytes": 1, "throughput_Bps": 1e6, "optimum_Bps": None,
        "reduce_trees": [{"rate_Bps": 1e6, "edges": [[one, 0] for one in others]}],
        "broadcast_trees": [{"rate_Bps": 1e6, "edges": [[0, one] for one in others]}]}))


def check_barrier():
    with espalier.Collective(comm, barrier_plan() if rank == 0 else None, timeout=60) as call:
        call.barrier()
        call.start_barrier()
        assert call.wait() is None and call.test()
        # Nobody leaves before the last has come.
        comm.Barrier()
        if rank == ranks - 1:
            time.sleep(0.3)
        came = time.time()
        call.barrier()
        left = time.time()
        assert left >= comm.allreduce(came, MPI.MAX)
        assert refused(call.bcast, np.zeros(1)) == "the plan is for a different operation: barrier, not broadcast"


def check_construction():
    assert refused(espalier.Collective, comm, "/no/such/plan") == "/no/such/plan: No such file or directory"
    assert refused(espalier.Collective, comm, None) == "rank 0 has no plan"
    larger = espalier.plan(espalier.Platform.from_matrix(np.ones((9, 9))), source="0")
    assert refused(espalier.Collective, comm, larger) == f"the plan has 9 nodes, but {ranks} ranks are running it; start it with 9"
    return collective("broadcast")  # and never closed


check_broadcast()
check_reductions()
check_parts()
check_calls_in_progress()
check_barrier()
left = check_construction()
