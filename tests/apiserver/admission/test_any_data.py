"""CONTRIBUTING.md#laws 7: whatever the quotas, ranges, classes and policies are, they give findings."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, strategies as st

import ptcompile
from tests import recorded
from tests.strategies import mutated

Json = dict[str, Any]
STREAMS = [
    [*row["beside"], row["manifest"]]
    for row in list(recorded.rows("apiserver/admission/creates"))[::3]
]


@given(mutated(st.sampled_from([{"items": stream} for stream in STREAMS])))
def test_changed_streams_are_judged_and_compared(stream: Json) -> None:
    objects = stream.get("items")
    mappings = (
        [item for item in objects if isinstance(item, dict)] if isinstance(objects, list) else []
    )
    for report in (ptcompile.lint(mappings), ptcompile.diff(copy.deepcopy(mappings), mappings)):
        assert all(diagnostic.message and diagnostic.stage for diagnostic in report.diagnostics)
