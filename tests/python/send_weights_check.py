"""Run with mpirun: the example sends arrays of all kinds. Arguments: its folder, and one for files."""

import pathlib
import sys

import numpy as np
from mpi4py import MPI

import espalier

sys.path.insert(0, sys.argv[1])
from send_weights import send_weights  # noqa: E402

comm = MPI.COMM_WORLD
weights = {"layer.0": np.arange(100000, dtype=np.float32).reshape(100, 1000), "bias": np.array([1.5], np.float16),
           "none": np.zeros((0, 7)), "step": np.array(12345)}
file = pathlib.Path(sys.argv[2]) / "weights_plan.json"
if comm.Get_rank() == 0:
    network = espalier.Platform.from_matrix(np.full((comm.Get_size(), comm.Get_size()), 1e9))
    espalier.plan(network, source="0").write(file)
received = send_weights(comm, file, weights if comm.Get_rank() == 0 else None)
assert received.keys() == weights.keys()
for name, array in weights.items():
    assert received[name].dtype == array.dtype and received[name].shape == array.shape
    assert (received[name] == array).all(), name
