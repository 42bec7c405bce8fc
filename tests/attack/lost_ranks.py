"""Ranks that are killed or stopped in the middle: the run ends within its timeout and two seconds, with a status, and no
output has its final name unless it is whole."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import time

from lab import Finding
from script_settings import environment_of_scripts

TIMEOUT_S = 2
ALLOWED_S = TIMEOUT_S + 2
SLACK_S = 8  # for a machine that does other things meanwhile: what hangs does so for good


def plan(random, ranks, operation):
    """A plan by hand: one or two random trees, for any network."""
    names = [f"n{i}" for i in range(ranks)]
    root = random.randrange(ranks)

    def trees(up):
        made = []
        for _ in range(random.choice([1, 2])):
            order = [root] + random.sample([i for i in range(ranks) if i != root], ranks - 1)
            edges = [[random.choice(order[:i]), order[i]] for i in range(1, ranks)]
            made.append({"edges": [edge[::-1] for edge in reversed(edges)] if up else edges})
        for tree in made:
            tree["rate_Bps"] = 1e8 / len(made)
        return made

    return {"format": "espalier-plan", "version": 1, "operation": operation, "platform": "any", "source": names[root], "model": "one-port",
            "algorithm": "by hand", "nodes": names, "slice_bytes": random.choice([1000, 65536, 524288]), "throughput_Bps": 1e8,
            "optimum_Bps": None, **({"reduce_trees": trees(True)} if operation != "broadcast" else {}),
            **({"broadcast_trees": trees(False)} if operation != "reduce" else {})}


def attack(lab, random):
    ranks = random.choice([2, 3, 4])
    operation = random.choice(["broadcast", "broadcast", "reduce", "allreduce"])
    os.mkfifo(lab.folder / "plan")
    words = [{"broadcast": "bcast"}.get(operation, operation), "plan", "--timeout", f"{TIMEOUT_S}s"]
    copies = operation == "broadcast" and random.random() < 0.6
    if copies:
        lab.write("in.bin", random.randbytes(1_000_003) * random.choice([1, 30, 60]))
        # --resume keeps .espalier-NAME.part and its record on purpose.
        words += ["--in", "in.bin", "--out", "out-{rank}.bin"] + random.choice([[], ["--verify"], ["--resume"]])
    else:
        words += ["--message", random.choice(["8MiB", "64MiB"]), "--repeat", "1000"] + random.choice([[], ["--verify"]])
    run(lab, random, ranks, words, copies, json.dumps(plan(random, ranks, operation)))


def run(lab, random, ranks, words, copies, plan_text):
    command = ["mpirun", "-n", str(ranks), str(lab.programs / "espalier-mpi"), *words]
    with open(lab.folder / "messages", "wb") as messages:
        mpirun = subprocess.Popen(command, cwd=lab.folder, env=environment_of_scripts(), stdin=subprocess.DEVNULL, stdout=messages,
                                  stderr=subprocess.STDOUT, start_new_session=True)
        victims = []
        try:
            give_plan(lab.folder / "plan", plan_text)
            victims = hit(random, mpirun)
            begin = time.monotonic()
            try:
                mpirun.wait(ALLOWED_S + SLACK_S)
            except subprocess.TimeoutExpired:
                if all(map(is_stopped, ranks_of(mpirun))):  # mpirun itself (docs/runtime.md, "Timeouts")
                    return
                raise Finding(f"'{' '.join(command)}' did not end within {ALLOWED_S} + {SLACK_S} s after {victims}: {said(lab)}") from None
            seconds = time.monotonic() - begin
        finally:
            end(mpirun)
    check(lab, f"'{' '.join(command)}', after {victims}, {seconds:.1f} s", mpirun.returncode, victims, copies, ranks)


def give_plan(fifo, text):
    """Writes the plan when rank 0 reads it: MPI_Init, which no rank can bound, is over by then."""
    deadline = time.monotonic() + 60
    while True:
        try:
            pipe = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError:  # nobody reads it yet
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
    os.set_blocking(pipe, True)
    with open(pipe, "w", encoding="utf-8") as file:
        file.write(text)


def hit(random, mpirun):
    """Kills or stops one rank, or two, at a random moment; (what, rank) of each, none where the run was faster."""
    children = ranks_of(mpirun)
    time.sleep(random.choice([0, 0.05, 0.3, 1]) * random.random())
    victims = []
    most = max(1, len(children) - 1)  # one is left to notice
    for index in random.sample(range(len(children)), min(len(children), most, random.choice([1, 1, 1, 2]))):
        what = random.choice([signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM])
        with contextlib.suppress(ProcessLookupError):
            os.kill(children[index], what)
            victims.append((what.name, f"child {index}"))
    return victims if mpirun.poll() is None else []


def ranks_of(mpirun):
    """The processes that mpirun has started."""
    with contextlib.suppress(OSError):
        children = pathlib.Path(f"/proc/{mpirun.pid}/task/{mpirun.pid}/children").read_text().split()
        return [int(child) for child in children if (pathlib.Path("/proc") / child / "comm").read_text().startswith("espalier-mpi")]
    return []


def is_stopped(process):
    with contextlib.suppress(OSError):
        return re.search(r"^State:\s+[TtZX]", pathlib.Path(f"/proc/{process}/status").read_text(), re.M) is not None
    return True


def end(mpirun):
    """Ends what is left of the run: the ranks are in process groups of their own."""
    for child in [*ranks_of(mpirun), mpirun.pid]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    mpirun.wait()


def said(lab):
    return (lab.folder / "messages").read_text(errors="replace")[-1500:]


def check(lab, what, status, victims, copies, ranks):
    if status == 0 and not copies and victims:
        raise Finding(f"{what}: ended with status 0: {said(lab)}")
    outputs = sorted(lab.folder.glob("out-*"))
    given = (lab.folder / "in.bin").read_bytes() if copies else b""
    for path in outputs:
        if path.read_bytes() != given:
            raise Finding(f"{what}: {path.name} is not whole: {said(lab)}")
    if copies and status == 0 and len(outputs) < ranks:
        raise Finding(f"{what}: status 0, but only {len(outputs)} outputs: {said(lab)}")
    left = [path.name for path in lab.folder.iterdir() if path.name.startswith(".espalier") and ".part" not in path.name]
    if left:
        raise Finding(f"{what}: left {left}: {said(lab)}")
