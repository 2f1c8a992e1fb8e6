"""Fixtures: folders large enough for the cache, and a record of linted files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile.cli.commands.lint import MIN_FILES_TO_CACHE
from tests.cli.lints import Counted, folder_of


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with enough files for the cache, which is in that folder too."""
    return folder_of(tmp_path, monkeypatch)


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the same with as many files as the cache requires in a separate process."""
    return folder_of(tmp_path, monkeypatch, MIN_FILES_TO_CACHE)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """Return the names of the linted files."""
    return Counted(monkeypatch)
