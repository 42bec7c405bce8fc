"""Sends the weights of a model, an .npz file of rank 0, to all hosts, along a plan:

    mpirun -n 4 python3 -m mpi4py examples/send_weights.py plan.json weights.npz

One rank runs on each host, in the order of the plan's nodes; all of them need mpi4py, NumPy and espalier, none of them the
planner. Only rank 0 needs the two files.
"""

import sys

import numpy as np
from mpi4py import MPI

import espalier


def send_weights(comm, plan, weights):
    """weights: of rank 0, a dictionary of arrays; the others' is not used. Returns that of rank 0 on every rank."""
    with espalier.Collective(comm, plan) as collective:
        root = collective.root
        if root != 0:
            raise espalier.InputError(f"the plan begins at rank {root}; make one whose source is its first node")
        shapes = comm.bcast(None if weights is None else {name: (x.dtype, x.shape) for name, x in weights.items()}, root=root)
        # One message for all arrays: the plan is for large ones. Each begins at a multiple of 64 bytes.
        sizes = {name: dtype.itemsize * int(np.prod(shape)) for name, (dtype, shape) in shapes.items()}
        places = dict(zip(sizes, np.cumsum([0, *(-(-size // 64) * 64 for size in sizes.values())])))
        memory = np.empty(sum(-(-size // 64) * 64 for size in sizes.values()), np.uint8)
        received = {name: memory[places[name]:places[name] + sizes[name]].view(dtype).reshape(shape)
                    for name, (dtype, shape) in shapes.items()}
        if comm.Get_rank() == root:
            for name, array in received.items():
                array[...] = weights[name]
        collective.bcast(memory)
        return received


def main():
    comm = MPI.COMM_WORLD
    weights = None
    if comm.Get_rank() == 0:
        with np.load(sys.argv[2]) as file:
            weights = dict(file)
    start = MPI.Wtime()
    received = send_weights(comm, sys.argv[1], weights)
    comm.Barrier()
    if comm.Get_rank() == 0:
        size = sum(array.nbytes for array in received.values())
        print(f"{len(received)} arrays, {size} bytes, on {comm.Get_size()} ranks after {MPI.Wtime() - start:.3f} s")


if __name__ == "__main__":
    main()
