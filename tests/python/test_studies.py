"""Studies of many networks, and pages."""

import pytest

import espalier


def star_from(platform, source):
    return [(source, host) for host in platform.hosts if host != source]


def test_a_study_ranks_algorithms_over_all_networks(triangle, sketch):
    result = espalier.study([triangle, sketch], algorithm=["optimal", "binomial", star_from])
    assert [len(one.rows) for one in result.comparisons] == [3, 3]
    best = result.rows[0]
    assert best.algorithm == "optimal" and best.networks == 2 and best.mean == pytest.approx(1) and best.deviation < 1e-6
    own = next(row for row in result.rows if row.algorithm == "own:star_from")
    shares = [row.relative for one in result.comparisons for row in one.rows
              if row.algorithm == own.algorithm and row.relative is not None]
    assert own.networks == len(shares) >= 1 and own.mean == pytest.approx(sum(shares) / len(shares)) and own.worst == min(shares)
    assert str(result).splitlines()[1].startswith("optimal ")


def test_an_algorithm_without_a_plan_is_last(triangle):
    result = espalier.study([triangle], algorithm=["two-tree-sanders", "optimal"])
    assert result.rows[0].algorithm == "optimal" and result.rows[0].deviation is None


def test_a_page_shows_itself(triangle, tmp_path):
    plan = espalier.plan(triangle, source="a")
    page = espalier.report(triangle, plan, time_limit=20)
    assert page.text.startswith("<!doctype html>") or page.text.startswith("<!DOCTYPE html>")
    assert "triangle" in page.text
    page.write(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.text
    assert page._repr_html_().startswith("<iframe srcdoc=") and "<!" not in page._repr_html_()


def test_a_page_needs_the_program_and_a_plan_of_the_network(triangle, sketch, tmp_path):
    with pytest.raises(espalier.InputError, match="no such program"):
        espalier.report(triangle, program=tmp_path / "espalier")
    with pytest.raises(espalier.Error):
        espalier.report(sketch, espalier.plan(triangle, source="a"), time_limit=20)
