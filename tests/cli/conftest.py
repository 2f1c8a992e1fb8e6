"""Fixtures: trust that ends with its test, folders large enough for the cache, and a record of linted files."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile._internal import limits
from ptcompile.cli import files
from ptcompile.cli.commands.lint import MIN_FILES_TO_CACHE
from tests.cli.lints import Counted, folder_of


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--untrusted` holds for a process; restore the trust after each test."""
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED])
    monkeypatch.setattr(files, "_untrusted", [False])


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
