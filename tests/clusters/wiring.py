"""What a cluster of network namespaces must be like to be a platform, or why it cannot be.

A pair of hosts has one way: the platform's link between them, or a path through its relays; a plan
may say which. Where there is neither, other hosts may forward. What limits traffic on that way becomes
shapers (hosts and links below), each of which all traffic that it concerns passes, so that transfers
share it as they share a real link. So the cluster behaves like the model bounded-multi-port, with shared
links and relays.
"""

import collections
import dataclasses
import itertools
import json
import pathlib
import shutil
import subprocess

CONTROL_BPS = 1.25e6  # bytes/s between hosts that no way joins: for what MPI itself sends
ACKNOWLEDGEMENTS = 0.1  # of a link's bandwidth, for the way back where the platform has none


class Refusal(Exception):
    """Why a platform, or a command line, cannot be run. One line."""


class Unavailable(Exception):
    """What this machine lacks for clusters of any kind. One line."""


@dataclasses.dataclass
class Host:
    """A host and its shapers; rates are bytes/s on the link, None is unlimited."""

    name: str
    out_Bps: float | None = None  # all that it sends
    in_Bps: float | None = None  # all that it receives
    to_Bps: dict[int, float] = dataclasses.field(default_factory=dict)  # by receiver, where limited


@dataclasses.dataclass
class Wiring:
    """All shapers of a platform, and the order in which each pair's traffic passes them."""

    name: str
    hosts: list[Host]  # in rank order
    links: list[tuple[str, float]]  # what several pairs share between the hosts: name, bytes/s
    ways: dict[tuple[int, int], list[int]]  # indices of `links` in flight between two hosts
    delays_s: dict[tuple[int, int], float]  # latency of the way, and its overheads
    notes: list[str]  # what of the platform is not realised, or only nearly


def find_program(name: str, given: str | None, root: pathlib.Path) -> str:
    """`given`, or the program in the newest build tree beside the sources, or in PATH."""
    if given:
        path = shutil.which(given)
        if not path:
            raise Refusal(f"{given}: no such program")
        return str(pathlib.Path(path).resolve())
    built = sorted(root.glob(f"build/*/cli/{name}"), key=lambda file: -file.stat().st_mtime)
    path = str(built[0]) if built else shutil.which(name)
    if not path:
        raise Refusal(f"{name} is neither built nor in PATH: build it, or name it by --{name}")
    return path


def read_platform(file: str, espalier: str) -> dict:
    """Any platform file that Espalier reads, as its own JSON in units of bytes and seconds."""
    done = subprocess.run(
        [espalier, "convert", file, "--to", "json", "-o", "-", "--quiet"], capture_output=True, text=True
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise Refusal(lines[-1].removeprefix("espalier: ") if lines else f"{file}: cannot be read")
    return json.loads(done.stdout)


def ways_of_plan(plan: dict) -> dict[tuple[str, str], list[str]]:
    """By sender and receiver, the nodes in flight that a plan in Espalier's JSON sends along. Raises Refusal."""
    names, ways = plan["nodes"], {}
    for tree in [*plan.get("broadcast_trees", []), *plan.get("reduce_trees", [])]:
        for sender, receiver in tree["edges"]:
            way = [names[sender], *tree.get("via", {}).get(f"{sender}-{receiver}", []), names[receiver]]
            if ways.setdefault((way[0], way[-1]), way) != way:
                raise Refusal(f"the plan has two ways from '{way[0]}' to '{way[-1]}'; a pair of hosts has one")
    return ways


class _Builder:
    def __init__(self, platform: dict, scale: float, planned: dict[tuple[str, str], list[str]] | None):
        self.planned = planned
        nodes = platform["nodes"]
        self.scale = scale
        self.place = {node["name"]: place for place, node in enumerate(nodes)}
        self.relays = {node["name"] for node in nodes if node.get("relay")}
        self.nodes = {node["name"]: node for node in nodes}
        self.names = [node["name"] for node in nodes if not node.get("relay")]
        self.rank = {name: rank for rank, name in enumerate(self.names)}
        self.links: dict[tuple[str, str], dict] = {}
        for link in platform["links"]:
            self.links[link["from"], link["to"]] = link
            if link.get("both_ways"):
                self.links[link["to"], link["from"]] = link
        self.shared = [(link["name"], link["bandwidth_Bps"], {tuple(pair) for pair in link["links"]})
                       for link in platform.get("shared", [])]
        self.after = collections.defaultdict(list)
        self.before = collections.defaultdict(list)
        for start, end in self.links:
            self.after[start].append(end)
            self.before[end].append(start)
        self.forwarded: set[tuple[str, str]] = set()  # see `take`

    def ways_from(self, host: str) -> dict[str, list[str]]:
        """The way to each host that is joined, by links or relays: nodes from `host` on."""
        ways = self._fewest_links(host, self.relays, is_only=self.planned is None)
        if self.planned is not None:
            ways |= {end: way for (start, end), way in self.planned.items() if start == host}
        return {end: way for end, way in ways.items() if end in self.rank and end != host}

    def ways_over_hosts_from(self, host: str) -> dict[str, list[str]]:
        """The same to all hosts, over whatever forwards."""
        ways = self._fewest_links(host, set(self.nodes), is_only=False)
        return {end: way for end, way in ways.items() if end in self.rank and end != host}

    def _fewest_links(self, host: str, forwarders: set[str], is_only: bool) -> dict[str, list[str]]:
        """A way to each node, of those with the fewest links the widest, then that of the first nodes. With `is_only`
        raises Refusal where there is a second."""
        ways, level = {host: [host]}, [host]
        while level:
            found: dict[str, list[str]] = {}
            for node, end in ((node, end) for node in level for end in self.after[node]):
                if end in ways[node]:
                    continue  # back where it came from
                way, former = [*ways[node], end], found.get(end) or ways.get(end)
                if former and is_only:
                    first, second = ("directly" if last == host else f"through '{last}'" for last in (former[-2], node))
                    raise Refusal(f"there are two ways from '{host}' to '{end}', {first} and {second}; "
                                  "a cluster has one way between two hosts")
                if end not in ways and (not former or self._preference(way) < self._preference(former)):
                    found[end] = way
            ways |= found
            level = [end for end in found if end in forwarders]
        return ways

    def _preference(self, way: list[str]) -> tuple[float, list[int]]:
        """The least is preferred."""
        return -min(self.links[link]["bandwidth_Bps"] for link in zip(way, way[1:])), [self.place[node] for node in way]

    def take(self, way: list[str]) -> None:
        """Where hosts pass on what is not theirs, neither a host's own shaper nor one of a pair will do."""
        for before, node, after in zip(way, way[1:], way[2:]):
            if node in self.rank:
                self.forwarded |= {(before, node), (node, after)}

    def capped(self, name: str, side: str) -> float | None:
        """The host's cap, and its cable where it has only one."""
        neighbours = self.after[name] if side == "send" else self.before[name]
        limits = []
        cap = self.nodes[name].get(f"{side}_Bps")
        if cap is not None:
            limits.append(cap * self.scale)
        cables = [(name, neighbour) if side == "send" else (neighbour, name) for neighbour in neighbours]
        limits += [self.links[cable]["bandwidth_Bps"] * self.scale for cable in cables if self.is_in_host(cable)]
        return min(limits, default=None)

    def has_one_cable(self, neighbours: list[str]) -> bool:
        return len(neighbours) == 1 and neighbours[0] in self.relays

    def is_in_host(self, link: tuple[str, str]) -> bool:
        """Whether a host's own shaper stands for this link (see `capped`)."""
        start, end = link
        return link not in self.forwarded and (start in self.rank and self.has_one_cable(self.after[start])
                                               or end in self.rank and self.has_one_cable(self.before[end]))

    def is_of_one_pair(self, link: tuple[str, str]) -> bool:
        """Whether only what one host sends another passes this link."""
        return link not in self.forwarded and link[0] in self.rank and link[1] in self.rank


def wiring_of(platform: dict, scale: float = 1.0, planned: dict[tuple[str, str], list[str]] | None = None,
              forward: bool = False) -> Wiring:
    """`platform` is what read_platform gives; every rate is multiplied by `scale`. Of several ways between two hosts
    the one in `planned` (ways_of_plan) is taken, else that of the fewest links; without `planned` they are refused.
    With `forward` hosts that are not joined send over other hosts' links, as if a router stood beside each host: what
    it forwards passes its links, not its caps. Raises Refusal."""
    builder = _Builder(platform, scale, planned)
    for (start, end), way in (planned or {}).items():
        missing = next((link for link in zip(way, way[1:]) if link not in builder.links), None)
        if missing:
            raise Refusal(f"the plan goes from '{start}' to '{end}' by a link from '{missing[0]}' to '{missing[1]}', "
                          "which the platform does not have")
    ways, forwarded = _all_ways(builder, forward)
    hosts = [Host(name, builder.capped(name, "send"), builder.capped(name, "receive")) for name in builder.names]
    wiring = Wiring(platform.get("name", ""), hosts, [], {}, {}, [])
    index_of_wire: dict[object, int] = {}
    for host, other in itertools.permutations(builder.names, 2):
        pair = (builder.rank[host], builder.rank[other])
        way = ways.get((host, other))
        if way is None:
            wiring.ways[pair] = []
            hosts[pair[0]].to_Bps[pair[1]] = max(CONTROL_BPS, ACKNOWLEDGEMENTS * _way_back(builder, other, host))
            continue
        wiring.ways[pair] = _wires_on(builder, wiring, index_of_wire, way)
        wiring.delays_s[pair] = _delay_of(builder, way)
        if builder.is_of_one_pair((way[0], way[1])):
            hosts[pair[0]].to_Bps[pair[1]] = builder.links[host, other]["bandwidth_Bps"] * scale
    _note_unjoined(wiring, forwarded, len(wiring.ways) - len(ways))
    return wiring


def _all_ways(builder: _Builder, forward: bool) -> tuple[dict[tuple[str, str], list[str]], int]:
    """By sender and receiver; and how many are over other hosts for want of a link."""
    ways, forwarded = {}, 0
    for host in builder.names:
        joined = builder.ways_from(host)
        over_hosts = builder.ways_over_hosts_from(host) if forward else {}
        forwarded += len(over_hosts.keys() - joined.keys())
        for other, way in (over_hosts | joined).items():
            ways[host, other] = way
            builder.take(way)
    return ways, forwarded


def _way_back(builder: _Builder, start: str, end: str) -> float:
    link = builder.links.get((start, end))
    return link["bandwidth_Bps"] * builder.scale if link else 0.0


def _delay_of(builder: _Builder, way: list[str]) -> float:
    links = [builder.links[link] for link in zip(way, way[1:])]
    return sum(link.get("latency_s", 0.0) + link.get("overhead_s", 0.0) for link in links)


def _wires_on(builder: _Builder, wiring: Wiring, index_of_wire: dict, way: list[str]) -> list[int]:
    links: list[int] = []

    def cross(key: object, name: str, bandwidth: float) -> None:
        if key not in index_of_wire:
            index_of_wire[key] = len(wiring.links)
            wiring.links.append((name, bandwidth * builder.scale))
        links.append(index_of_wire[key])

    for link in zip(way, way[1:]):
        if not builder.is_of_one_pair(link) and not builder.is_in_host(link):
            cross(link, f"link '{link[0]}' to '{link[1]}'", builder.links[link]["bandwidth_Bps"])
        for name, bandwidth, links in builder.shared:
            if link in links:
                cross(name, f"shared link '{name}'", bandwidth)
    return links


def _note_unjoined(wiring: Wiring, forwarded: int, unjoined: int) -> None:
    if forwarded:
        wiring.notes.append(f"{forwarded} pairs of hosts have no link: what they send goes over other hosts' links")
    if unjoined:
        wiring.notes.append(f"{unjoined} pairs of hosts have no link: they get {mbits(CONTROL_BPS)}, or a tenth of the link "
                            "back, for what MPI itself sends")


def mbits(bytes_per_second: float) -> str:
    return f"{bytes_per_second * 8e-6:g} Mbit/s"


def describe(wiring: Wiring) -> str:
    """The shapers as a table for people: a line a host, then one a link."""
    def shown(rate: float | None) -> str:
        return mbits(rate) if rate is not None else "unlimited"

    lines = []
    for host in wiring.hosts:
        line = f"{host.name}: sends {shown(host.out_Bps)}, receives {shown(host.in_Bps)}"
        if host.to_Bps:
            line += "; to " + ", ".join(f"{wiring.hosts[to].name} {mbits(rate)}" for to, rate in sorted(host.to_Bps.items()))
        lines.append(line)
    for index, (name, rate) in enumerate(wiring.links):
        users = sum(index in way for way in wiring.ways.values())
        lines.append(f"{name}: {mbits(rate)}, in flight of {users} pairs")
    return "\n".join(lines)
