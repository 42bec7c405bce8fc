"""Planning functions. Their arguments are called as the options of the command line (docs/cli.md).

Common arguments:
    operation   "broadcast", "reduce", "allreduce", "allgather", "reduce-scatter", "scatter", "gather", "alltoall"
    source      the host that has the data, or that gets it; an allreduce may leave it out (any roots)
    model       contention model: "one-port", "bounded-multi-port", ... (`espalier.names()["models"]`)
    segment     size of the segments: bytes, or "512KiB"
    latency     "delays" a segment, or "occupies" the ports as well
    counts      where each host has a part: numbers in proportion to the parts' sizes (of an alltoall a matrix)
    to          of a broadcast: the hosts that need the message; `helpers`: the others that may copy parts of it
    gap         stop when the throughput is this close to the bound, relative
    time_limit  stop proof and searches after this time: seconds, or "10s"

All raise InputError for wrong arguments, NoSolution, and LimitReached where a time limit leaves no result. They release
Python's lock while they work, and Ctrl-C ends them.
"""

from __future__ import annotations

import operator
from typing import Any, Callable, Iterable, Sequence, Union

from . import _espalier
from .errors import InputError, LimitReached, NoSolution
from .plans import Plan, _cost_of, _plan_of
from .platforms import Platform
from .results import (Bound, Comparison, ComparisonRow, Explanation, RankedSource, Simulation, Verification, _bound_of,
                      _explanation_of)
from .units import Duration, Rate, Size, duration, rate, size

#: Makes one tree: platform, source -> edges [parent, child], each a host's name or its place in platform.hosts.
Heuristic = Callable[[Platform, str], Iterable[Sequence[Any]]]
Counts = Union[Sequence[float], Sequence[Sequence[float]]]

_LATENCIES = {"delays": False, "occupies": True}


def names() -> dict[str, list[str]]:
    """The names of "algorithms", "formats", "models" and "operations".

    Of the algorithms, those that only a time limit ends are "exponential"; "rooted" operations need a source.
    """
    return _espalier.names()


def plan(
    platform: Platform,
    *,
    source: str | None = None,
    operation: str = "broadcast",
    model: str = "one-port",
    algorithm: str | Heuristic | None = None,
    message: Size | None = None,
    segment: Size | None = None,
    latency: str = "delays",
    counts: Counts = (),
    to: Sequence[str] = (),
    helpers: Sequence[str] | None = None,
    max_trees: int = 0,
    max_depth: int = 0,
    max_latency: Duration | None = None,
    chains: int = 4,
    guided_by: str | None = None,
    budget: float | None = None,
    deadline: Duration | None = None,
    schedule: bool = False,
    overhead: Duration | None = None,
    compute: Rate | None = None,
    gap: float | None = None,
    time_limit: Duration | None = None,
) -> Plan:
    """Makes a plan, by default the optimal one.

    With `message` the plan that carries a message of that size fastest, in its best segments; `overhead` (seconds per
    segment on links without one) and `compute` (how fast a host combines, bytes per second) are assumed then. `budget`:
    at most this price for a GB of the message; `deadline`: with `message`, the cheapest plan that is in time.
    `algorithm` may be a heuristic of your own. `max_trees`, `max_depth` (edges) and `max_latency` limit the optimal plan.
    """
    problem = _problem(platform, operation, source, model, segment, latency, counts, to, helpers)
    options = _options(gap=gap, time_limit_s=duration(time_limit), max_trees=max_trees, max_depth=max_depth,
                       max_latency_s=duration(max_latency), chains=chains, guided_by=guided_by, message_bytes=size(message),
                       budget_per_GB=budget, deadline_s=duration(deadline), schedule=schedule,
                       overhead_s=duration(overhead), compute_Bps=rate(compute))
    if algorithm is not None and not isinstance(algorithm, str):
        return _plan_of(*_plan_along(problem, platform, source, to, algorithm, options))
    if message is not None and budget is None and deadline is None:
        return _plan_of(*problem.choose(algorithm, options))
    if overhead is not None or compute is not None:
        raise InputError("overhead and compute need a message, without budget and deadline")
    return _plan_of(*problem.plan(algorithm or "optimal", options))


def bound(
    platform: Platform,
    *,
    source: str | None = None,
    operation: str = "broadcast",
    model: str = "one-port",
    segment: Size | None = None,
    latency: str = "delays",
    counts: Counts = (),
    to: Sequence[str] = (),
    helpers: Sequence[str] | None = None,
    budget: float | None = None,
    top: int = 10,
    gap: float | None = None,
    time_limit: Duration | None = None,
) -> Bound:
    """The best possible throughput, its proof, and the bottlenecks; at most `top` bottlenecks and cuts."""
    problem = _problem(platform, operation, source, model, segment, latency, counts, to, helpers)
    options = _options(gap=gap, time_limit_s=duration(time_limit), budget_per_GB=budget)
    return _bound_of(problem.bound(options, top))


def compare(
    platform: Platform,
    *,
    source: str | None = None,
    operation: str = "broadcast",
    model: str = "one-port",
    algorithm: str | Heuristic | Sequence[str | Heuristic] = "all",
    message: Size | None = None,
    segment: Size | None = None,
    latency: str = "delays",
    counts: Counts = (),
    to: Sequence[str] = (),
    helpers: Sequence[str] | None = None,
    chains: int = 4,
    guided_by: str | None = None,
    gap: float | None = None,
    time_limit: Duration | None = None,
) -> Comparison:
    """Every algorithm's throughput against the optimum.

    `algorithm` is "all", names separated by commas, a heuristic of your own, or a list of these. `source` defaults to the
    first host. With `message` the rows have its time along each plan, simulated. In "all", algorithms of exponential time
    get half a second, unless there is a `time_limit`, which is of each algorithm.
    """
    if source is None and operation in names()["rooted"]:
        if not platform.hosts:
            raise NoSolution(f"{platform.name}: no host to send from")
        source = platform.hosts[0]
    problem = _problem(platform, operation, source, model, segment, latency, counts, to, helpers)
    limits = {"gap": gap, "chains": chains, "guided_by": guided_by, "message_bytes": size(message)}
    within = duration(time_limit)
    made: list[tuple[str, Plan | str]] = []
    for one, all_of_them in _methods(problem, algorithm):
        is_cut = all_of_them and within is None and one in names()["exponential"]
        options = _options(time_limit_s=0.5 if is_cut else within, **limits)
        name = one if isinstance(one, str) else _name_of(one)
        try:
            core = (problem.plan(one, options) if isinstance(one, str)
                    else _plan_along(problem, platform, source, to, one, options))
            made.append((name, _plan_of(*core)))
        except (LimitReached, NoSolution) as fault:
            made.append((name, str(fault)))
    plans = [one for _, one in made if isinstance(one, Plan)]
    bounds = [one.optimum_Bps for one in plans if one.optimum_Bps is not None]
    optima = [one.throughput_Bps for one in plans]
    if not bounds:
        proof = problem.bound(_options(time_limit_s=within, **limits), 0)
        optima.append(proof["optimum_Bps"])
        bounds = [proof["bound_Bps"]] if proof["bound_Bps"] is not None else []
    best = min(bounds, default=None)
    rows = [ComparisonRow(name, error=one) if isinstance(one, str) else _row(name, one, platform, size(message), best)
            for name, one in made]
    return Comparison(operation, platform.name, source, model, max(optima, default=None), best, rows)


def explain(
    platform: Platform,
    *,
    source: str | None = None,
    operation: str = "broadcast",
    model: str = "one-port",
    plan: Plan | None = None,
    segment: Size | None = None,
    latency: str = "delays",
    counts: Counts = (),
    to: Sequence[str] = (),
    helpers: Sequence[str] | None = None,
    top: int = 5,
    gap: float | None = None,
    time_limit: Duration | None = None,
) -> Explanation:
    """The bottlenecks of the optimum, and what making each 10 % or twice as fast would gain.

    With `plan` also where it loses; operation, source, model and segment are then the plan's.
    """
    options = _options(gap=gap, time_limit_s=duration(time_limit))
    if plan is None:
        problem = _problem(platform, operation, source, model, segment, latency, counts, to, helpers)
        return _explanation_of(problem.explain(options, top, None))
    if source is not None or segment is not None or len(counts) or to or helpers is not None:
        raise InputError("the plan has a source, segments and receivers; leave these arguments out")
    return _explanation_of(_espalier.Problem.of(plan._core, platform._core).explain(options, top, plan._core))


def rank_sources(
    platform: Platform,
    *,
    sources: Sequence[str] | None = None,
    operation: str = "broadcast",
    model: str = "one-port",
    segment: Size | None = None,
    latency: str = "delays",
    gap: float | None = None,
    time_limit: Duration | None = None,
) -> list[RankedSource]:
    """The optimum from each host (or each of `sources`), best first; `time_limit` is for all together."""
    ranked = platform.hosts if sources is None else list(sources)
    if not ranked:
        return []
    first = ranked[0] if operation in names()["rooted"] else None
    problem = _problem(platform, operation, first, model, segment, latency, (), (), None)
    options = _options(gap=gap, time_limit_s=duration(time_limit))
    return [RankedSource(**one) for one in problem.rank(ranked, options)]


def verify(
    plan: Plan, platform: Platform, *, proof: bool = True, gap: float | None = None, time_limit: Duration | None = None
) -> Verification:
    """Checks a plan against its network from these two alone; recomputes every figure. `proof`: proves the optimum again."""
    options = _options(gap=gap, time_limit_s=duration(time_limit))
    result = _espalier.verify(plan._core, platform._core, proof, options)
    result["cost"] = _cost_of(result["cost"])
    return Verification(**result)


def simulate(
    plan: Plan,
    platform: Platform,
    *,
    message: Size,
    segment: Size | None = None,
    overhead: Duration = 0.0,
    window: int | None = None,
    receives: int | None = None,
    compute: Rate | None = None,
    rounds: bool = False,
    schedule: bool = True,
    until_received: bool = False,
    sharing: str = "turns",
    time_limit: Duration | None = None,
) -> Simulation:
    """The time that a plan takes for one message, latencies included.

    `segment` defaults to the plan's; `overhead` is per segment on links without one; `window` is the most sends outstanding
    per child of a tree; `receives` the segments of a neighbour that a host can buffer; `compute` how fast a host combines;
    `rounds` keeps synchronised rounds; `schedule=False` ignores the plan's schedule; with `until_received` a send ends when
    the segment has arrived; `sharing` is "turns", "edges" or "sends". Without a `time_limit`, refuses what would take hours.
    """
    result = _espalier.simulate(plan._core, platform._core, _given(size(message)), size(segment), window, receives, rate(compute),
                                schedule, rounds, until_received, sharing, _given(duration(overhead)), duration(time_limit), 1e10)
    if result is None:
        raise InputError("the message has more than 1e+10 sends; give a larger segment or a time_limit")
    return Simulation(**result)


def _given(value: Any) -> Any:
    if value is None:
        raise TypeError("expected a number, or text with a unit, not None")
    return value


def _problem(
    platform: Platform,
    operation: str,
    source: str | None,
    model: str,
    segment: Size | None,
    latency: str,
    counts: Counts,
    to: Sequence[str],
    helpers: Sequence[str] | None,
) -> _espalier.Problem:
    if latency not in _LATENCIES:
        raise InputError(f"latency is 'delays' or 'occupies', not {latency!r}")
    if isinstance(to, str) or isinstance(helpers, str):
        raise InputError("to and helpers are lists of names")
    for name, text in (("operation", operation), ("source", source or ""), ("model", model)):
        if not isinstance(text, str):
            raise TypeError(f"{name} is a name, not {text!r}")
    shares = [float(one) for row in counts for one in (row if isinstance(row, Iterable) else (row,))]
    return _espalier.Problem(platform._core, operation, source, model, size(segment), _LATENCIES[latency], shares, list(to),
                             None if helpers is None else list(helpers))


def _options(**given: Any) -> _espalier.Options:
    options = _espalier.Options()
    for name, value in given.items():
        if value is None:
            continue
        try:
            setattr(options, name, value)
        except TypeError:
            raise TypeError(f"{name} cannot be {value!r}") from None
    return options


def _methods(
    problem: _espalier.Problem, algorithm: str | Heuristic | Sequence[str | Heuristic]
) -> Iterable[tuple[str | Heuristic, bool]]:
    """Each algorithm once, and whether it is one of "all"."""
    done: list[str] = []
    for one in [algorithm] if isinstance(algorithm, str) or callable(algorithm) else algorithm:
        if not isinstance(one, str):
            yield one, False
            continue
        for name in problem.algorithms(one):
            if name not in done:
                done.append(name)
                yield name, one == "all"


def _name_of(heuristic: Heuristic) -> str:
    """As plans are called of algorithms that are not Espalier's."""
    return f"own:{getattr(heuristic, '__name__', type(heuristic).__name__)}"


def _plan_along(
    problem: _espalier.Problem, platform: Platform, source: str | None, to: Sequence[str], heuristic: Heuristic,
    options: _espalier.Options,
) -> tuple[_espalier.Plan, dict[str, Any]]:
    name = _name_of(heuristic)
    if source is None or to:
        raise InputError(f"{name}: one tree is a plan only of an operation with one source, to or from all hosts")
    place = {host: i for i, host in enumerate(platform.hosts)}

    def place_of(end: Any) -> int:
        if isinstance(end, str):
            if end not in place:
                raise InputError(f"{name}: {end!r} is not a host of {platform.name}")
            return place[end]
        index = operator.index(end)
        if not 0 <= index < len(place):
            raise InputError(f"{name}: there is no host {index}; {platform.name} has {len(place)} hosts")
        return index

    edges = []
    for edge in heuristic(platform, source):
        if len(edge) != 2:
            raise InputError(f"{name}: expected edges [parent, child], got {edge!r}")
        edges.append((place_of(edge[0]), place_of(edge[1])))
    return problem.plan_along(name, edges, options)


def _row(name: str, made: Plan, platform: Platform, message: int | None, bound_Bps: float | None) -> ComparisonRow:
    time_s = None
    if message is not None:
        most_sends = 2e7  # some ten seconds
        result = _espalier.simulate(made._core, platform._core, message, None, None, None, None, True, False, False, "turns", 0.0,
                                    None, most_sends)
        time_s = result["makespan_s"] if result else None
    relative = min(1.0, made.throughput_Bps / bound_Bps) if bound_Bps else None
    return ComparisonRow(name, len(made.trees), made.throughput_Bps, relative, made.depth, time_s, made.makespan_s,
                         made.cost.per_GB if made.cost else None, made.seconds, None, made)
