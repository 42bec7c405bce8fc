"""docs/python.md shows what comes."""

import doctest
import os


def test_python_page(data, tmp_path, monkeypatch):
    (tmp_path / "platforms").symlink_to(data.parent)
    monkeypatch.chdir(tmp_path)
    page = data.parents[1] / "docs" / "python.md"
    failed, tried = doctest.testfile(os.fspath(page), module_relative=False)
    assert tried > 20 and failed == 0
