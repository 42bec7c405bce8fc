"""Compares the output that a page shows with the one that comes, and makes the new text where they differ."""

import csv
import difflib
import re

# What differs from run to run, or between machines and compilers. (why, pattern, replacement)
MASKS = [
    ("how long the computation took, the last column of a table, whose width varies with it",
     re.compile(r"(?m)^(.*?)\s+seconds$"), r"\1  seconds"),
    ("how long the computation took, in JSON",
     re.compile(r'"seconds": ?[0-9.e+-]+'), '"seconds": <seconds>'),
    ("a gap or an error below 1e-6 is rounding, which differs between compilers",
     re.compile(r"\b(\d\.\d+e-(0[7-9]|[1-9]\d)|0\.0e\+00)\b"), "<rounding>"),
    ("digits after the ninth are rounding",
     re.compile(r"\b\d+\.\d{9,}(e[+-]?\d+)?\b"), lambda match: f"{float(match[0]):.9g}"),
    ("the time and rate of a run on this machine",
     re.compile(r"(segments of [^:,]*): [0-9.]+ \w+( \(median of \d+, .*\))?$", re.M), r"\1: <time>"),
    ("the time and rate of a run on this machine",
     re.compile(r"^achieved .* (against .* planned) \([0-9.]+ %\)", re.M), r"achieved <rate> \1 <share>"),
    ("the rate of a run without a plan on this machine",
     re.compile(r"^achieved [0-9.]+ \w+/s$", re.M), "achieved <rate>"),
    ("the name of the machine",
     re.compile(r"^(espalier-mpi: rank \d+ on) [\w.-]+:", re.M), r"\1 <host>:"),
]
# What mpirun itself says about a rank that ends with another status than 0, with its process number.
MPIRUN = re.compile(r"(?ms)^-{60,}\n(?:Primary job|mpirun detected).*?^-{60,}\n")
# Lines on stderr that appear only when a command takes more than a second.
PROGRESS = re.compile(r"^espalier(-mpi)?: (.*: (\d+\.\d s($|, )|.*\(planned .*\))|message \d+: \d).*$")
ELLIPSIS = "…"  # alone on a line: any lines; within a line: any text


def _without_last_number(lines):
    """The rows of tables whose last column is the time that a computation took, without that time."""
    column = None
    rows = []
    for line in lines:
        if line.endswith("  seconds"):
            column = "table"
        elif re.search(r"(^|,)seconds(,|$)", line):
            column = line.split(",").index("seconds")
        elif not line.strip():
            column = None
        elif column == "table":
            line = re.sub(r"\s+\d+\.\d{3}$", "  <seconds>", line)
        elif column is not None:
            [fields] = csv.reader([line])
            if len(fields) > column:
                fields[column] = "<seconds>"
            line = repr(fields)
        rows.append(re.sub(r"^seconds(\s+)\d+\.\d{3}$", r"seconds\1<seconds>", line))
    return rows


def masked(lines):
    text = "\n".join(line.rstrip() for line in lines)
    for _, pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return _without_last_number(text.split("\n")) if lines else []


def lines_of(output):
    """The lines of what a command printed, without progress, mpirun's own, and blank lines at the end."""
    lines = [line.rstrip() for line in MPIRUN.sub("", output).split("\n") if not PROGRESS.match(line)]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _same(shown, real):
    if ELLIPSIS not in shown:
        return shown == real
    return re.fullmatch(".*".join(re.escape(part) for part in shown.split(ELLIPSIS)), real) is not None


def _pieces(shown):
    """The runs of lines between the lines that are an ellipsis."""
    pieces = [[]]
    for line in shown:
        if line.strip() == ELLIPSIS:
            pieces.append([])
        else:
            pieces[-1].append(line)
    return pieces


def _found(piece, real, start):
    """Where the lines of the piece are in `real`, not before `start`, or None."""
    for place in range(start, len(real) - len(piece) + 1):
        if all(_same(a, b) for a, b in zip(piece, real[place:])):
            return place
    return None


def agree(shown, real):
    """Whether the shown lines are those that came, apart from what the masks and ellipses stand for."""
    pieces = _pieces(masked(shown))
    real = masked(real)
    if len(pieces) == 1:
        return len(real) == len(pieces[0]) and all(map(_same, pieces[0], real))
    place = 0
    for number, piece in enumerate(pieces):
        if number == len(pieces) - 1:
            place = max(place, len(real) - len(piece))
        found = _found(piece, real, place)
        if found is None or (number == 0 and found != 0):
            return False
        place = found + len(piece)
    return place == len(real)


def renewed(shown, real):
    """The text to show instead: what came, with the ellipses where they were; None where that needs a person."""
    if any(ELLIPSIS in line and line.strip() != ELLIPSIS for line in shown):
        return None
    pieces = _pieces(shown)
    if len(pieces) == 1:
        return real
    lines = []
    place = 0
    for number, piece in enumerate(pieces):
        last = len(real) - len(piece)
        if last < place:
            return None
        if number == 0:
            begin = 0
        elif number == len(pieces) - 1:
            begin = last
        else:  # the piece that resembles it most
            begin = max(range(place, last + 1), key=lambda at, piece=piece: difflib.SequenceMatcher(
                None, "\n".join(piece), "\n".join(real[at:at + len(piece)])).ratio())
        lines += ([ELLIPSIS] if number else []) + real[begin:begin + len(piece)]
        place = begin + len(piece)
    return lines


def difference(shown, real):
    """The lines that differ, marked - (shown) and + (came)."""
    return "\n".join(line for line in difflib.unified_diff(masked(shown), masked(real), lineterm="", n=0)
                     if not line.startswith(("---", "+++", "@@")))
