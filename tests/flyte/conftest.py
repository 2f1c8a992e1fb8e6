"""A fixture that runs each case twice: with ptcompile's classes, and with the plugin's own if they are installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from tests.flyte.making import OURS, flytekit_words


def _installed() -> bool:
    return find_spec("flytekit") is not None and find_spec("flytekitplugins.kfpytorch") is not None


REAL = pytest.mark.skipif(
    not _installed(), reason="flytekit and flytekitplugins-kfpytorch 1.16 are not installed"
)


@pytest.fixture(params=["ours", pytest.param("flytekit", marks=REAL)], scope="module")
def words(request: pytest.FixtureRequest) -> Any:
    """Return a namespace with PyTorch, Elastic, Resources and the other classes."""
    return OURS if request.param == "ours" else flytekit_words()
