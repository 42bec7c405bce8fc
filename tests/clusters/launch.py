"""Runs MPI programs on the hosts of a cluster, with one or more ranks per host, with Open MPI or MPICH."""

import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from namespaces import NET, Cluster, namespace_of
from wiring import Refusal, Unavailable

HERE = pathlib.Path(__file__).resolve().parent
TIMED_OUT = 124  # as timeout(1)
WORK_PREFIX = "espalier-cluster-"
NAP_NS = 50000  # the length of a nap in patient.c, with few ranks
FEW_RANKS = 8  # per processor


@dataclasses.dataclass
class Launch:
    mpi: str = "openmpi"  # or mpich
    ranks: int | None = None  # on the first hosts; None: per_host on every host
    per_host: int = 1  # consecutive ranks on each host
    environment: dict[str, str] = dataclasses.field(default_factory=dict)  # of the ranks
    options: list[str] = dataclasses.field(default_factory=list)  # further arguments of mpirun
    timeout_s: float = 300


class Launcher:
    """Launches programs on `cluster` during a `with` block."""

    def __init__(self, cluster: Cluster):
        self._cluster = cluster

    def __enter__(self) -> "Launcher":
        # A killed run leaves its folder. There is one cluster at a time, so others are such.
        for folder in pathlib.Path(tempfile.gettempdir()).glob(f"{WORK_PREFIX}*"):
            shutil.rmtree(folder, ignore_errors=True)
        self._work = tempfile.TemporaryDirectory(prefix=WORK_PREFIX)
        self._patient = str(pathlib.Path(self._work.name) / "patient.so")
        done = subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", self._patient, str(HERE / "patient.c"), "-ldl"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise Unavailable(f"cc cannot compile patient.c: {done.stderr.strip().splitlines()[0]}")
        return self

    def __exit__(self, *_: object) -> None:
        self._work.cleanup()

    def run(self, launch: Launch, command: list[str], **popen: object) -> subprocess.CompletedProcess:
        """Runs `command` on the ranks; **popen says where its output goes. Returns TIMED_OUT after the timeout."""
        program = shutil.which(command[0])
        if not program:
            raise Refusal(f"{command[0]}: no such program")
        hosts = self._cluster.host_names
        slots = len(hosts) * launch.per_host
        ranks = slots if launch.ranks is None else launch.ranks
        if not 1 <= ranks <= slots:
            raise Refusal(f"{ranks} ranks: the platform has {len(hosts)} hosts" +
                          (f", for {launch.per_host} ranks each" if launch.per_host > 1 else ""))
        used = hosts[:-(-ranks // launch.per_host)]
        command_line = _COMMAND_LINES[launch.mpi](launch, used, ranks, self._environment(launch, ranks))
        # In a session of its own mpirun cannot read a terminal.
        popen.setdefault("stdin", subprocess.DEVNULL if sys.stdin is None or sys.stdin.isatty() else None)
        environment = dict(os.environ)
        environment["CLUSTER_NAMESPACES"] = " ".join(f"{name}={namespace_of(rank)}" for rank, name in enumerate(hosts))
        environment["PATH"] = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
        process = subprocess.Popen(["ip", "netns", "exec", NET, "unshare", "--uts", "sh", "-c", 'hostname launcher; exec "$@"',
                                    "sh", *command_line, program, *command[1:]],
                                   env=environment, start_new_session=True, **popen)
        try:
            output, errors = process.communicate(timeout=launch.timeout_s)
            return subprocess.CompletedProcess(command, process.returncode, output, errors)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, TIMED_OUT, *self._end(process))
        except BaseException:
            self._end(process)
            raise

    def _environment(self, launch: Launch, ranks: int) -> dict[str, str]:
        preload = " ".join(filter(None, [self._patient, launch.environment.get("LD_PRELOAD")]))
        # With twice the ranks per processor, each polls half as often and at most half of them may be awake at a time.
        crowd = max(1.0, ranks / FEW_RANKS / len(os.sched_getaffinity(0)))
        return {"PATIENT_NAP_NS": str(round(NAP_NS * crowd**2)), **launch.environment, "LD_PRELOAD": preload}

    def _end(self, process: subprocess.Popen) -> tuple:
        """Ends the process group that we started. SIGTERM comes first: mpirun passes it on to the ranks."""
        for number, seconds in ((signal.SIGTERM, 3), (signal.SIGKILL, 10)):
            try:
                os.killpg(process.pid, number)
            except ProcessLookupError:
                pass
            try:
                return process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                continue
        return (None, None)


def _mpirun(mpi: str) -> str:
    name = f"mpirun.{mpi}"
    if not shutil.which(name):
        raise Unavailable(f"{name} is not installed")
    return name  # if given a path, Open MPI would use its folder as --prefix


def _open_mpi(launch: Launch, hosts: list[str], ranks: int, environment: dict[str, str]) -> list[str]:
    agent = str(HERE / "launch_agent")
    settings = {"plm": "rsh", "plm_rsh_agent": agent, "plm_rsh_no_tree_spawn": "1", "oob_tcp_if_include": "ctl0",
                "pml": "ob1", "btl": "vader,tcp,self", "btl_tcp_if_include": "dat0", "mpi_yield_when_idle": "1",
                "orte_base_help_aggregate": "0"}
    slots = ",".join(f"{host}:{launch.per_host}" for host in hosts)
    line = [_mpirun("openmpi"), "--allow-run-as-root", "--bind-to", "none", "--map-by", "slot", "--host", slots, "-n", str(ranks)]
    for name, value in settings.items():
        line += ["--mca", name, value]
    for name, value in environment.items():
        line += ["-x", f"{name}={value}"]
    return line + launch.options


def _mpich(launch: Launch, hosts: list[str], ranks: int, environment: dict[str, str]) -> list[str]:
    # Without UCX_TLS, MPICH would use shared memory between all ranks, despite the namespaces. With it, ranks of one host
    # use TCP as well.
    line = [_mpirun("mpich"), "-launcher", "ssh", "-launcher-exec", str(HERE / "launch_agent"), "-iface", "ctl0",
            "-disable-hostname-propagation", "-bind-to", "none", "-hosts", ",".join(hosts), "-n", str(ranks),
            "-ppn", str(launch.per_host)]
    for name, value in {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "dat0", **environment}.items():
        line += ["-genv", name, value]
    return line + launch.options


_COMMAND_LINES = {"openmpi": _open_mpi, "mpich": _mpich}
MPIS = tuple(_COMMAND_LINES)
