import pathlib

import pytest

import espalier

DATA = pathlib.Path(__file__).resolve().parents[2] / "platforms" / "data"


@pytest.fixture
def data():
    """The folder of the sample networks."""
    return DATA


@pytest.fixture
def triangle():
    """   a ---4---> b ---4---> c,  a ---1---> c   (bytes per second)"""
    return espalier.Platform.from_matrix([[0, 4, 1], [0, 0, 4], [0, 0, 0]], nodes=["a", "b", "c"], name="triangle")


@pytest.fixture
def sketch():
    return espalier.Platform.read(DATA / "seed-sketch.json")
