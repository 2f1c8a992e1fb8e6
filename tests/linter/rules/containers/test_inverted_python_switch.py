"""Python's values for words that mean "off", evaluated by the interpreter that runs the tests."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.linter.asking import container, fires

FLAGS = {
    "PYTHONDONTWRITEBYTECODE": "sys.flags.dont_write_bytecode",
    "PYTHONFAULTHANDLER": "faulthandler.is_enabled()",
    "PYTHONNOUSERSITE": "sys.flags.no_user_site",
    "PYTHONOPTIMIZE": "sys.flags.optimize",
    "PYTHONUNBUFFERED": "sys.stdout.write_through",
}


@pytest.mark.parametrize("name", FLAGS)
@pytest.mark.parametrize("value", ["0", "false", "no"])
def test_python_agrees(name: str, value: str) -> None:
    asked = f"import sys, faulthandler; print(int({FLAGS[name]}))"
    env = {name: value}
    shown = subprocess.run(
        [sys.executable, "-c", asked], env=env, capture_output=True, text=True, check=True
    ).stdout
    assert fires("inverted-python-switch", container(env=[{"name": name, "value": value}])) is (
        shown.strip() == "1"
    )


@pytest.mark.parametrize("value", ["1", "", "true", "2"])
def test_on_and_empty_values_are_not_reported(value: str) -> None:
    assert not fires(
        "inverted-python-switch", container(env=[{"name": "PYTHONUNBUFFERED", "value": value}])
    )
