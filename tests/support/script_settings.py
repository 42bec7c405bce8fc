"""The environment of the scripts, for tests in Python that run mpirun."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def environment_of_scripts():
    """This process's environment with the settings of scripts/lib.sh, and messages in English."""
    text = subprocess.run(["bash", "-c", 'source "$0" && env -0', str(ROOT / "scripts/lib.sh")], capture_output=True, check=True).stdout
    variables = dict(entry.split("=", 1) for entry in text.decode("utf-8", "surrogateescape").split("\0") if "=" in entry)
    return {**os.environ, **variables, "LC_ALL": "C.UTF-8"}
