"""Reading of files, below every command and function."""

from __future__ import annotations

from pathlib import Path

import pytest

import ptcompile


def test_a_folder_in_place_of_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError) as raised:
        ptcompile.compile(tmp_path)
    assert raised.value.filename == str(tmp_path)
