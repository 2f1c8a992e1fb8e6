"""Trust that ends with its test, folders of as many files as results are kept of, and the files that are judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile._internal import limits
from ptcompile.cli import files
from ptcompile.cli.commands.lint import MIN_FILES_TO_CACHE
from tests.cli.lints import Counted, folder_of


@pytest.fixture(autouse=True)
def restored(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--untrusted` holds for a process; here for a test."""
    monkeypatch.setattr(limits, "_in_force", [limits.TRUSTED])
    monkeypatch.setattr(files, "_untrusted", [False])


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As many files as results are kept of, and a cache of their own."""
    return folder_of(tmp_path, monkeypatch)


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same with as many files as it takes in a process of its own."""
    return folder_of(tmp_path, monkeypatch, MIN_FILES_TO_CACHE)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """The files that are judged."""
    return Counted(monkeypatch)
