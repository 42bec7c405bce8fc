"""Espalier: plans collective communication on heterogeneous networks, and proves how far each plan is from the best possible.

    >>> import espalier
    >>> network = espalier.Platform.read("cluster.json")
    >>> plan = espalier.plan(network, source="lyon")

`espalier.Collective` executes plans through mpi4py. docs/python.md has examples.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .errors import CheckFailed, Error, InputError, LimitReached, NoSolution

__all__ = ["CheckFailed", "Collective", "Error", "InputError", "LimitReached", "NoSolution"]

if find_spec("espalier._espalier") is not None:  # a compute node executes plans without the planner
    from .pages import Page, report
    from .planning import bound, compare, explain, names, plan, rank_sources, simulate, verify
    from .plans import Plan, Tree
    from .platforms import Link, Node, Platform
    from .studies import Study, study

    __all__ += ["Link", "Node", "Page", "Plan", "Platform", "Study", "Tree", "bound", "compare", "explain", "names", "plan",
                "rank_sources", "report", "simulate", "study", "verify"]

if TYPE_CHECKING:
    from .mpi import Collective


def __getattr__(name: str) -> Any:
    if name == "Collective":  # mpi4py starts MPI when it is imported
        from .mpi import Collective

        return Collective
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
