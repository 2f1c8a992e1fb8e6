"""Each row of the compatibility table."""

from __future__ import annotations

import pytest

from tests.flyte.compat import ROWS, Row, markdown


@pytest.mark.parametrize("row", ROWS, ids=[row.topic for row in ROWS])
def test_each_row_is_true(row: Row) -> None:
    assert row.verdict in {"same", "kept", "ours"}
    assert row.check()


def test_the_table_has_one_line_per_row() -> None:
    assert len(markdown().splitlines()) == len(ROWS) + 2
    assert len({row.topic for row in ROWS}) == len(ROWS)
