"""Objects beside others, and what `lint` says of the last one."""

from __future__ import annotations

from typing import Any

import yaml

import ptcompile
from ptcompile.diagnostics import Diagnostic

Json = dict[str, Any]


def quota(hard: Json, name: str = "team", **spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name},
        "spec": {"hard": hard, **spec},
    }


def limit_range(*limits: Json, name: str = "small") -> Json:
    return {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": name},
        "spec": {"limits": list(limits)},
    }


def pod(*resources: Json, init: Json | None = None, **spec: Any) -> Json:
    """Return a Pod with one container per resources, and with an init container if `init` is given."""
    containers = [
        {"name": f"c{i}", "image": "i", "resources": part} for i, part in enumerate(resources)
    ]
    inits = (
        {}
        if init is None
        else {"initContainers": [{"name": "first", "image": "i", "resources": init}]}
    )
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": containers, **inits, **spec},
    }


def job(resources: Json, pods: int = 2) -> Json:
    """Return an Indexed Job whose pods run at the same time."""
    template = {"spec": {**pod(resources)["spec"], "restartPolicy": "Never"}}
    spec = {
        "completionMode": "Indexed",
        "completions": pods,
        "parallelism": pods,
        "backoffLimit": 0,
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": {**spec, "template": template},
    }


def from_yaml(text: str) -> list[Json]:
    return list(yaml.safe_load_all(text))


def rejections(*objects: Json, **options: Any) -> list[Diagnostic]:
    """Return the API server's findings about the last object."""
    diagnostics = ptcompile.lint(list(objects), webhooks=False, **options).diagnostics
    return [
        diagnostic
        for diagnostic in diagnostics
        if diagnostic.document == len(objects) - 1 and diagnostic.authority == "kube-apiserver"
    ]


def messages(*objects: Json, **options: Any) -> list[str]:
    return [diagnostic.message for diagnostic in rejections(*objects, **options)]
