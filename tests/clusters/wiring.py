"""Translates a platform into traffic shapers of a cluster of network namespaces, or says why that is impossible.

A pair of hosts has one route: the platform's link between them, or a path through its relays; a plan
may specify it. If there is neither, other hosts may forward. Each limit on a route becomes a shaper (hosts
and links below). All traffic under that limit passes the same shaper, so that transfers share it like a
real link. The cluster therefore behaves like the model bounded-multi-port, with shared links and relays.
"""

import collections
import dataclasses
import itertools
import json
import pathlib
import shutil
import subprocess

CONTROL_BPS = 1.25e6  # bytes/s between hosts without a route, for MPI's own messages
ACKNOWLEDGEMENTS = 0.1  # share of a link's bandwidth for the reverse direction if the platform has none


class Refusal(Exception):
    """Why a platform or a command line cannot be run, in one line."""


class Unavailable(Exception):
    """What this machine lacks for clusters of any kind, in one line."""


@dataclasses.dataclass
class Host:
    """A host and its shapers; rates are bytes/s on the link, None means unlimited."""

    name: str
    out_Bps: float | None = None  # total of what it sends
    in_Bps: float | None = None  # total of what it receives
    to_Bps: dict[int, float] = dataclasses.field(default_factory=dict)  # by receiver, if limited


@dataclasses.dataclass
class Wiring:
    """All shapers of a platform, and for each pair of hosts the shapers on its route."""

    name: str
    hosts: list[Host]  # in rank order
    links: list[tuple[str, float]]  # links between the hosts that several pairs share: name, bytes/s
    routes: dict[tuple[int, int], list[int]]  # indices of `links` on the route from one host to another, in order
    delays_s: dict[tuple[int, int], float]  # sum of the route's latencies and overheads
    notes: list[str]  # properties of the platform that are not reproduced, or only approximately


def find_program(name: str, given: str | None, root: pathlib.Path) -> str:
    """`given`, or else the program in the newest build tree of the sources, or in PATH."""
    if given:
        path = shutil.which(given)
        if not path:
            raise Refusal(f"{given}: no such program")
        return str(pathlib.Path(path).resolve())
    built = sorted(root.glob(f"build/*/cli/{name}"), key=lambda file: -file.stat().st_mtime)
    path = str(built[0]) if built else shutil.which(name)
    if not path:
        raise Refusal(f"{name} is neither built nor in PATH; build it, or give its path with --{name}")
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


def routes_of_plan(plan: dict) -> dict[tuple[str, str], list[str]]:
    """The route of each sender and receiver, as a list of nodes, in a plan in Espalier's JSON. Raises Refusal."""
    names, routes = plan["nodes"], {}
    of_blocks = [tree for block in plan.get("blocks", []) for tree in block["trees"]]
    for tree in [*plan.get("broadcast_trees", []), *plan.get("reduce_trees", []), *of_blocks]:
        for sender, receiver in tree["edges"]:
            route = [names[sender], *tree.get("via", {}).get(f"{sender}-{receiver}", []), names[receiver]]
            if routes.setdefault((route[0], route[-1]), route) != route:
                raise Refusal(f"the plan has two routes from '{route[0]}' to '{route[-1]}'; "
                              "a pair of hosts can have only one")
    return routes


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
        self.forwarded: set[tuple[str, str]] = set()  # see `add_route`

    def routes_from(self, host: str) -> dict[str, list[str]]:
        """The route to each host that is reachable by a link or through relays, as nodes starting with `host`."""
        routes = self._fewest_links(host, self.relays, is_only=self.planned is None)
        if self.planned is not None:
            routes |= {end: route for (start, end), route in self.planned.items() if start == host}
        return {end: route for end, route in routes.items() if end in self.rank and end != host}

    def routes_over_hosts_from(self, host: str) -> dict[str, list[str]]:
        """The same to all hosts, also through other hosts."""
        routes = self._fewest_links(host, set(self.nodes), is_only=False)
        return {end: route for end, route in routes.items() if end in self.rank and end != host}

    def _fewest_links(self, host: str, forwarders: set[str], is_only: bool) -> dict[str, list[str]]:
        """A route to each node: with the fewest links; of those the widest; of those the one with the first nodes.
        With `is_only`, raises Refusal if there is a second route to a node."""
        routes, level = {host: [host]}, [host]
        while level:
            found: dict[str, list[str]] = {}
            for node, end in ((node, end) for node in level for end in self.after[node]):
                if end in routes[node]:
                    continue  # a cycle
                route, former = [*routes[node], end], found.get(end) or routes.get(end)
                if former and is_only:
                    first, second = ("directly" if last == host else f"through '{last}'" for last in (former[-2], node))
                    raise Refusal(f"there are two routes from '{host}' to '{end}', {first} and {second}; "
                                  "a cluster can have only one route between two hosts")
                if end not in routes and (not former or self._preference(route) < self._preference(former)):
                    found[end] = route
            routes |= found
            level = [end for end in found if end in forwarders]
        return routes

    def _preference(self, route: list[str]) -> tuple[float, list[int]]:
        """A sort key; the least is preferred."""
        return -min(self.links[link]["bandwidth_Bps"] for link in zip(route, route[1:])), [self.place[node] for node in route]

    def add_route(self, route: list[str]) -> None:
        """Records the links over which hosts forward: their traffic is neither that of one host nor of one pair."""
        for before, node, after in zip(route, route[1:], route[2:]):
            if node in self.rank:
                self.forwarded |= {(before, node), (node, after)}

    def capped(self, name: str, side: str) -> float | None:
        """The host's cap, limited by the bandwidth of its cable if it has only one."""
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
        """Whether a host's own shaper includes this link (see `capped`)."""
        start, end = link
        return link not in self.forwarded and (start in self.rank and self.has_one_cable(self.after[start])
                                               or end in self.rank and self.has_one_cable(self.before[end]))

    def is_of_one_pair(self, link: tuple[str, str]) -> bool:
        """Whether only the traffic of one pair of hosts crosses this link."""
        return link not in self.forwarded and link[0] in self.rank and link[1] in self.rank


def wiring_of(platform: dict, scale: float = 1.0, planned: dict[tuple[str, str], list[str]] | None = None,
              forward: bool = False) -> Wiring:
    """The wiring of `platform` (from read_platform), with every rate multiplied by `scale`. Of several routes between
    two hosts the one in `planned` (routes_of_plan) is taken, otherwise the one with the fewest links; without `planned`
    several routes are refused. With `forward`, hosts without a route send over other hosts' links, as if there were a
    router next to each host: forwarded traffic is limited by the host's links, but not by its caps. Raises Refusal."""
    builder = _Builder(platform, scale, planned)
    for (start, end), route in (planned or {}).items():
        missing = next((link for link in zip(route, route[1:]) if link not in builder.links), None)
        if missing:
            raise Refusal(f"the plan's route from '{start}' to '{end}' uses a link from '{missing[0]}' to "
                          f"'{missing[1]}', which the platform does not have")
    routes, forwarded = _all_routes(builder, forward)
    hosts = [Host(name, builder.capped(name, "send"), builder.capped(name, "receive")) for name in builder.names]
    wiring = Wiring(platform.get("name", ""), hosts, [], {}, {}, [])
    index_of_link: dict[object, int] = {}
    for host, other in itertools.permutations(builder.names, 2):
        pair = (builder.rank[host], builder.rank[other])
        route = routes.get((host, other))
        if route is None:
            wiring.routes[pair] = []
            hosts[pair[0]].to_Bps[pair[1]] = max(CONTROL_BPS, ACKNOWLEDGEMENTS * _reverse_rate(builder, other, host))
            continue
        wiring.routes[pair] = _links_on(builder, wiring, index_of_link, route)
        wiring.delays_s[pair] = _delay_of(builder, route)
        if builder.is_of_one_pair((route[0], route[1])):
            hosts[pair[0]].to_Bps[pair[1]] = builder.links[host, other]["bandwidth_Bps"] * scale
    _note_unjoined(wiring, forwarded, len(wiring.routes) - len(routes))
    return wiring


def _all_routes(builder: _Builder, forward: bool) -> tuple[dict[tuple[str, str], list[str]], int]:
    """The routes by sender and receiver, and the number of routes over other hosts."""
    routes, forwarded = {}, 0
    for host in builder.names:
        joined = builder.routes_from(host)
        over_hosts = builder.routes_over_hosts_from(host) if forward else {}
        forwarded += len(over_hosts.keys() - joined.keys())
        for other, route in (over_hosts | joined).items():
            routes[host, other] = route
            builder.add_route(route)
    return routes, forwarded


def _reverse_rate(builder: _Builder, start: str, end: str) -> float:
    link = builder.links.get((start, end))
    return link["bandwidth_Bps"] * builder.scale if link else 0.0


def _delay_of(builder: _Builder, route: list[str]) -> float:
    links = [builder.links[link] for link in zip(route, route[1:])]
    return sum(link.get("latency_s", 0.0) + link.get("overhead_s", 0.0) for link in links)


def _links_on(builder: _Builder, wiring: Wiring, index_of_link: dict, route: list[str]) -> list[int]:
    links: list[int] = []

    def cross(key: object, name: str, bandwidth: float) -> None:
        if key not in index_of_link:
            index_of_link[key] = len(wiring.links)
            wiring.links.append((name, bandwidth * builder.scale))
        links.append(index_of_link[key])

    for link in zip(route, route[1:]):
        if not builder.is_of_one_pair(link) and not builder.is_in_host(link):
            cross(link, f"link '{link[0]}' to '{link[1]}'", builder.links[link]["bandwidth_Bps"])
        for name, bandwidth, members in builder.shared:
            if link in members:
                cross(name, f"shared link '{name}'", bandwidth)
    return links


def _note_unjoined(wiring: Wiring, forwarded: int, unjoined: int) -> None:
    if forwarded:
        wiring.notes.append(f"{forwarded} pairs of hosts have no link: their traffic goes over other hosts' links")
    if unjoined:
        wiring.notes.append(f"{unjoined} pairs of hosts have no link: they get {mbits(CONTROL_BPS)}, or a tenth of the "
                            "reverse link, for MPI's own messages")


def mbits(bytes_per_second: float) -> str:
    return f"{bytes_per_second * 8e-6:g} Mbit/s"


def describe(wiring: Wiring) -> str:
    """The shapers as a readable table: a line per host, then a line per link."""
    def shown(rate: float | None) -> str:
        return mbits(rate) if rate is not None else "unlimited"

    lines = []
    for host in wiring.hosts:
        line = f"{host.name}: sends {shown(host.out_Bps)}, receives {shown(host.in_Bps)}"
        if host.to_Bps:
            line += "; to " + ", ".join(f"{wiring.hosts[to].name} {mbits(rate)}" for to, rate in sorted(host.to_Bps.items()))
        lines.append(line)
    for index, (name, rate) in enumerate(wiring.links):
        users = sum(index in route for route in wiring.routes.values())
        lines.append(f"{name}: {mbits(rate)}, used by {users} pairs")
    return "\n".join(lines)
