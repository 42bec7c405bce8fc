"""Clusters of network namespaces: one namespace per host, with links limited as a wiring says.

Each host has two links into the namespace 'net': `ctl0`, unshaped, for starting programs, and `dat0`
for data. Between the hosts' data links, tc filters redirect packets from shaper to shaper. Each shaper
is a token bucket (HTB) with a short queue.

The names of the namespaces and of their folders in /etc/netns, the only things created outside them, start
with PREFIX, so that the next run finds and removes what a killed run has left. Only one cluster can exist at
a time; a lock makes others wait.
"""

import collections
import fcntl
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

from wiring import Refusal, Unavailable, Wiring, mbits

PREFIX = "espalier-bed-"
NET = f"{PREFIX}net"
LAUNCHER_ADDRESS = "10.77.0.254"
LOCK = pathlib.Path("/run/lock/espalier-cluster")
MOST_HOSTS = 64
LONGEST_IGNORED_S = 1e-3  # the namespaces' own latency is about 0.1 ms
MOST_BPS = 1.25e9
# Segmentation offload makes packets of up to 64 KiB, which a token bucket sends in bursts. Queues much
# longer than the window hide a slow link from TCP.
LARGEST_PACKET = 16384
QUEUE_BYTES = 262144
BURST_BYTES = 32768
UNLIMITED = "40gbit"
# BBR, the default of some kernels, underestimates the rate of a token bucket.
CONGESTION_CONTROL = "cubic"
HOST_SETTINGS = [
    "net.ipv4.tcp_slow_start_after_idle=0",
    "net.ipv4.tcp_no_metrics_save=1",
    "net.ipv4.tcp_wmem=4096 262144 1048576",
    "net.ipv4.tcp_rmem=4096 262144 4194304",
]


def _run(command: list[str], text: str | None = None) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        reason = (done.stderr.strip() or done.stdout.strip() or f"status {done.returncode}").splitlines()[0]
        raise Unavailable(f"{' '.join(command)}: {reason}")
    return done.stdout


def namespace_of(rank: int) -> str:
    return f"{PREFIX}{rank}"


def check_fits(wiring: Wiring, without_latency: bool) -> None:
    """Raises Refusal if namespaces cannot reproduce the wiring; adds notes on what they only approximate."""
    if len(wiring.hosts) > MOST_HOSTS:
        raise Refusal(f"{len(wiring.hosts)} hosts: a cluster can have at most {MOST_HOSTS}")
    rates = [rate for host in wiring.hosts for rate in (host.out_Bps, host.in_Bps, *host.to_Bps.values()) if rate is not None]
    fastest = max([*rates, *(rate for _, rate in wiring.links)], default=0.0)
    if fastest > MOST_BPS:
        raise Refusal(f"{mbits(fastest)} is faster than a cluster's {mbits(MOST_BPS)}; slow down all links with --scale")
    for (source, target), links in wiring.routes.items():
        twice = next((link for link in links if links.count(link) > 1), None)
        if twice is not None:
            raise Refusal(f"the route from '{wiring.hosts[source].name}' to '{wiring.hosts[target].name}' crosses "
                          f"{wiring.links[twice][0]} twice; on a cluster it can cross it only once")
    delay = max(wiring.delays_s.values(), default=0.0)
    if delay > LONGEST_IGNORED_S and not without_latency:
        raise Refusal(f"a route has a latency of {delay * 1e3:g} ms (with overheads), which a cluster cannot reproduce; "
                      "ignore latencies with --without-latency")
    if delay > 0:
        wiring.notes.append(f"latencies and overheads, up to {delay * 1e3:g} ms per route, are ignored")


def check_machine() -> None:
    """Raises Unavailable with the reason if this machine cannot run a cluster."""
    for program in ("ip", "tc", "sysctl", "unshare", "cc"):
        if not shutil.which(program):
            raise Unavailable(f"{program} is not installed")
    if os.geteuid() != 0:
        raise Unavailable("network namespaces need root (CAP_NET_ADMIN, CAP_SYS_ADMIN)")


def take_down() -> None:
    """Kills the processes in our namespaces, including those of a killed run, and removes the namespaces."""
    namespaces = [line.split()[0] for line in _run(["ip", "netns", "list"]).splitlines() if line.startswith(PREFIX)]
    for namespace in namespaces:
        for process in _run(["ip", "netns", "pids", namespace]).split():
            try:
                os.kill(int(process), signal.SIGKILL)
            except ProcessLookupError:
                pass
    for namespace in namespaces:
        _run(["ip", "netns", "del", namespace])
    for folder in pathlib.Path("/etc/netns").glob(f"{PREFIX}*"):
        shutil.rmtree(folder, ignore_errors=True)


class Cluster:
    """The platform's hosts, during a `with` block. Raises Unavailable if the cluster cannot be created."""

    def __init__(self, wiring: Wiring):
        self.wiring = wiring
        names = [host.name for host in wiring.hosts]
        is_usable = all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]{0,50}", name) for name in names)
        # What MPI_Get_processor_name returns: the platform's names if they are valid host names.
        self.host_names = names if is_usable else [f"host-{rank}" for rank in range(len(names))]

    def __enter__(self) -> "Cluster":
        check_machine()
        self._lock = _only_one()
        self._former_handlers = {number: signal.signal(number, _leave) for number in (signal.SIGTERM, signal.SIGHUP)}
        try:
            take_down()
            self._make()
        except BaseException as fault:
            self._end()
            if isinstance(fault, OSError):
                raise Unavailable(f"{fault.filename}: {fault.strerror}") from None
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        # Signals are ignored during the cleanup, which takes about a second and must be complete.
        signals = {number: signal.signal(number, signal.SIG_IGN) for number in (*self._former_handlers, signal.SIGINT)}
        try:
            take_down()
        finally:
            os.close(self._lock)
            for number, handler in {**signals, **self._former_handlers}.items():
                signal.signal(number, handler)

    def _make(self) -> None:
        count = len(self.wiring.hosts)
        for namespace in [NET, *map(namespace_of, range(count))]:
            _run(["ip", "netns", "add", namespace])
        self._write_host_names()
        net_links = ["link add name ctl0 type bridge", f"addr add {LAUNCHER_ADDRESS}/24 dev ctl0", "link set ctl0 up",
                     "link set lo up"]
        for rank in range(count):
            net_links += _host_links_in_net(rank)
        for index in range(len(self.wiring.links)):
            net_links += [f"link add name w{index}i type veth peer name w{index}o",
                          f"link set w{index}i gso_max_size {LARGEST_PACKET} up",
                          f"link set w{index}o gso_max_size {LARGEST_PACKET} up"]
        _run(["ip", "-n", NET, "-batch", "-"], "\n".join(net_links) + "\n")
        for rank in range(count):
            _run(["ip", "-n", namespace_of(rank), "-batch", "-"], "\n".join(_links_of_host(rank, count)) + "\n")
        with _allowed_congestion_control():
            for namespace in map(namespace_of, range(count)):
                _run(["ip", "netns", "exec", namespace, "sysctl", "-qw",
                      f"net.ipv4.tcp_congestion_control={CONGESTION_CONTROL}", *HOST_SETTINGS])
        for rank, host in enumerate(self.wiring.hosts):
            _run(["tc", "-n", namespace_of(rank), "-batch", "-"], "\n".join(_sending_shapers(rank, host)) + "\n")
        _run(["tc", "-n", NET, "-batch", "-"], "\n".join(self._net_shapers()) + "\n")

    def _write_host_names(self) -> None:
        lines = ["127.0.0.1 localhost", f"{LAUNCHER_ADDRESS} launcher"]
        lines += [f"{_address(rank)} {name}" for rank, name in enumerate(self.host_names)]
        for namespace in [NET, *map(namespace_of, range(len(self.host_names)))]:
            folder = pathlib.Path("/etc/netns") / namespace
            folder.mkdir(parents=True)
            (folder / "hosts").write_text("\n".join(lines) + "\n")

    def _net_shapers(self) -> list[str]:
        lines = []
        for rank, host in enumerate(self.wiring.hosts):
            if host.in_Bps is not None:
                lines += _one_rate(f"d{rank}", host.in_Bps)
        for index, (_, rate) in enumerate(self.wiring.links):
            lines += _one_rate(f"w{index}i", rate)
        redirects: dict[str, dict[tuple[int, int], str]] = collections.defaultdict(dict)
        for (source, target), links in self.wiring.routes.items():
            device = f"d{source}"
            for link in links:
                redirects[device][source, target] = f"w{link}i"
                device = f"w{link}o"
            redirects[device][source, target] = f"d{target}"
        for device, redirect in redirects.items():
            lines += _redirects(device, redirect)
        return lines


def _address(rank: int) -> str:
    return f"10.78.0.{rank + 1}"


def _hardware_address(rank: int) -> str:
    return f"02:e5:00:00:00:{rank + 1:02x}"


def _host_links_in_net(rank: int) -> list[str]:
    namespace = namespace_of(rank)
    return [f"link add name c{rank} type veth peer name ctl0 netns {namespace}",
            f"link set c{rank} master ctl0 up",
            f"link add name d{rank} type veth peer name dat0 address {_hardware_address(rank)} netns {namespace}",
            f"link set d{rank} gso_max_size {LARGEST_PACKET} up"]


def _links_of_host(rank: int, count: int) -> list[str]:
    lines = ["link set lo up",
             f"addr add 10.77.0.{rank + 1}/24 dev ctl0", "link set ctl0 up",
             f"addr add {_address(rank)}/24 dev dat0", f"link set dat0 gso_max_size {LARGEST_PACKET} up"]
    # The filters pass only IP, so ARP would get no answer.
    lines += [f"neigh add {_address(other)} lladdr {_hardware_address(other)} nud permanent dev dat0"
              for other in range(count) if other != rank]
    return lines


def _bits(rate: float | None) -> str:
    return UNLIMITED if rate is None else f"{max(1, round(rate * 8))}bit"


def _class(device: str, parent: str, name: str, rate: str, ceiling: str) -> str:
    return (f"class add dev {device} parent {parent} classid {name} htb rate {rate} ceil {ceiling} "
            f"burst {BURST_BYTES} cburst {BURST_BYTES} quantum 20000")


def _queue(device: str, name: str) -> str:
    return f"qdisc add dev {device} parent {name} bfifo limit {QUEUE_BYTES}"


def _one_rate(device: str, rate: float) -> list[str]:
    return [f"qdisc add dev {device} root handle 1: htb default 2", _class(device, "1:", "1:2", _bits(rate), _bits(rate)),
            _queue(device, "1:2")]


def _sending_shapers(rank: int, host) -> list[str]:
    """dat0: one class with the host's rate, and below it one class for each receiver with a limit."""
    if host.out_Bps is None and not host.to_Bps:
        return []
    out = _bits(host.out_Bps)
    lines = ["qdisc add dev dat0 root handle 1: htb default 2", _class("dat0", "1:", "1:1", out, out),
             _class("dat0", "1:1", "1:2", out, out), _queue("dat0", "1:2")]
    for receiver, rate in sorted(host.to_Bps.items()):
        name = f"1:{0x10 + receiver:x}"
        # A class may always use its own rate, even if its parent has no bandwidth left. Therefore the sum
        # of these rates does not exceed the parent's, and the classes borrow the rest.
        own = rate if host.out_Bps is None else min(rate, host.out_Bps / len(host.to_Bps))
        lines += [_class("dat0", "1:1", name, _bits(own), _bits(rate)), _queue("dat0", name),
                  f"filter add dev dat0 parent 1: protocol ip prio 1 u32 match ip dst {_address(receiver)}/32 flowid {name}"]
    return lines


def _redirects(device: str, redirect: dict[tuple[int, int], str]) -> list[str]:
    """The next device of packets from `device`: by receiver if that is unambiguous, otherwise by sender and receiver."""
    lines = [f"qdisc add dev {device} ingress"]
    by_receiver = collections.defaultdict(set)
    for (_, target), to in redirect.items():
        by_receiver[target].add(to)
    for target in sorted(by_receiver):
        matches = {f"match ip dst {_address(target)}/32": next(iter(by_receiver[target]))}
        if len(by_receiver[target]) > 1:
            matches = {f"match ip src {_address(source)}/32 match ip dst {_address(target)}/32": to
                       for (source, end), to in sorted(redirect.items()) if end == target}
        lines += [f"filter add dev {device} parent ffff: protocol ip prio 1 u32 {match} "
                  f"action mirred egress redirect dev {to}" for match, to in matches.items()]
    return lines


class _allowed_congestion_control:
    """Lets namespaces choose CONGESTION_CONTROL during a `with` block. The kernel's list is global to the machine."""

    FILE = pathlib.Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")

    def __enter__(self) -> None:
        self._former = self.FILE.read_text().split()
        if CONGESTION_CONTROL not in self._former:
            self._write([*self._former, CONGESTION_CONTROL])

    def __exit__(self, *_: object) -> None:
        if CONGESTION_CONTROL not in self._former:
            self._write(self._former)

    def _write(self, names: list[str]) -> None:
        try:
            self.FILE.write_text(" ".join(names))
        except OSError as error:
            raise Unavailable(f"{self.FILE}: {error.strerror}") from None


def _leave(number: int, _: object) -> None:
    raise SystemExit(128 + number)


def _only_one() -> int:
    """Takes the lock for the only cluster on this machine; the system releases it when the process ends."""
    try:
        descriptor = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise Unavailable(f"{LOCK}: {error.strerror}") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("run-on-cluster: waiting for another cluster on this machine", file=sys.stderr, flush=True)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor
