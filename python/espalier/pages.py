"""The page of `espalier report` (docs/cli.md), made by the program `espalier`."""

from __future__ import annotations

import html
import os
import pathlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass

from .errors import CheckFailed, Error, InputError, LimitReached, NoSolution
from .plans import Plan
from .platforms import Platform
from .units import Duration, duration

_FAULTS = {kind.status: kind for kind in (CheckFailed, InputError, LimitReached, NoSolution)}


@dataclass(frozen=True)
class Page:
    """A page for a browser. Jupyter shows it."""

    text: str  #: HTML that loads nothing from outside

    def write(self, file: str | os.PathLike[str]) -> None:
        pathlib.Path(file).write_text(self.text, encoding="utf-8")

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self.text)}" style="width: 100%; height: 50em; border: 0"></iframe>'

    def __repr__(self) -> str:
        return f"<Page of {len(self.text)} characters>"


def report(
    platform: Platform,
    *plans: Plan,
    trace: str | os.PathLike[str] | None = None,
    time_limit: Duration | None = None,
    program: str | os.PathLike[str] | None = None,
) -> Page:
    """A page of the network, its bottlenecks, the plans for it, and the trace of a simulation or a run (a file).

    program: default: `espalier` on the path. Raises InputError where it is missing, and what the command ends with.
    """
    command = shutil.which(program or "espalier")
    if command is None:
        raise InputError(f"{program or 'espalier'}: no such program, which makes pages; is it on the path?")
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder, "network.json")]
        platform.write(files[0])
        for number, plan in enumerate(plans, 1):
            files.append(pathlib.Path(folder, "plan.json" if len(plans) == 1 else f"plan-{number}.json"))
            plan.write(files[-1])
        words = [command, "report", *files, *([] if trace is None else [os.path.abspath(trace)]), "-o", "page.html", "--quiet"]
        if time_limit is not None:
            words += ["--time-limit", f"{duration(time_limit)}s"]
        ended = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        page = pathlib.Path(folder, "page.html")
        if not page.exists():
            raise _FAULTS.get(ended.returncode, Error)(ended.stderr.strip().removeprefix("espalier: "))
        return Page(page.read_text(encoding="utf-8"))
