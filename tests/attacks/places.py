"""Places in inputs for a hostile or secret text, and every command that reports on them."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ptcompile import cli
from ptcompile.cli import files
from ptcompile.report import FORMATS


def pod(value: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "p",
            "namespace": value,
            "labels": {value: value},
            "annotations": {"a": value},
        },
        "spec": {
            "restartPolicy": "Never",
            value: value,
            "containers": [
                {
                    "name": "c",
                    "imagee": value,
                    "image": value,
                    "args": [value],
                    "env": [{"name": value}],
                }
            ],
        },
    }


def job(value: str) -> dict[str, Any]:
    template = {
        "spec": {
            "restartPolicy": "Never",
            "containers": [{"name": value, "image": "i", "command": ["a", value]}],
        }
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": value},
        "spec": {"template": template},
    }


def spec(value: str) -> dict[str, Any]:
    return {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {"name": "train"},
        "spec": {
            "image": "i:1",
            "command": ["python", value],
            "env": {"A": value},
            "podAnnotations": {"a/b": value},
            "resources": {"cpu": 1, "memory": "1Gi"},
        },
    }


PLACES: dict[str, Callable[[str], dict[str, Any]]] = {
    "values and keys of a Pod": pod,
    "name of a Job and its container": job,
    "kind": lambda value: {"apiVersion": "x/v1", "kind": value, "metadata": {"name": "a"}},
    "apiVersion": lambda value: {"apiVersion": value, "kind": "Pod", "metadata": {"name": "a"}},
    "values of a spec that compiles": spec,
    "key of a spec": lambda value: {**spec("a"), "spec": {**spec("a")["spec"], value: value}},
    "name of a spec": lambda value: {**spec("a"), "metadata": {"name": value}},
}
OTHER = json.dumps({**spec("a"), "metadata": {"name": "b"}})
REPORTS = (
    *(["lint", "--output-format", name] for name in FORMATS),
    ["lint", "--statistics"],
    ["simulate"],
    ["simulate", "--format", "json"],
    ["simulate", "--pod", "x"],
    ["simulate", "--graph", "mermaid"],
    ["simulate", "--graph", "svg"],
    ["explain"],
    ["explain", "--format", "json"],
    ["explain", "--no-lint", "spec"],
    *(["diff", "other.yaml", "--format", name] for name in ("text", "json", "markdown")),
    ["requires"],
    ["platform", "--list", "cluster.yaml"],
    ["compile", "-o", "out.yaml", "--check"],
    ["compile", "--prune", "-o", "out/"],
)
"""Commands whose standard output is a report."""
WRITERS = (
    *(["compile", "--output-format", name] for name in FORMATS),
    ["import"],
    ["convert", "--target", "job"],
    ["lint", "--diff"],
    ["simulate", "--env-file", "x"],
    ["platform", "cluster.yaml"],
)
"""Commands whose standard output is for use, and not escaped."""


@contextmanager
def folder() -> Iterator[Path]:
    before = Path.cwd()
    with TemporaryDirectory() as name:
        os.chdir(name)
        try:
            Path("cluster.yaml").write_text(
                "apiVersion: ptcompile/v1\nkind: ClusterProfile\nmetadata: {name: c}\nspec: {}\n"
            )
            Path("other.yaml").write_text(OTHER)
            Path("out.yaml").write_text(
                "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: |\n    ::error::committed ##[error]x\n"
            )
            yield Path(name)
        finally:
            os.chdir(before)


def run(*words: str) -> tuple[str, str]:
    """Run a command in this process; return what it prints to standard output and to standard error."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
    real = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = streams
    try:
        cli.main([*words])
    except SystemExit:
        pass
    except files.UsageError as error:
        files.report_error(error)
    finally:
        sys.stdout, sys.stderr = real
    for stream in streams:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams)
    return out, err
