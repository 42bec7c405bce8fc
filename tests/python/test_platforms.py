"""Networks from every source are the same network, and wrong ones are refused with their place."""

import math
import xml.etree.ElementTree

import networkx
import numpy as np
import pytest

import espalier


def figures(platform):
    return {(link.sender, link.receiver): (link.bandwidth_Bps, link.latency_s) for link in platform.links}


def test_graph_and_matrix_give_the_same_links():
    graph = networkx.DiGraph(name="net")
    graph.add_edge("a", "b", bandwidth_Bps=4e9, latency_s=1e-3, colour="red")
    graph.add_edge("b", "a", bandwidth_Bps=np.float32(2e9))
    of_graph = espalier.Platform.from_networkx(graph)
    of_matrix = espalier.Platform.from_matrix([[9, 4e9], [2e9, math.nan]], [[0, 1e-3], [0, 0]], nodes=["a", "b"], name="net")
    assert figures(of_graph) == {("a", "b"): (4e9, 1e-3), ("b", "a"): (2e9, 0)}
    assert of_graph.to_json() == of_matrix.to_json()


def test_undirected_edges_are_links_both_ways_and_attributes_may_have_other_names():
    graph = networkx.Graph()
    graph.add_node("switch", relay=True)
    graph.add_edge(1, "switch", rate=8, delay=0.5)
    graph.add_edge("switch", 2, bandwidth="16 bit/s", group="ignored")
    platform = espalier.Platform.from_networkx(graph, name="net", bandwidth="rate", latency="delay")
    assert platform.hosts == ["1", "2"]
    assert figures(platform) == {("1", "switch"): (8, 0.5), ("switch", "1"): (8, 0.5), ("switch", "2"): (2, 0), ("2", "switch"): (2, 0)}


def test_round_trips(sketch, tmp_path):
    again = espalier.Platform.from_networkx(sketch.to_networkx())
    assert figures(again) == figures(sketch)
    matrix = espalier.Platform.from_matrix(sketch.bandwidths(), sketch.latencies(), nodes=[node.name for node in sketch.nodes])
    assert figures(matrix) == figures(sketch)
    sketch.write(tmp_path / "net.graphml", format="graphml")
    assert figures(espalier.Platform.read(tmp_path / "net.graphml")) == figures(sketch)


def test_options_of_readers(data, tmp_path):
    grid = espalier.Platform.read(data / "cloud-71-regions.json", send_cap=["aws=5Gbit/s"])
    assert {node.send_Bps for node in grid.nodes if node.name.startswith("aws:")} == {6.25e8}
    table = tmp_path / "net.csv"
    table.write_text("from,to,bandwidth_Gbps\na,b,1\na,b,1\n")
    merged = espalier.Platform.read(table, name="two cables")
    assert merged.name == "two cables" and figures(merged) == {("a", "b"): (2.5e8, 0)}
    assert "merged 2 parallel links" in merged.notes[0]


def test_pictures(sketch):
    assert xml.etree.ElementTree.fromstring(sketch._repr_svg_()).tag.endswith("svg")


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: espalier.Platform.read("/no/such/file"), "/no/such/file: cannot open: No such file or directory"),
        (lambda: espalier.Platform.from_json("{"), "<document>: line 1"),
        (lambda: espalier.Platform.from_json({"format": "espalier-platform", "version": 1, "nodes": [{"name": "a", "x": math.inf}],
                                              "links": []}), "<document>: a number is not finite"),
        (lambda: espalier.Platform.from_matrix([[0, 1, 2], [3, 4, 5]]), "expected a square matrix of bandwidths, got shape (2, 3)"),
        (lambda: espalier.Platform.from_matrix([[0, -1], [1, 0]]), "<document>: /links/0/bandwidth_Bps: "),
        (lambda: espalier.Platform.from_matrix([[0, 1], [1, 0]], [[0]]), "latencies have shape (1, 1), bandwidths (2, 2)"),
        (lambda: espalier.Platform.from_matrix([[0, 1], [1, 0]], nodes=["a"]), "1 names for 2 nodes"),
        (lambda: espalier.Platform.from_networkx(networkx.path_graph(2)), "edge 0 -> 1 has no attribute 'bandwidth_Bps'"),
    ],
)
def test_refusals(make, message):
    with pytest.raises(espalier.InputError) as refusal:
        make()
    assert str(refusal.value).startswith(message)
