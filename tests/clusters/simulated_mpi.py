"""Runs espalier-mpi, built for SimGrid's SMPI, in simulated seconds: scripts/simulate-mpi, and the benches in SMPI.

The network model is fluid: transfers share links max-min fairly, latencies add up, and protocols and computation take
no time unless settings say so.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from xml.sax.saxutils import quoteattr

from wiring import Refusal, Wiring, read_platform, routes_of_plan, wiring_of

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
UNLIMITED_BPS = 1e12
# Plain sharing: no corrections for TCP or for MPI's protocols, and sends that end when they have been
# received, so that windows apply exactly. A factor is written as a list of one interval. With weight-S 0,
# a small gamma would share wrongly.
PLAIN = ["smpi/simulate-computation:no", "smpi/bw-factor:0:1", "smpi/lat-factor:0:1", "smpi/test:1e-6",
         "smpi/os:0:0:0:0:0", "smpi/or:0:0:0:0:0", "smpi/grow-injected-times:no", "smpi/send-is-detached-thresh:0",
         "smpi/async-small-thresh:0", "network/TCP-gamma:1e12", "network/weight-S:0", "network/crosstraffic:0"]


def document(elements: list[str]) -> str:
    return "\n".join(['<?xml version="1.0"?>', '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
                      '<platform version="4.1">', '<zone id="platform" routing="Full">', *elements, "</zone>", "</platform>", ""])


def host_element(name: str) -> str:
    return f"<host id={quoteattr(name)} speed=\"100Gf\"/>"


def link_element(name: str, rate: float | None, latency: float = 0.0) -> str:
    policy = "SHARED" if rate is not None else "FATPIPE"
    return (f'<link id="{name}" bandwidth="{rate or UNLIMITED_BPS:.17g}Bps" latency="{latency:.17g}s" '
            f'sharing_policy="{policy}"/>')


def route_element(source: str, target: str, links: list[str]) -> str:
    return (f'<route src={quoteattr(source)} dst={quoteattr(target)} symmetrical="NO">'
            + "".join(f'<link_ctn id="{name}"/>' for name in links) + "</route>")


def simgrid_platform(wiring: Wiring, host_ids: list[str]) -> str:
    """The wiring as SimGrid's XML: a link per shaper, and for each two hosts the list of links on their path."""
    links, routes = [], []
    # Unlimited links are omitted, as each is a constraint on all sends that cross it.
    for rank, host in enumerate(wiring.hosts):
        for name, rate in ((f"out{rank}", host.out_Bps), (f"in{rank}", host.in_Bps)):
            if rate is not None:
                links.append(link_element(name, rate))
    for index, (_, rate) in enumerate(wiring.links):
        links.append(link_element(f"link{index}", rate))
    for (source, target), indices in sorted(wiring.routes.items()):
        path = f"path{source}-{target}"
        links.append(link_element(path, wiring.hosts[source].to_Bps.get(target), wiring.delays_s.get((source, target), 0.0)))
        out = [f"out{source}"] if wiring.hosts[source].out_Bps is not None else []
        into = [f"in{target}"] if wiring.hosts[target].in_Bps is not None else []
        crossed = [path, *out, *(f"link{index}" for index in indices), *into]
        routes.append(route_element(host_ids[source], host_ids[target], crossed))
    return document([*map(host_element, host_ids), *links, *routes])


def write_clusters(folder: pathlib.Path, hosts: list[str], group_of: Callable[[str], int], link_Bps: float, latency_s: float,
                   memory_Bps: float = 1e10, memory_latency_s: float = 0.0) -> None:
    """Writes platform.xml and hosts, a hostfile with the host of each rank, for run_simulated. Each host has a link of its
    own to the switch of its group, each group one like it to all others, and the ranks of a host share its memory."""
    names = list(dict.fromkeys(hosts))
    elements = [host_element(name) for name in names]
    for name in [*names, *sorted({f"group{group_of(host)}" for host in names})]:
        elements += [link_element(f"{name}-{way}", link_Bps, latency_s) for way in ("up", "down")]
    elements += [link_element(f"{name}-memory", memory_Bps, memory_latency_s) for name in names]
    for source in names:
        for target in names:
            up, down = group_of(source), group_of(target)
            between = [] if up == down else [f"group{up}-up", f"group{down}-down"]
            crossed = [f"{source}-memory"] if source == target else [f"{source}-up", *between, f"{target}-down"]
            elements.append(route_element(source, target, crossed))
    (folder / "platform.xml").write_text(document(elements))
    (folder / "hosts").write_text("".join(f"{name}\n" for name in hosts))


def read_plan(file: str) -> dict:
    """Reads a plan and checks its list of hosts, which are in rank order. espalier-mpi checks everything else."""
    try:
        plan = json.loads(pathlib.Path(file).read_text())
        nodes = plan["nodes"]
        if not (isinstance(nodes, list) and nodes and all(isinstance(node, str) for node in nodes)):
            raise TypeError
        return plan
    except OSError as error:
        raise Refusal(f"{file}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Refusal(f"{file}: /nodes: not a list of names, so not a plan") from None


def build(folder: pathlib.Path) -> str:
    """Builds espalier-mpi for SMPI unless it is up to date, and returns its path."""
    steps = [["cmake", "-S", str(ROOT), "-B", str(folder), "--preset", "smpi"],
             ["cmake", "--build", str(folder), "--target", "espalier-mpi"]]
    for step in steps[1 if (folder / "build.ninja").exists() else 0:]:
        done = subprocess.run(step, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.stderr.write(done.stdout)
            raise RuntimeError(f"the build for SMPI failed: {' '.join(step)}")
    return str(folder / "cli" / "espalier-mpi")


def run_simulated(platform: pathlib.Path, hosts: pathlib.Path, ranks: int, program: str, words: list[str], cfg: list[str],
                  timeout_s: float | None = None, **run) -> subprocess.CompletedProcess:
    """Runs espalier-mpi with these words on a platform of SimGrid's, ranks on the hosts of a hostfile. Status 124: timeout."""
    settings = [f"--cfg={setting}" for setting in [*PLAIN, *cfg]]
    limit = ["-wrapper", f"timeout --foreground {timeout_s:g}"] if timeout_s else []
    return subprocess.run(["smpirun", *limit, "-np", str(ranks), "-platform", str(platform), "-hostfile", str(hosts),
                           "--log=root.thresh:error", *settings, program, words[0], "--timeout", "never", *words[1:]], **run)


def simulate(platform: str, plan: str, planned: dict, program: str, espalier: str, cfg: list[str], words: list[str],
             timeout_s: float | None = None, **run) -> subprocess.CompletedProcess:
    """Runs `program` with these words on the ranks of a plan, as read_plan read it, in the simulated network. Status 124: timeout."""
    nodes = planned["nodes"]
    described = read_platform(platform, espalier)
    hosts = {node["name"] for node in described["nodes"] if not node.get("relay")}
    missing = [name for name in nodes if name not in hosts]
    if missing:
        raise Refusal(f"{plan}: /nodes: '{missing[0]}' is not a host of {platform}")
    try:
        wiring = wiring_of(described, planned=routes_of_plan(planned), forward=True)
    except Refusal as refusal:
        raise Refusal(f"{platform}: {refusal}") from None
    except (ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise Refusal(f"{plan}: malformed trees, so not a plan") from None
    rank_of = {host.name: rank for rank, host in enumerate(wiring.hosts)}
    host_ids = [f"host-{rank}" for rank in range(len(wiring.hosts))]
    with tempfile.TemporaryDirectory(prefix="espalier-smpi-") as work:
        xml, hosts = pathlib.Path(work) / "platform.xml", pathlib.Path(work) / "hosts"
        xml.write_text(simgrid_platform(wiring, host_ids))
        hosts.write_text("".join(f"{host_ids[rank_of[name]]}\n" for name in nodes))
        return run_simulated(xml, hosts, len(nodes), program, words, cfg, timeout_s, **run)
