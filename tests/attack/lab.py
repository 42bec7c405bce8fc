"""Runs Espalier in a folder of its own, and says what is wrong with how a command ended."""

import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import time

from script_settings import environment_of_scripts

LONGEST_S = 60  # a command that takes longer hangs; all that can last are given a limit of their own
MESSAGE = re.compile(r"^espalier(-mpi)?: ")
# Lines beside the one that refuses: notes, warnings, and progress of what takes over a second.
BESIDE = re.compile(r"^espalier(-mpi)?: (note: |warning: |.*: \d+\.\d s($|, )|.*: laying out and drawing$)")


class Finding(Exception):
    """Something that Espalier should not do."""


class Ended:
    def __init__(self, words, status, out, err, seconds):
        self.words = words
        self.status = status
        self.out = out
        self.err = err
        self.seconds = seconds

    def command(self):
        return " ".join(word if re.fullmatch(r"[\w./,:=+-]+", word) else repr(word) for word in self.words)

    def of_several(self):
        """Whether the command has several results, and reports in the table the ones that there are not."""
        return self.words[1] in ("compare", "study") or "each" in self.words

    def refusals(self):
        return [line for line in self.err.split("\n") if line and not BESIDE.match(line)]


def _strict(number):
    raise Finding(f"JSON with {number}")


class Lab:
    """A folder, and the program to attack in it."""

    def __init__(self, folder, programs):
        self.folder = pathlib.Path(folder)
        self.programs = pathlib.Path(programs)

    def write(self, name, content):
        mode = "wb" if isinstance(content, bytes) else "w"
        with open(self.folder / name, mode, **({} if mode == "wb" else {"encoding": "utf-8", "newline": ""})) as file:
            file.write(content)

    def write_json(self, name, value):
        self.write(name, json.dumps(value, ensure_ascii=False))

    def read_json(self, name):
        return json.loads((self.folder / name).read_text(encoding="utf-8"), parse_constant=_strict)

    def files(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if not path.is_dir())

    def run(self, *words, program="espalier", ranks=None, stdout=None, file_limit=None):
        """Runs the program with these arguments, on `ranks` of mpirun. A limit on files makes writes fail, as on a full
        disk."""
        def prepare():
            if file_limit is not None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))

        begin = time.monotonic()
        launcher = ["mpirun", "-n", str(ranks)] if ranks else []
        process = subprocess.Popen([*launcher, str(self.programs / program), *words], cwd=self.folder,
                                   env=environment_of_scripts() if ranks else os.environ, stdin=subprocess.DEVNULL,
                                   stdout=stdout or subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=prepare)
        try:
            out, err = process.communicate(timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Finding(f"'{program} {' '.join(words)}' did not end in {LONGEST_S} s") from None
        return Ended([program, *words], process.returncode, (out or b"").decode("utf-8", "replace"),
                     err.decode("utf-8", "replace"), time.monotonic() - begin)

    def checked(self, *words, names=None, outputs=(), **options):
        """Runs a command and raises a Finding unless it ended as design says: with a status of the list, one line where it
        refuses, and files that are whole or not there. `names`: what a refusal names, one of these."""
        before = self.files()
        ended = self.run(*words, **options)
        check_end(ended, names)
        self.check_files(ended, before, outputs)
        return ended

    def check_files(self, ended, before, outputs):
        left = set(self.files()) - set(before)
        if left - set(outputs):
            raise Finding(f"'{ended.command()}' left {sorted(left - set(outputs))}")
        if ended.status in (2, 3, 5) and left:
            raise Finding(f"'{ended.command()}' ended with status {ended.status} and wrote {sorted(left)}")
        for name in left:
            if (self.folder / name).stat().st_size == 0:
                raise Finding(f"'{ended.command()}' wrote an empty {name}")
            if name.endswith(".json"):
                try:
                    self.read_json(name)
                except ValueError as error:
                    raise Finding(f"'{ended.command()}' wrote a {name} that is no JSON: {error}") from None


def check_end(ended, names=None):
    """Raises a Finding unless status and messages are those of a program that works."""
    def found(what):
        raise Finding(f"'{ended.command()}' {what}: {ended.err[:2000]!r}")

    if ended.status not in (0, 2, 3, 4, 5):
        found(f"ended with status {ended.status}")
    if any(not MESSAGE.match(line) for line in ended.err.split("\n") if line) and ended.words[:2] not in VERBOSE:
        found("printed a line that does not say who speaks")
    if re.search(r"[\x00-\x09\x0b-\x1f\x7f]", ended.err):
        found("printed a control character")
    refusals = ended.refusals()
    if ended.status in (2, 3) and not ended.of_several() and len(refusals) != 1:
        found(f"refused in {len(refusals)} lines")
    if ended.status == 2 and names and not any(name in line for name in names for line in refusals):
        found(f"refused without naming {' or '.join(names)}")
    if ended.status == 0 and refusals and ended.words[1] not in ("plan",):
        found("ended with status 0 and a refusal")
    if "--json" in ended.words and ended.status == 0 and ended.out:
        try:
            json.loads(ended.out, parse_constant=_strict)
        except ValueError as error:
            found(f"printed what is no JSON ({error})")


VERBOSE = (["espalier", "plan"],)  # its table goes to stderr where the plan goes to stdout
