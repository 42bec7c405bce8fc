"""Damaged files through the commands that read them: a status of the list, one line that names the file, no half of an
output, no crash and no hang."""

import functools
import json

from damage import damaged
from lab import Finding, check_end
from lost_ranks import plan
from networks import OPERATIONS, hosts_of, platform
from reference import MODELS
from script_settings import ROOT

LARGEST = 60_000  # bytes of a file to damage
LIMIT = ["--time-limit", "2s"]
OF_A_FORMAT = {"slurm_conf": ["--level-bandwidth", "1Gbit/s,1Gbit/s,1Gbit/s"], "slurm_yaml": ["--level-bandwidth", "1Gbit/s,1Gbit/s"],
               "nvidiatopo": ["--class-rate", "NV=25GB/s,PIX=12GB/s,PXB=12GB/s,SYS=9GB/s,PHB=9GB/s,NODE=9GB/s"]}


@functools.lru_cache
def corpus():
    """(file, options for reading it): small samples and the corpora of the parsers."""
    files = [(path, []) for path in (ROOT / "platforms/data").rglob("*") if path.is_file()]
    for folder in (ROOT / "tests/platforms/corpus").iterdir():
        files += [(path, OF_A_FORMAT.get(folder.name, [])) for path in folder.iterdir()]
    return sorted((path, options) for path, options in files
                  if path.stat().st_size <= LARGEST and "LICENSE" not in path.name and path.suffix != ".md")


@functools.lru_cache
def others(folder):
    return sorted((ROOT / folder).iterdir())


def attack(lab, random):
    kinds = [of_platform] * 9 + [of_plan] * 6 + [of_parameters, of_times] * 2
    if (lab.programs / "espalier-mpi").exists():
        kinds.append(of_a_run)  # few: mpirun takes long
    random.choice(kinds)(lab, random)


def of_platform(lab, random):
    if random.random() < 0.5:
        path, reading = random.choice(corpus())
        name = "damaged" + path.suffix
        content = path.read_bytes()
    else:
        name, reading = "damaged.json", []
        lab.write_json("whole.json", platform(random))
        content = (lab.folder / "whole.json").read_bytes()
    lab.write(name, damaged(random, content))
    names = [name]
    made = lab.checked("convert", name, *reading, "-o", "read.json", names=names, outputs=["read.json"])
    source = "a"
    if made.status == 0:
        document = lab.read_json("read.json")
        source = random.choice(hosts_of(document) or ["a"])
        names = [name, document["name"] or "platform", "--source", "algorithm "]
    problem = [name, f"--source={source}", "--model", random.choice(MODELS), "--operation", random.choice(OPERATIONS), *reading, *LIMIT]
    commands = [
        (["plan", *problem, "-o", "plan.json", "--algorithm", random.choice(["optimal", "best-tree", "grow", "chain"])], ["plan.json"]),
        (["compare", *problem, "--algorithm", "optimal,grow,binomial", random.choice(["--json", "--csv"])], []),
        (["bound", *problem, random.choice(["--json", "--csv", "--top=3"])], []),
        (["explain", *problem, "--top", "1"], []),
        (["explain", name, "--source", "each", *reading, *LIMIT, "--json"], []),
        (["show", name, *reading, "--json"], []),
        (["show", name, *reading, "-o", "pic.dot"], ["pic.dot"]),
        (["convert", name, *reading, "-o", "out.csv", "--to", random.choice(["edges", "matrix"])], ["out.csv"]),
        (["convert", name, *reading, "-o", "out.xml"], ["out.xml"]),
        (["convert", name, *reading, "-o", "out.graphml"], ["out.graphml"]),
        (["convert", name, *reading, "-o", "out.dot"], ["out.dot"]),
    ]
    for words, outputs in random.sample(commands, 3):
        # What cannot be written or planned is refused by what it is, not by the file that was read well.
        lab.checked(*words, names=names if made.status == 2 else None, outputs=outputs)


def of_plan(lab, random):
    lab.write_json("platform.json", platform(random, plain=True))
    case = lab.read_json("platform.json")
    words = ["--source", random.choice(hosts_of(case)), "--algorithm", random.choice(["optimal", "chain", "two-tree-sanders"])]
    words += ["--operation", random.choice(OPERATIONS)] if words[-1] != "two-tree-sanders" else []
    words += ["--schedule"] if random.random() < 0.3 else []
    if lab.checked("plan", "platform.json", *words, "-q", "-o", "whole.json", outputs=["whole.json"]).status != 0:
        return
    lab.write("plan.json", damaged(random, (lab.folder / "whole.json").read_bytes()))
    names = ["plan.json"]
    known = ["--platform", "platform.json"]
    ended = lab.checked("verify", "plan.json", *known, *LIMIT, random.choice(["--json", "--gap=1e-4"]), names=names)
    commands = [["simulate", "plan.json", *known, "--message", "1MiB", *LIMIT],
                ["simulate", "plan.json", *known, "--message", "100KiB", "--segment", "10KiB", "--json", *LIMIT],
                ["show", "plan.json", *known, "--json"],
                ["explain", "platform.json", "--plan", "plan.json", "--top", "1", *LIMIT]]
    for words in random.sample(commands, 2):
        lab.checked(*words, names=[*names, "--message"] if ended.status == 2 else None)


def of_a_run(lab, random):
    """The files that rank 0 of an mpirun reads: a plan, decisions, tuned segments."""
    ranks = 3
    operation = random.choice(OPERATIONS)
    lab.write_json("plan.json", plan(random, ranks, operation))
    words = [{"broadcast": "bcast"}.get(operation, operation), "--message", "64KiB", "--verify", "--timeout", "20s", "--json"]
    what = random.choice(["plan", "plan", "decisions", "tuned"])
    if what == "plan":
        lab.write("damaged.json", damaged(random, (lab.folder / "plan.json").read_bytes()))
        words += ["damaged.json"]
    else:
        lab.write("damaged.json", damaged(random, random.choice(others("tests/runtime/corpus/" + {"tuned": "tuned_slices"}.get(what, what))).read_bytes()))
        words += (["plan.json"] if what == "tuned" else []) + [f"--{what}", "damaged.json"]
    ended = lab.run(*words, program="espalier-mpi", ranks=ranks)
    ended.err = "\n".join(line for line in ended.err.split("\n") if line.startswith("espalier-mpi: "))
    # A plan that is whole, but for another number of ranks, is refused by what it is.
    check_end(ended, names=["damaged.json", "the plan has", "--message", "rank 0 on"])
    if ended.status == 0 and not json.loads(ended.out)["verified"]:
        raise Finding(f"'{ended.command()}' is not verified: {ended.out}")


def of_parameters(lab, random):
    lab.write("p.json", damaged(random, random.choice(others("tests/cost_models/corpus/parameters")).read_bytes()))
    lab.checked("predict", "--parameters", "p.json", "--ranks", "8", "--message", "1MiB", "--json")
    lab.checked("decide", "--parameters", "p.json", "--ranks", "3,8", "--sizes", "1KiB,1MiB", "--json")


def of_times(lab, random):
    path = random.choice(others("tests/cli/corpus/measured_times"))
    name = "times" + path.suffix
    lab.write(name, damaged(random, path.read_bytes()))
    lab.checked("fit", name, "--model", random.choice(["loggp", "hockney", "plogp"]), "-o", "fit.json", outputs=["fit.json"], names=[name])
    lab.checked("decide", "--preset", "frodo", "--ranks", "4,8", "--sizes", "1KiB,1MiB", "--against", name, "--json", names=[name])
