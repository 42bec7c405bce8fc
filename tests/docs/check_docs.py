#!/usr/bin/env python3
"""Runs every command that README.md and the pages of docs/ show, and compares what it prints with what the page shows.

    check_docs.py [--update] PROGRAMS [PAGE...]

PROGRAMS is the folder of the built programs (build/ci/cli). Each page has a folder of its own, in which its commands run
one after the other, so that a later one reads what an earlier one wrote. Which blocks are not run, and why, is said in
comments of the page (pages.py); what may differ is in outputs.py. --update writes into the pages what came.
Prints how many commands were run, compared and excepted; exits with 1 where a page is not true."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parents[1] / "support")]
from outputs import agree, difference, lines_of, renewed
from pages import PageError, blocks_of, steps_of
from script_settings import ROOT, environment_of_scripts

LONGEST_S = 300  # a command that takes longer is stopped


class Page:
    """A page, and what came of running it."""

    def __init__(self, path, root=ROOT):
        self.path = path
        self.root = root
        self.name = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
        self.text = path.read_text()
        self.faults = []
        self.counts = collections.Counter()
        self.reasons = collections.Counter()
        self.slowest = (0.0, "")
        self.changes = []  # (first line, number of lines, new lines)

    def fault(self, place, what, details=""):
        self.faults.append(f"{place}: {what}" + (f"\n{details}" if details else ""))

    def run(self, programs, environment):
        with tempfile.TemporaryDirectory(prefix="espalier-docs-") as folder:
            for name in ("platforms", "examples", "tests", "scripts"):
                (pathlib.Path(folder) / name).symlink_to(self.root / name)
            (pathlib.Path(folder) / "build").mkdir()
            shell = Shell(folder, {**environment, "PATH": f"{programs}:{environment['PATH']}"})
            try:
                blocks = blocks_of(self.name, self.text)
            except PageError as error:
                self.faults.append(str(error))
                return self
            for block in blocks:
                try:
                    self.run_block(block, shell)
                except PageError as error:
                    self.faults.append(str(error))
        return self

    def run_block(self, block, shell):
        reasons = block.texts("not run")
        if reasons:
            self.counts["not run"] += 1
            self.reasons[reasons[0]] += 1
            return
        for command in block.texts("run first"):
            status, output = shell.run(command)
            if status != 0:
                self.fault(block.place(), f"'run first: {command}' ended with status {status}", output)
        steps = steps_of(block) if block.has_commands() else []
        for name in block.texts("file"):
            shown = [step.shown for step in steps if step.command == f"cat {name}"] or [block.lines]
            shell.write(name, "\n".join(shown[0]) + "\n")
        self.counts["blocks"] += bool(steps)
        for step in steps:
            self.run_step(block, step, shell)

    def run_step(self, block, step, shell):
        place = f"{self.name}:{step.first + 1}"
        begin = time.monotonic()
        status, output = shell.run(step.command)
        self.slowest = max(self.slowest, (time.monotonic() - begin, f"{place}: {step.command}"))
        self.counts["commands"] += 1
        lines = lines_of(output)
        refuses = any(line.startswith(("espalier: ", "espalier-mpi: ")) for line in step.shown)
        if status >= 126 or status == 1 or (status != 0 and not refuses):
            self.fault(place, f"'{step.command}' ended with status {status}", output)
            return
        if block.texts("not compared"):
            return
        self.counts["compared"] += 1
        if agree(step.shown, lines):
            return
        self.fault(place, f"'{step.command}' prints something else (- shown, + printed)", difference(step.shown, lines))
        new = renewed(step.shown, lines)
        if new is not None:
            self.changes.append((step.first + step.command_lines, len(step.shown), [" " * block.indent + x if x else x for x in new]))

    def update(self):
        """Writes what came into the page; the number of differences that a person has to look at."""
        lines = self.text.split("\n")
        for first, count, new in sorted(self.changes, reverse=True):
            lines[first:first + count] = new
        if self.changes:
            self.path.write_text("\n".join(lines))
        return len(self.faults) - len(self.changes)


class Shell:
    """Runs commands in a folder."""

    def __init__(self, folder, environment):
        self.folder = folder
        self.environment = environment

    def run(self, command):
        """The status and what was printed to both stdout and stderr."""
        try:
            done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LONGEST_S, check=False)
        except subprocess.TimeoutExpired:
            return 124 + 128, f"stopped after {LONGEST_S} s"
        return done.returncode, done.stdout.decode("utf-8", "replace")

    def write(self, name, text):
        (pathlib.Path(self.folder) / name).write_text(text)


def report(pages):
    counts = sum((page.counts for page in pages), collections.Counter())
    reasons = sum((page.reasons for page in pages), collections.Counter())
    for page in pages:
        for fault in page.faults:
            print(fault)
    print(f"{len(pages)} pages: {counts['blocks']} blocks with {counts['commands']} commands were run, the output of "
          f"{counts['compared']} compared; {counts['not run']} blocks are excepted:")
    for reason, count in reasons.most_common():
        print(f"  {count:3}  {reason}")
    seconds, command = max(page.slowest for page in pages)
    print(f"slowest: {seconds:.1f} s, {command}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--update", action="store_true")
    parser.add_argument("programs", type=pathlib.Path)
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    paths = [path.resolve() for path in options.pages] or [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    programs = options.programs.resolve()
    if not os.access(programs / "espalier", os.X_OK):
        sys.exit(f"check_docs: {programs}/espalier: no such program; build it first")
    environment = environment_of_scripts()
    pages = sorted((Page(path) for path in paths), key=lambda page: -len(page.text))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        pages = list(pool.map(lambda page: page.run(programs, environment), pages))
    report(pages)
    faults = sum(len(page.faults) for page in pages)
    if options.update:
        left = sum(page.update() for page in pages)
        print(f"{faults - left} outputs updated, {left} faults left to mend by hand")
        sys.exit(1 if left else 0)
    if faults:
        print(f"{faults} faults; scripts/update-docs writes into the pages what the commands print")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
