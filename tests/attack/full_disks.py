"""Writing where there is no space: a status that says so, no half of a file, and what was there before as it was."""

import contextlib
import os
import subprocess

from lab import Finding, check_end
from networks import hosts_of, platform

OLD = "the file that was there before\n"


@contextlib.contextmanager
def small_disk(lab, size):
    """A folder `disk` that holds `size` bytes, or None where this user may not mount one."""
    folder = lab.folder / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)


def commands(random, source):
    """(arguments, the output's name)"""
    problem = ["../p.json", f"--source={source}"]
    return random.choice([
        (["plan", *problem, "-o"], "plan.json"), (["convert", "../p.json", "-o"], "q.json"), (["convert", "../p.json", "-o"], "q.xml"),
        (["convert", "../p.json", "-o"], "q.dot"), (["convert", "../p.json", "-o"], "q.graphml"), (["show", "../p.json", "-o"], "q.svg"),
        (["show", "../p.json", "-o"], "q.png"), (["show", "../p.json", "-o"], "q.gv.dot"), (["generate", "star", "--hosts", "300", "-o"], "s.json"),
        (["decide", "--preset", "frodo", "-o"], "d.svg"), (["decide", "--preset", "frodo", "--open-mpi-rules"], "d.conf"),
        (["fit", "../times.csv", "-o"], "f.json"), (["simulate", "../plan.json", "--platform", "../p.json", "--message", "1MiB", "--segment", "4KiB", "--trace"], "t.json"),
        (["generate", "star", "--hosts", "60", "--count", "3", "-o"], "many"),
        (["study", "files", "../p.json", "--models", "one-port", "--algorithm", "grow", "-o"], "study")])


def attack(lab, random):
    case = platform(random, plain=True)
    lab.write_json("p.json", case)
    source = random.choice(hosts_of(case))
    lab.checked("plan", "p.json", "--source", source, "-q", "-o", "plan.json", outputs=["plan.json"])
    with open(lab.folder / "times.csv", "wb") as file:
        lab.run("decide", "--preset", "frodo", "--ranks", "4,8", "--sizes", "1KiB..64KiB", "--every", "--csv", stdout=file)
    random.choice([standard_output, limited, limited, on_a_disk, on_a_disk])(lab, random, source)


def standard_output(lab, random, source):
    words = random.choice([["list", "--json"], ["plan", "p.json", f"--source={source}"], ["show", "p.json"], ["convert", "p.json", "-o", "-"],
                           ["compare", "p.json", "--algorithm", "grow"], ["bound", "p.json", f"--source={source}", "--csv"], ["--help"],
                           ["generate", "star"], ["decide", "--preset", "frodo", "--json"], ["verify", "plan.json", "--platform", "p.json"]])
    with open("/dev/full", "wb") as full:
        ended = lab.run(*words, stdout=full)
    if ended.status != 2 or len(ended.refusals()) != 1:
        raise Finding(f"'{ended.command()}' > /dev/full ended with status {ended.status}: {ended.err!r}")
    ended = lab.run(*random.choice([["plan", "p.json", f"--source={source}"], ["convert", "p.json", "--to", "json"]]), "-o", "/dev/full")
    if ended.status != 2 or "/dev/full" not in ended.err:
        raise Finding(f"'{ended.command()}' ended with status {ended.status}: {ended.err!r}")


def limited(lab, random, source):
    """No file may be larger than this."""
    folder = lab.folder / "disk"
    folder.mkdir()
    words, name = commands(random, source)
    write_into(lab, random, folder, words, name, file_limit=random.choice([0, 1, 100, 1000, 4096]))


def on_a_disk(lab, random, source):
    with small_disk(lab, 4096 * random.randint(1, 3)) as folder:
        if folder is None:
            return
        words, name = commands(random, source)
        filled = random.choice([0, 3000, 4096, 8192, 12288])
        with contextlib.suppress(OSError):
            (folder / "filler").write_bytes(bytes(filled))
        write_into(lab, random, folder, words, name)


def write_into(lab, random, folder, words, name, **limits):
    is_folder = "." not in name
    old = False
    if not is_folder and random.random() < 0.5:
        with contextlib.suppress(OSError):
            (folder / name).write_text(OLD)
        old = (folder / name).exists()
        before = (folder / name).read_bytes() if old else b""
    kept = set(folder.iterdir())
    lab.folder, outside = folder, lab.folder
    try:
        ended = lab.run(*words, name, **limits)
    finally:
        lab.folder = outside
    check_end(ended)
    if ended.status == 0:
        if not is_folder and (folder / name).stat().st_size == 0:
            raise Finding(f"'{ended.command()}' wrote an empty file")
        if name.endswith(".json"):
            lab.read_json(f"disk/{name}")
        return
    if ended.status != 2:
        raise Finding(f"'{ended.command()}' ended with status {ended.status}: {ended.err!r}")
    if old and (folder / name).read_bytes() != before:
        raise Finding(f"'{ended.command()}' failed and changed the file that was there before")
    left = [str(path.relative_to(folder)) for path in folder.rglob("*") if path not in kept and (not is_folder or path.name.startswith("."))]
    if left and words[0] != "study":
        raise Finding(f"'{ended.command()}' failed and left {left}")
