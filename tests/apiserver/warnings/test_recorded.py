"""Warnings of recorded API servers: the same words, and none where the server sends none."""

from __future__ import annotations

from collections import Counter
from typing import Any

import ptcompile
from ptcompile.apiserver.warnings import server_warnings
from ptcompile.kubernetes.versions import Versions, parse_version
from tests import recorded

ROWS = list(recorded.rows("apiserver/warnings"))


def messages(row: dict[str, Any]) -> list[str]:
    versions = Versions()._replace(kubernetes=parse_version(row["kubernetes"]))
    return [problem.message for problem in server_warnings(row["manifest"], versions)]


def is_default(header: str) -> bool:
    """Return whether the header is about a request that the server copied from the limit, which is reported itself."""
    return ".resources.requests[" in header and "fractional byte value" in header


def test_every_warning_has_the_words_of_the_server() -> None:
    assert sum(bool(row["warnings"]) for row in ROWS) > 140
    for row in ROWS:
        missing = Counter(row["warnings"]) - Counter(messages(row))
        assert not [header for header in missing if not is_default(header)], row["manifest"]


def test_no_warning_where_the_server_sends_none() -> None:
    assert sum(not row["warnings"] for row in ROWS) > 900
    for row in ROWS:
        assert not Counter(messages(row)) - Counter(row["warnings"]), row["manifest"]


def test_lint_reports_the_warnings_of_an_accepted_object() -> None:
    for row in ROWS[::3]:
        if not row["warnings"]:
            continue
        report = ptcompile.lint(row["manifest"], webhooks=False, kubernetes=row["kubernetes"])
        reported = [finding.message for finding in report.diagnostics]
        for header in row["warnings"]:
            text = header.partition(": ")[2][:40] or header
            assert any(text in message for message in reported), (header, reported)
