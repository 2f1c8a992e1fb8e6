"""Imports of adapters: they define classes and do not open files or connections, start processes or change
variables.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

CODE = """
import importlib, os, sys, threading
for name in sys.argv[2:]:
    importlib.import_module(name)  # the other project's own business
before, threads = dict(os.environ), threading.active_count()
seen = []

def hook(event, args):
    is_of_package = "/ptcompile/" in str(args[0]) and str(args[0]).endswith(".json")  # a table of plain facts
    if event == "open" and not is_of_package and not str(args[0]).endswith((".py", ".pyc")):
        seen.append((event, args[0]))
    if event.startswith(("socket.", "subprocess.", "os.system", "os.putenv", "urllib.")):
        seen.append((event, args))

sys.addaudithook(hook)
importlib.import_module(sys.argv[1])
assert not seen, seen
assert dict(os.environ) == before
assert threading.active_count() == threads
"""
LIBRARIES = {
    "cluster": (),
    "argo": (),
    "torchx_spec": (),
    "torchx": ("torchx.schedulers.api", "torchx.schedulers.ids", "torchx.specs"),
    "airflow": (
        "airflow.providers.cncf.kubernetes.hooks.kubernetes",
        "airflow.triggers.base",
        "airflow.sdk.bases.operator",
        "airflow.sdk.exceptions",
    ),
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_nothing_else_happens(name: str) -> None:
    for module in LIBRARIES[name]:
        if importlib.util.find_spec(module.partition(".")[0]) is None:
            pytest.skip(f"{module} is not installed")
    words = [sys.executable, "-B", "-c", CODE, f"ptcompile.adapters.{name}", *LIBRARIES[name]]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_import_does_not_search_for_plugins() -> None:
    code = "import sys, ptcompile.extending, ptcompile.api.lint; assert 'importlib.metadata' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
