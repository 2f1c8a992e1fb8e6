"""JobSets as import reads them: as equal nodes, or as a master and its workers."""

from __future__ import annotations

import pytest

from ptcompile.kinds.reading import Read
from ptcompile.kubernetes.index import Objects
from ptcompile.operators.jobset.read import read
from tests.operators.making import Json, jobset, replicated


def _readings(*jobs: Json) -> list[Read]:
    return [reading for reading in read(jobset(*jobs), Objects()) if reading.pods]


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        ([replicated("a", pods=2)], [[("node", 2, True)]]),
        ([replicated("a", replicas=3, pods=2)], [[("node", 2, True)]]),
        ([replicated("a", pods=2), replicated("log")], [[("node", 2, True), ("log", 1, False)]]),
        (
            [replicated("m"), replicated("w", replicas=3)],
            [[("master", 1, True), ("worker", 3, True)], [("node", 1, True), ("w", 3, False)]],
        ),
        (
            [replicated("m"), replicated("w", replicas=3), replicated("log")],
            [
                [("master", 1, True), ("worker", 3, True), ("log", 1, False)],
                [("node", 1, True), ("w", 3, False), ("log", 1, False)],
            ],
        ),
        ([replicated("m"), replicated("w", pods=3)], [[("node", 1, True), ("w", 3, False)]]),
        ([replicated("m", replicas=2), replicated("w")], [[("node", 1, True), ("w", 1, False)]]),
        ([replicated("m", job={"completions": 2})], []),
        ([], []),
    ],
)
def test_each_reading_has_its_roles(
    jobs: list[Json], expected: list[list[tuple[str, int, bool]]]
) -> None:
    readings = _readings(*jobs)
    assert [
        [(role.role, role.replicas, role.trains) for role in reading.pods] for reading in readings
    ] == expected


def test_the_names_of_replicated_jobs_are_kept() -> None:
    first, second = _readings(replicated("m"), replicated("w", replicas=3))
    assert first.fields["names"] == {"master": "m", "worker": "w"}
    assert second.fields["names"] == {"node": "m"}
    assert first.fields["worker"] == {"replicas": 3}
    assert second.fields["nodes"] == 1
