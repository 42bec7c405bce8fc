"""Algorithms on many networks."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import Any, Iterable

from .platforms import Platform
from .planning import compare
from .results import Comparison


@dataclass(frozen=True)
class StudyRow:
    """One algorithm: its throughput over the proven bound, on the networks where it has a plan."""

    algorithm: str
    networks: int  #: on which it has a plan
    mean: float | None
    deviation: float | None  #: standard deviation; None: fewer than two networks
    worst: float | None


@dataclass(frozen=True)
class Study:
    comparisons: list[Comparison]  #: of each network, in their order
    rows: list[StudyRow]  #: best mean first

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each algorithm."""
        import pandas

        return pandas.DataFrame([vars(row) for row in self.rows])

    def __str__(self) -> str:
        width = max([len("algorithm"), *(len(row.algorithm) for row in self.rows)])
        lines = [f"{'algorithm':{width}}  networks    mean   worst"]
        for row in self.rows:
            figures = "       -       -" if row.mean is None else f"  {row.mean:.4f}  {row.worst:.4f}"
            lines.append(f"{row.algorithm:{width}}  {row.networks:8}{figures}")
        return "\n".join(lines)


def study(platforms: Iterable[Platform], **options: Any) -> Study:
    """Compares algorithms on each of the networks, and each algorithm over all of them.

    options: those of `compare`, so that heuristics of your own take part. Raises what `compare` raises.
    """
    comparisons = [compare(platform, **options) for platform in platforms]
    relative: dict[str, list[float]] = {}
    for comparison in comparisons:
        for row in comparison.rows:
            of_algorithm = relative.setdefault(row.algorithm, [])
            if row.relative is not None:
                of_algorithm.append(row.relative)
    rows = [_row(algorithm, shares) for algorithm, shares in relative.items()]
    return Study(comparisons, sorted(rows, key=lambda row: (row.mean is None, -(row.mean or 0))))


def _row(algorithm: str, shares: list[float]) -> StudyRow:
    return StudyRow(
        algorithm,
        len(shares),
        statistics.fmean(shares) if shares else None,
        statistics.stdev(shares) if len(shares) > 1 else None,
        min(shares, default=None),
    )
