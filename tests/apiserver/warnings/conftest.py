"""The fixture `warned(kind, changes)`: the warnings about an object, as path and text, without those of other parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ptcompile.apiserver.warnings import server_warnings
from ptcompile.kubernetes.versions import Versions, parse_version

Warned = Callable[..., list[str]]


@pytest.fixture
def warned() -> Warned:
    def ask(
        api_version: str, kind: str, fields: dict[str, Any], kubernetes: str = "1.36"
    ) -> list[str]:
        """Return the texts of the warnings about an object with these fields."""
        metadata = {"name": "a", **fields.get("metadata", {})}
        manifest = {"apiVersion": api_version, "kind": kind, **fields, "metadata": metadata}
        versions = Versions()._replace(kubernetes=parse_version(kubernetes))
        return [problem.message for problem in server_warnings(manifest, versions)]

    return ask
