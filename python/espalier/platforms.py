"""Networks: from files, from NetworkX graphs, from matrices."""

from __future__ import annotations

import functools
import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from . import _espalier
from .errors import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

_NODE_KEYS = ("relay", "send", "send_Bps", "receive", "receive_Bps", "group", "x", "y", "price_per_hour")
_LINK_KEYS = ("bandwidth", "latency", "latency_s", "overhead", "overhead_s", "price_per_GB")


@dataclass(frozen=True)
class Node:
    """A host, or a relay, which only forwards (a switch)."""

    name: str
    relay: bool = False
    send_Bps: float | None = None  #: at most this many bytes per second leave it
    receive_Bps: float | None = None
    group: str = ""  #: "site/rack"
    price_per_hour: float = 0.0
    x: float | None = None  #: where it is drawn
    y: float | None = None


@dataclass(frozen=True)
class Link:
    """One direction of a connection."""

    sender: str
    receiver: str
    bandwidth_Bps: float  #: bytes per second
    latency_s: float = 0.0  #: delays data, occupies nothing
    overhead_s: float = 0.0  #: occupies the link for every segment
    price_per_GB: float = 0.0  #: of 10^9 bytes


class Platform:
    """A network of hosts, relays and links. Make one with `read`, `from_json`, `from_networkx` or `from_matrix`.

    `notes` says what a reader left out or merged.
    """

    def __init__(self, core: _espalier.Platform, notes: Sequence[str] = ()) -> None:
        self._core = core
        self.notes = list(notes)

    @classmethod
    def read(
        cls,
        file: str | os.PathLike[str],
        *,
        format: str = "",
        name: str = "",
        prices: str | os.PathLike[str] | None = None,
        send_cap: Sequence[str] = (),
        receive_cap: Sequence[str] = (),
        tier: str = "PREMIUM",
        latencies: str | os.PathLike[str] = "",
        classes: str | os.PathLike[str] = "",
        classes_seed: int = 1,
        missing_bandwidth: str = "",
        table: str = "",
        class_rate: Sequence[str] = (),
        osu_size: str = "",
        level_bandwidth: str = "",
        link_speed_unit: str = "",
        topology: str = "",
    ) -> Platform:
        """The network in a file of any format of docs/formats.md, which is detected unless `format` names it.

        The options are those of `espalier convert`: `prices` is a file of prices per GB, `send_cap` and `receive_cap` are
        caps such as "aws=5Gbit/s", and the others are for single formats. Raises InputError.
        """
        texts = {"format": format, "name": name, "tier": tier, "latencies": os.fspath(latencies),
                 "classes": os.fspath(classes), "missing_bandwidth": missing_bandwidth, "table": table,
                 "osu_size": osu_size, "level_bandwidth": level_bandwidth,
                 "link_speed_unit": link_speed_unit, "topology": topology}
        core, notes = _espalier.read_platform(None, os.fspath(file), texts, list(class_rate), classes_seed)
        if prices is not None:
            core, more = _espalier.with_prices(core, os.fspath(prices))
            notes = [*notes, *more]
        if send_cap or receive_cap:
            core = _espalier.with_caps(core, list(send_cap), list(receive_cap))
        return cls(core, notes)

    @classmethod
    def from_json(cls, document: str | Mapping[str, Any]) -> Platform:
        """The network in a platform document (docs/formats.md), as text or as a dictionary."""
        if not isinstance(document, str):
            try:
                document = json.dumps(document, allow_nan=False, default=_plain_number)
            except ValueError as fault:
                raise InputError(f"<document>: a number is not finite ({fault})") from None
        return cls(*_espalier.read_platform(document, "<document>", {"format": "json"}, [], 1))

    @classmethod
    def from_networkx(
        cls, graph: Any, *, name: str | None = None, bandwidth: str = "bandwidth_Bps", latency: str = "latency_s"
    ) -> Platform:
        """The network of a NetworkX graph; the edges of an undirected one are links in both directions.

        `bandwidth` and `latency` name the edges' attributes in bytes per second and in seconds; attributes called as in
        docs/formats.md ("bandwidth": "10 Gbit/s", overhead_s, price_per_GB; relay, group, send_Bps of nodes) are used, too.
        All other attributes are ignored.
        """
        nodes = []
        for node, facts in graph.nodes(data=True):
            nodes.append({"name": str(node), **{key: facts[key] for key in _NODE_KEYS if key in facts}})
        links = []
        for sender, receiver, facts in graph.edges(data=True):
            link = {"from": str(sender), "to": str(receiver), "both_ways": not graph.is_directed(),
                    **{key: facts[key] for key in _LINK_KEYS if key in facts and key != latency}}
            if bandwidth in facts:
                link.pop("bandwidth", None)
                link["bandwidth_Bps"] = facts[bandwidth]
            elif "bandwidth" not in facts:
                raise InputError(f"edge {sender!r} -> {receiver!r} has no attribute {bandwidth!r}")
            if latency in facts:
                link["latency_s"] = facts[latency]
            links.append(link)
        return cls._of(name or str(graph.name or "graph"), nodes, links)

    @classmethod
    def from_matrix(
        cls,
        bandwidths_Bps: npt.ArrayLike,
        latencies_s: npt.ArrayLike | None = None,
        *,
        nodes: Sequence[str] | None = None,
        name: str = "matrix",
    ) -> Platform:
        """The network of a square matrix of bandwidths in bytes per second: row i, column j is the link from i to j.

        There is no link where the bandwidth is 0 or NaN; the diagonal is ignored. `latencies_s` are seconds, of the same
        shape. `nodes` defaults to "0", "1", ...
        """
        import numpy as np

        rates = np.asarray(bandwidths_Bps, dtype=float)
        if rates.ndim != 2 or rates.shape[0] != rates.shape[1]:
            raise InputError(f"expected a square matrix of bandwidths, got shape {rates.shape}")
        delays = np.zeros_like(rates) if latencies_s is None else np.asarray(latencies_s, dtype=float)
        if delays.shape != rates.shape:
            raise InputError(f"latencies have shape {delays.shape}, bandwidths {rates.shape}")
        names = [str(i) for i in range(len(rates))] if nodes is None else [str(node) for node in nodes]
        if len(names) != len(rates):
            raise InputError(f"{len(names)} names for {len(rates)} nodes")
        links = []
        for i, j in np.argwhere(~np.isnan(rates) & (rates != 0)).tolist():
            if i != j:
                links.append({"from": names[i], "to": names[j], "bandwidth_Bps": float(rates[i, j]),
                              "latency_s": float(delays[i, j])})
        return cls._of(name, [{"name": node} for node in names], links)

    @classmethod
    def _of(cls, name: str, nodes: list[dict[str, Any]], links: list[dict[str, Any]]) -> Platform:
        return cls.from_json({"format": "espalier-platform", "version": 1, "name": name, "nodes": nodes, "links": links})

    def to_json(self) -> str:
        """The platform document of docs/formats.md."""
        return self._core.write("json")

    def write(self, file: str | os.PathLike[str], format: str = "json") -> None:
        """Writes a file in any format that Espalier writes; only JSON keeps everything."""
        _espalier.write_text(os.fspath(file), self._core.write(format))

    @functools.cached_property
    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.to_json())
        return document

    @property
    def name(self) -> str:
        name: str = self._document["name"]
        return name

    @property
    def currency(self) -> str:
        """Of all prices; empty: not given."""
        currency: str = self._document.get("currency", "")
        return currency

    @functools.cached_property
    def nodes(self) -> list[Node]:
        return [Node(**node) for node in self._document["nodes"]]

    @functools.cached_property
    def hosts(self) -> list[str]:
        """The names of the nodes that are not relays; rank i of a run of a plan is hosts[i]."""
        return [node.name for node in self.nodes if not node.relay]

    @functools.cached_property
    def links(self) -> list[Link]:
        links = []
        for link in self._document["links"]:
            figures = {key: link[key] for key in ("bandwidth_Bps", "latency_s", "overhead_s", "price_per_GB") if key in link}
            links.append(Link(link["from"], link["to"], **figures))
            if link.get("both_ways"):
                links.append(Link(link["to"], link["from"], **figures))
        return links

    @property
    def warnings(self) -> list[str]:
        """Suspicious properties, such as rates that look like bits taken for bytes."""
        return self._core.warnings()

    def bandwidths(self) -> npt.NDArray[Any]:
        """Bytes per second between nodes, in their order; 0 where there is no link."""
        return self._matrix("bandwidth_Bps")

    def latencies(self) -> npt.NDArray[Any]:
        """Seconds, likewise."""
        return self._matrix("latency_s")

    def _matrix(self, figure: str) -> npt.NDArray[Any]:
        import numpy as np

        place = {node.name: i for i, node in enumerate(self.nodes)}
        matrix = np.zeros((len(place), len(place)))
        for link in self.links:
            matrix[place[link.sender], place[link.receiver]] = getattr(link, figure)
        return matrix

    def to_networkx(self) -> Any:
        """A networkx.DiGraph, whose attributes are those of `Node` and `Link`."""
        import networkx

        graph = networkx.DiGraph(name=self.name)
        for node in self.nodes:
            graph.add_node(node.name, **{key: value for key, value in vars(node).items() if key != "name" and value is not None})
        for link in self.links:
            figures = {key: value for key, value in vars(link).items() if key not in ("sender", "receiver")}
            graph.add_edge(link.sender, link.receiver, **figures)
        return graph

    def svg(self) -> str:
        """A picture. Raises InputError for networks that are too large for one."""
        return self._core.svg()

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg()
        except InputError:
            return None

    def __repr__(self) -> str:
        relays = len(self.nodes) - len(self.hosts)
        return f"<Platform {self.name!r}: {len(self.hosts)} hosts, {relays} relays, {len(self.links)} links>"


def _plain_number(value: Any) -> Any:
    if hasattr(value, "item"):  # NumPy's scalars
        return value.item()
    raise TypeError(f"{type(value).__name__} is not a figure")
