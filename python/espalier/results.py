"""What the functions of `espalier` return. Rates are bytes per second, times are seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from . import _espalier
from .plans import Cost, Plan, _cost_of


@dataclass(frozen=True)
class Cut:
    """Links over which all data must pass."""

    cut: str  #: "the 2 links into berlin"
    capacity_Bps: float
    hosts: int  #: that depend on them
    links: int
    sentence: str


@dataclass(frozen=True)
class Bottleneck:
    """A resource, and its share of the bound: 1 % more of it raises the bound by about price x 1 %."""

    resource: str
    price: float


@dataclass(frozen=True)
class Bound:
    """The best possible throughput, and its proof."""

    optimum_Bps: float  #: reached by trees
    bound_Bps: float | None  #: proven: no set of trees is faster
    bound_final: bool  #: False: more time might have lowered it
    gap: float | None
    trees: int
    cuts: list[Cut]
    cost: Cost | None
    bottlenecks: list[Bottleneck]  #: highest price first
    complete: bool  #: False: a time limit cut the proof short
    seconds: float


@dataclass(frozen=True)
class ComparisonRow:
    """One algorithm. Figures are None where it has no result; `error` says why."""

    algorithm: str
    trees: int | None = None
    throughput_Bps: float | None = None
    relative: float | None = None  #: throughput over the proven bound
    depth: int | None = None
    time_s: float | None = None  #: of the message along the plan, simulated; None: no message, or too long to simulate
    makespan_s: float | None = None  #: of the message along a single tree, unsegmented
    cost_per_GB: float | None = None
    seconds: float | None = None  #: that the algorithm took
    error: str | None = None
    plan: Plan | None = None


@dataclass(frozen=True)
class Comparison:
    operation: str
    platform: str
    source: str | None
    model: str
    optimum_Bps: float | None  #: the best throughput reached
    bound_Bps: float | None  #: proven
    rows: list[ComparisonRow]

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each algorithm."""
        import pandas

        return pandas.DataFrame([{k: v for k, v in vars(row).items() if k != "plan"} for row in self.rows])

    def __str__(self) -> str:
        width = max([len("algorithm"), *(len(row.algorithm) for row in self.rows)])
        lines = [f"{'algorithm':{width}}  trees       throughput  relative"]
        for row in self.rows:
            if row.throughput_Bps is None:
                lines.append(f"{row.algorithm:{width}}  {row.error}")
                continue
            relative = "-" if row.relative is None else f"{row.relative:.4f}"
            lines.append(f"{row.algorithm:{width}}  {row.trees:5}  {_espalier.format_rate(row.throughput_Bps):>15}  {relative:>8}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Simulation:
    """One message along a plan, latencies included."""

    makespan_s: float  #: until the last host is done
    achieved_Bps: float
    segments: int
    sends: int
    done_s: dict[str, float]  #: when each host is done
    busy_s: dict[str, float]  #: for how long each resource is busy


@dataclass(frozen=True)
class Verification:
    """A check of a plan from itself and its network alone."""

    valid: bool
    faults: list[str]  #: with their place in the plan
    throughput_Bps: float  #: recomputed
    scheduled_Bps: float | None
    bound_Bps: float | None  #: proven again
    bound_final: bool
    busiest_resource: str
    busiest_load: float  #: 1: full
    trees: int
    depth: int
    out_degree: int
    hosts_left_out: int  #: of a broadcast to some of the hosts
    cost: Cost | None


@dataclass(frozen=True)
class Faster:
    """The optimum where something is `factor` times as fast; solved again, not extrapolated."""

    factor: float
    optimum_Bps: float
    bound_Bps: float
    gain: float  #: relative
    least_gain: float  #: proven
    most_gain: float  #: proven


@dataclass(frozen=True)
class Upgrade:
    """A bottleneck, and what making it faster would gain."""

    kind: str  #: "resource", "link", or a "set" of resources
    name: str
    price: float  #: share of the bound
    load: float  #: share of the time that it is busy
    copies: float  #: bytes that cross it per byte of the message
    copies_up: float  #: those towards the root
    resources: int
    raised: str  #: which figures
    faster: list[Faster]


@dataclass(frozen=True)
class PlanLoss:
    """Where a plan loses against the bound: bound - throughput = idle + costly."""

    throughput_Bps: float
    bound_Bps: float
    idle_Bps: float  #: by bottlenecks that are idle at times
    costly_Bps: float  #: by trees that cost more than the cheapest
    idle: list[dict[str, Any]]
    costly: list[dict[str, Any]]
    full: list[dict[str, Any]]  #: what limits the plan


@dataclass(frozen=True)
class Explanation:
    optimum_Bps: float
    bound_Bps: float | None
    bound_final: bool
    gap: float | None
    trees: int
    cuts: list[Cut]
    cost: Cost | None
    bottlenecks: list[Upgrade]  #: resources, links and sets, each highest price first
    loss: PlanLoss | None  #: of a plan
    complete: bool
    seconds: float


@dataclass(frozen=True)
class RankedSource:
    source: str
    optimum_Bps: float
    bound_Bps: float | None
    complete: bool
    error: str | None  #: why there is no optimum


def _bound_of(result: dict[str, Any]) -> Bound:
    result["cuts"] = [Cut(**cut) for cut in result["cuts"]]
    result["cost"] = _cost_of(result["cost"])
    result["bottlenecks"] = [Bottleneck(**one) for one in result["bottlenecks"]]
    return Bound(**result)


def _explanation_of(result: dict[str, Any]) -> Explanation:
    result["cuts"] = [Cut(**cut) for cut in result["cuts"]]
    result["cost"] = _cost_of(result["cost"])
    for upgrade in result["bottlenecks"]:
        upgrade["faster"] = [Faster(**one) for one in upgrade["faster"]]
    result["bottlenecks"] = [Upgrade(**upgrade) for upgrade in result["bottlenecks"]]
    result["loss"] = PlanLoss(**result["loss"]) if result["loss"] else None
    return Explanation(**result)
