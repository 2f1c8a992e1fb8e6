"""`help()` explains every field of the public types."""

from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import ptcompile
from ptcompile._internal.namedtuple import with_field_texts

TYPES = {
    name: value
    for name in ptcompile.__all__
    if inspect.isclass(value := getattr(ptcompile, name))
    and (hasattr(value, "_fields") or hasattr(value, "model_fields"))
}
AS_IN_A_POD = {"Toleration"}
"""Types whose fields Kubernetes documents."""


@pytest.mark.parametrize("name", sorted(TYPES.keys() - AS_IN_A_POD))
def test_every_field_is_documented(name: str) -> None:
    kind = TYPES[name]
    fields = getattr(kind, "_fields", None) or [*getattr(kind, "model_fields", {})]
    lines = with_field_texts(kind).partition("Fields:\n")[2].splitlines()
    documented = [line.partition(": ") for line in lines]
    assert sorted(fields) == sorted(field for field, _, text in documented if text.strip())


def test_help_at_a_prompt_has_them() -> None:
    code = "import sys; sys.ps1 = '>>> '; import ptcompile; help(ptcompile.Diagnostic)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "span: The place in the text; None for objects that were never text." in done.stdout
