"""The planner's functions agree with one another and with plans by hand; wrong arguments are Python's exceptions."""

import os
import signal
import threading
import time
import xml.etree.ElementTree

import pytest

import espalier


def test_plan_of_the_triangle(triangle):
    # A byte from a to c would take the time of four to b, which sends them on: the chain is best.
    plan = espalier.plan(triangle, source="a", segment=1)
    assert plan.nodes == ["a", "b", "c"] and plan.source == "a" and plan.complete and plan.bound_final
    assert plan.throughput_Bps == pytest.approx(4) and plan.relative == pytest.approx(1)
    assert sum(tree.rate_Bps for tree in plan.trees) == pytest.approx(4)
    assert plan.trees[0].edges == [("a", "b"), ("b", "c")] and plan.trees[0].kind == "spread"
    bound = espalier.bound(triangle, source="a")
    assert bound.bound_Bps == pytest.approx(4)
    assert bound.cuts[0].sentence == "the 2 links out of a carry 32.0000 bit/s for 2 hosts"
    simulation = espalier.simulate(plan, triangle, message=8)
    assert simulation.makespan_s == pytest.approx(9 / 4) and simulation.done_s["a"] == 0


@pytest.mark.parametrize("operation", espalier.names()["operations"])
def test_every_operation_is_planned_verified_simulated_and_explained(operation):
    ring = espalier.Platform.from_matrix([[0, 3, 0, 1], [1, 0, 3, 0], [0, 1, 0, 3], [3, 0, 1, 0]])
    source = "1" if operation in espalier.names()["rooted"] else None
    plan = espalier.plan(ring, operation=operation, source=source)
    assert plan.operation == operation and plan.relative == pytest.approx(1)
    assert espalier.verify(plan, ring).faults == []
    assert espalier.Plan.from_json(plan.to_json()).to_json() == plan.to_json()
    assert espalier.simulate(plan, ring, message="4KiB").makespan_s > 0
    assert espalier.explain(ring, operation=operation, source=source).optimum_Bps == pytest.approx(plan.throughput_Bps)
    assert espalier.plan(ring, operation=operation, source=source, message=64).makespan_s > 0


def test_plan_files(triangle, tmp_path):
    plan = espalier.plan(triangle, source="a")
    plan.write(tmp_path / "plan.json")
    assert espalier.Plan.read(tmp_path / "plan.json").trees == plan.trees
    (tmp_path / "plan.json").write_text(plan.to_json().replace('"version": 1', '"version": 7'))
    with pytest.raises(espalier.InputError, match=r"plan.json: /version: "):
        espalier.Plan.read(tmp_path / "plan.json")


def test_limits_and_money(data, sketch):
    assert len(espalier.plan(sketch, source="P0", max_trees=2).trees) == 2
    assert espalier.plan(sketch, source="P0", max_depth=3).depth <= 3
    for operation in ("broadcast", "reduce", "allreduce"):
        planned = espalier.plan(sketch, operation=operation, source="P0", algorithm="grow", schedule=True)
        assert planned.to_json().count('"schedule"') == 1
    priced = espalier.Platform.from_json({
        "format": "espalier-platform", "version": 1, "currency": "USD", "nodes": [{"name": name} for name in "abc"],
        "links": [{"from": "a", "to": "b", "bandwidth_Bps": 4, "price_per_GB": 3}, {"from": "a", "to": "c", "bandwidth_Bps": 4},
                  {"from": "c", "to": "b", "bandwidth_Bps": 1}]})
    cheap = espalier.plan(priced, source="a", model="bounded-multi-port", budget=1)
    assert cheap.cost.per_GB == pytest.approx(1) and cheap.cost.currency == "USD"
    assert cheap.throughput_Bps == pytest.approx(1.5)  # 1 B/s free over c, then a third of the money's worth
    assert espalier.bound(priced, source="a", model="bounded-multi-port", budget=1).bound_Bps == pytest.approx(1.5)
    late = espalier.plan(priced, source="a", model="bounded-multi-port", message=10, deadline=10.0)
    assert late.cost.per_GB == pytest.approx(0)
    some = espalier.plan(sketch, source="P0", to=["P1", "P3"])
    assert {"P0", "P1", "P3"} <= set(some.nodes) and espalier.verify(some, sketch).hosts_left_out == 8 - len(some.nodes)


def test_comparison_with_a_heuristic(sketch):
    seen = []

    def star(platform, source):
        seen.append((platform, source))
        return [(source, host) for host in platform.hosts if host != source]

    compared = espalier.compare(sketch, source="P0", algorithm=["flat,optimal", star], message="1MiB")
    rows = {row.algorithm: row for row in compared.rows}
    assert seen == [(sketch, "P0")]
    assert rows["own:star"].throughput_Bps == rows["flat"].throughput_Bps < rows["optimal"].throughput_Bps
    assert rows["own:star"].time_s == rows["flat"].time_s > 0
    assert rows["optimal"].relative == pytest.approx(1)
    assert espalier.verify(rows["own:star"].plan, sketch).valid
    assert "own:star" in str(compared)


@pytest.mark.parametrize("operation", ["broadcast", "reduce", "allreduce"])
def test_heuristic_in_any_order_by_numbers(operation):
    #  0 <-> 1 <-> 2 <-> 3, where only the first link is slow
    line = espalier.Platform.from_matrix([[0, 1, 0, 0], [1, 0, 4, 0], [0, 4, 0, 4], [0, 0, 4, 0]])
    plan = espalier.plan(line, operation=operation, source="1", algorithm=lambda platform, source: [(2, 3), (1, 0), (1, 2)])
    assert espalier.verify(plan, line).faults == []
    assert plan.throughput_Bps == pytest.approx(0.8)


@pytest.mark.parametrize(
    "edges, message",
    [
        ([("a", "b")], "own:wrong: /broadcast_trees/0/edges: node 'c' is missing"),
        ([("a", "b"), ("c", "c")], "own:wrong: /broadcast_trees/0/edges/1: "),
        ([("a", "b"), ("a", "x")], "own:wrong: 'x' is not a host of triangle"),
        ([("a", "b"), ("a", 3)], "own:wrong: there is no host 3; triangle has 3 hosts"),
        ([("a", "b", "c")], "own:wrong: expected edges [parent, child], got ('a', 'b', 'c')"),
        ([("a", "c"), ("c", "b")], "own:wrong: there is no path between 'c' and 'b'"),
    ],
)
def test_wrong_heuristics(triangle, edges, message):
    def wrong(platform, source):
        return edges

    with pytest.raises(espalier.InputError) as refusal:
        espalier.compare(triangle, algorithm=wrong)
    assert str(refusal.value).startswith(message)


def test_all_algorithms_are_compared(sketch):
    compared = espalier.compare(sketch)
    assert len(compared.rows) > 10 and compared.source == "P0"
    assert max(row.relative for row in compared.rows if row.relative is not None) == pytest.approx(1)


def test_explanation_of_a_plan(triangle):
    plan = espalier.plan(triangle, source="a", algorithm="flat")
    loss = espalier.explain(triangle, plan=plan).loss
    assert loss.bound_Bps - loss.throughput_Bps == pytest.approx(loss.idle_Bps + loss.costly_Bps)
    best = espalier.explain(triangle, source="a").bottlenecks[0]
    assert [one.factor for one in best.faster] == [1.1, 2.0]
    with pytest.raises(espalier.InputError, match="leave these arguments out"):
        espalier.explain(triangle, plan=plan, source="a")


def test_ranking(triangle):
    ranked = espalier.rank_sources(triangle)
    assert ranked[0].source == "a" and ranked[0].error is None
    assert ranked[1].optimum_Bps == 0 and "cannot be reached" in ranked[1].error


def test_verification_finds_wrong_figures(triangle):
    plan = espalier.plan(triangle, source="a", algorithm="chain", segment=1)
    wrong = espalier.Plan.from_json(plan.to_json().replace('_Bps": 4', '_Bps": 5'))
    found = espalier.verify(wrong, triangle)
    assert not found.valid and found.busiest_load == pytest.approx(1.25)
    with pytest.raises(espalier.CheckFailed):
        wrong.svg(triangle)
    assert xml.etree.ElementTree.fromstring(plan.svg(triangle)).tag.endswith("svg")


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda net: espalier.plan(net), espalier.InputError, "a broadcast needs a source"),
        (lambda net: espalier.plan(net, source="x"), espalier.InputError, "triangle: unknown source 'x'; "),
        (lambda net: espalier.plan(net, source="b"), espalier.NoSolution, "triangle: 'a' cannot be reached from 'b'"),
        (lambda net: espalier.plan(net, source="a", algorithm="gorw"), espalier.InputError, "unknown algorithm 'gorw'; did you mean"),
        (lambda net: espalier.plan(net, source="a", model="two-port"), espalier.InputError, "unknown model 'two-port'"),
        (lambda net: espalier.plan(net, source="a", gap=2), espalier.InputError, "gap must be at least 0 and below 1"),
        (lambda net: espalier.plan(net, source="a", time_limit="3"), espalier.InputError, "duration '3': the unit is missing"),
        (lambda net: espalier.plan(net, source="a", budget=3), espalier.InputError, "triangle: no link has a price"),
        (lambda net: espalier.plan(net, source="a", latency="maybe"), espalier.InputError, "latency is 'delays' or 'occupies'"),
        (lambda net: espalier.plan(net, source="a", to="b"), espalier.InputError, "to and helpers are lists of names"),
        (lambda net: espalier.plan(net, source="a", counts=[1, 1, 1]), espalier.InputError, "counts: a broadcast has one message"),
        (lambda net: espalier.plan(net, source="a", max_trees=-1), TypeError, "max_trees cannot be -1"),
        (lambda net: espalier.plan(net, source=3), TypeError, "source is a name, not 3"),
        (lambda net: espalier.simulate(espalier.plan(net, source="a"), net, message=1, window=0), ValueError, "a window is 1 to 1024"),
        (lambda net: espalier.simulate(espalier.plan(net, source="a", segment=1), net, message="1TiB"), espalier.InputError,
         "the message has more than 1e+10 sends"),
    ],
)
def test_refusals(triangle, call, error, message):
    with pytest.raises(error) as refusal:
        call(triangle)
    assert str(refusal.value).startswith(message)


def long_simulation(triangle, **how):
    return espalier.simulate(espalier.plan(triangle, source="a", segment=1), triangle, message="1GB", **how)


def test_other_threads_go_on_and_a_limit_ends_the_work(triangle):
    steps = []
    counting = threading.Event()

    def count():
        while not counting.is_set():
            steps.append(None)
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        with pytest.raises(espalier.LimitReached):
            long_simulation(triangle, time_limit=0.3)
    finally:
        counting.set()
        thread.join()
    assert len(steps) > 10


def test_an_interrupt_ends_the_work(triangle):
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        long_simulation(triangle)
