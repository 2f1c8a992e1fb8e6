"""Folders of as many files as results are kept of, and the files of them that are judged."""

from __future__ import annotations

from pathlib import Path

import pytest

from ptcompile.cli.commands.lint import FEW
from tests.cli.lints import Counted, folder_of


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As many files as results are kept of, and a cache of their own."""
    return folder_of(tmp_path, monkeypatch)


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same with as many files as it takes in a process of its own."""
    return folder_of(tmp_path, monkeypatch, FEW)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """The files that are judged."""
    return Counted(monkeypatch)
