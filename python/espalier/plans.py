"""Plans: what `plan` returns, `verify` and `simulate` take, and `Collective` executes."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from . import _espalier
from .platforms import Platform


@dataclass(frozen=True)
class Tree:
    """A tree, or a path, along which a share of the message goes."""

    kind: str  #: "spread" from the root, "combine" to the root, "route" from the root to one host
    root: str
    share: float  #: of the message's bytes that the trees of this kind and root carry together
    rate_Bps: float  #: bytes of the message per second
    edges: list[tuple[str, str]]  #: (sender, receiver); a host serves its children in this order
    via: dict[tuple[str, str], list[str]]  #: the nodes between, where an edge is not a single link


@dataclass(frozen=True)
class Cost:
    """In the platform's currency."""

    per_GB: float  #: of 10^9 bytes of the message, for all links
    per_hour: float  #: of all nodes
    budget_per_GB: float | None
    currency: str


@dataclass(frozen=True, repr=False)
class Plan:
    """Weighted trees, or paths, for one operation on one network."""

    operation: str
    platform: str
    source: str | None  #: the root; None: there is none, or several
    model: str
    algorithm: str
    nodes: list[str]  #: rank i of a run is nodes[i]
    segment_bytes: int
    throughput_Bps: float  #: bytes of the message per second, as docs/formats.md counts them
    optimum_Bps: float | None  #: no plan is faster; None: not computed
    trees: list[Tree]
    depth: int  #: edges on the longest path
    out_degree: int
    cost: Cost | None  #: None: the network has no prices
    # Of a plan that was just made:
    bound_final: bool | None = None  #: False: more time might have lowered optimum_Bps
    complete: bool | None = None  #: False: a time limit cut a search short
    seconds: float | None = None  #: that it took to make
    makespan_s: float | None = None  #: of the message, if one was given
    _core: Any = field(default=None, repr=False, compare=False)

    @classmethod
    def read(cls, file: str | os.PathLike[str]) -> Plan:
        """Reads a plan file. Raises InputError, with the place in it, for one that is not consistent in itself."""
        name = os.fspath(file)
        return _plan_of(_espalier.parse_plan(_espalier.read_text(name), name))

    @classmethod
    def from_json(cls, text: str) -> Plan:
        return _plan_of(_espalier.parse_plan(text, "<text>"))

    def to_json(self) -> str:
        """The plan file of docs/formats.md."""
        text: str = self._core.to_json()
        return text

    def write(self, file: str | os.PathLike[str]) -> None:
        """Writes the file: whole, or, on an error, not at all."""
        _espalier.write_text(os.fspath(file), self.to_json())

    @property
    def relative(self) -> float | None:
        """Throughput over the proven bound: at least this share of the optimum."""
        return min(1.0, self.throughput_Bps / self.optimum_Bps) if self.optimum_Bps else None

    def svg(self, platform: Platform) -> str:
        """A picture of the trees on the network. Raises CheckFailed for a plan that does not fit it."""
        text: str = self._core.svg(platform._core)
        return text

    def __repr__(self) -> str:
        root = f", source {self.source!r}" if self.source else ""
        trees = "1 tree" if len(self.trees) == 1 else f"{len(self.trees)} trees"
        return f"<Plan {self.operation} on {self.platform!r}{root}: {self.algorithm}, {trees}, {_espalier.format_rate(self.throughput_Bps)}>"


def _cost_of(fields: dict[str, Any] | None) -> Cost | None:
    return Cost(**fields) if fields else None


def _plan_of(core: _espalier.Plan, facts: dict[str, Any] | None = None) -> Plan:
    fields = core.fields()
    fields["trees"] = [Tree(**tree) for tree in fields["trees"]]
    fields["cost"] = _cost_of(fields["cost"])
    return Plan(**fields, **(facts or {}), _core=core)
