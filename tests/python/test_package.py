"""The package as installed on a compute node, without the planner."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import espalier


def test_without_the_planner_plans_are_executed_only(tmp_path):
    pytest.importorskip("mpi4py")
    package = pathlib.Path(espalier.__file__).parent
    shutil.copytree(package, tmp_path / "espalier", ignore=shutil.ignore_patterns("_espalier.*.so"))
    script = "import espalier; espalier.Collective; assert not hasattr(espalier, 'plan'); assert issubclass(espalier.InputError, ValueError)"
    subprocess.run([sys.executable, "-B", "-c", script], check=True, env={**os.environ, "PYTHONPATH": str(tmp_path)}, cwd=tmp_path)
