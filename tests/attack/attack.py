#!/usr/bin/env python3
"""Tries to break Espalier: random cases of each kind, each run by its number.

    attack.py [--runs N] [--seed S] [--jobs J] [--programs FOLDER] [--keep FOLDER] [KIND...]

Run i of a kind uses the seed S + i, so that `--seed 17 --runs 1 KIND` repeats run 17. What is found is printed with its
seed, and the files of the case are kept. Exits with 1 if anything was found."""

import argparse
import concurrent.futures
import importlib
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time
import traceback

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1] / "support")]
from lab import Finding, Lab
from script_settings import ROOT

# kind: what it attacks; each is a module with attack(lab, random), which is False where the case was none.
KINDS = {
    "optima": "random small platforms against a linear program over all arborescences",
    "false_plans": "plans and schedules that are changed, against a check of our own",
    "damaged_files": "damaged platforms, plans, parameters and times through every command that reads them",
    "odd_names": "odd names of nodes, platforms and files through all formats",
    "extreme_numbers": "rates, times and sizes at the ends of what numbers can be",
    "full_disks": "full disks: a status, and no half of a file",
    "lost_ranks": "ranks that are killed or stopped",
}


def run_case(kind, seed, programs, keep):
    """One case in a folder of its own: (whether it was one, what was found)."""
    module = importlib.import_module(kind)
    with tempfile.TemporaryDirectory(prefix="espalier-attack-") as folder:
        try:
            return module.attack(Lab(folder, programs), random.Random(f"{kind} {seed}")) is not False, None
        except Finding as finding:
            what = str(finding)
        except Exception:  # a fault of the attack itself is to be seen, too
            what = traceback.format_exc()
        kept = pathlib.Path(keep) / f"{kind}-{seed}"
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder, kept, symlinks=True, ignore=lambda at, names: [
            name for name in names if not (pathlib.Path(at) / name).is_dir() and not (pathlib.Path(at) / name).is_file()])
        return True, f"{kind}, seed {seed}: {what}\n  files: {kept}"


def attack(kind, options):
    begin = time.monotonic()
    runs = findings = 0
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        seeds = range(options.seed, options.seed + options.runs)
        cases = pool.map(run_case, [kind] * len(seeds), seeds, [options.programs] * len(seeds), [options.keep] * len(seeds))
        for was_case, finding in cases:
            runs += was_case
            if finding:
                findings += 1
                print(finding, flush=True)
    print(f"{kind}: {runs} runs, {findings} findings, {time.monotonic() - begin:.0f} s", flush=True)
    return findings


def main():
    parser = argparse.ArgumentParser(description="Tries to break Espalier.", epilog="kinds: " + "; ".join(
        f"{kind} ({what})" for kind, what in KINDS.items()))
    parser.add_argument("--runs", type=int, default=1000, help="cases of each kind (1000)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first case (1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases at a time")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release/cli", help="folder of espalier and espalier-mpi")
    parser.add_argument("--keep", type=pathlib.Path, default=pathlib.Path("attack-findings"), help="where files of findings are kept")
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    options = parser.parse_args()
    unknown = [kind for kind in options.kinds if kind not in KINDS]
    if unknown:
        parser.error(f"unknown kind '{unknown[0]}'; one of: {', '.join(KINDS)}")
    options.programs = options.programs.resolve()
    options.keep = options.keep.resolve()
    if not os.access(options.programs / "espalier", os.X_OK):
        parser.error(f"{options.programs}/espalier: no such program; build it first")
    sys.exit(1 if sum(attack(kind, options) for kind in options.kinds or KINDS) else 0)


if __name__ == "__main__":
    main()
