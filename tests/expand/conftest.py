from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ptcompile.expand import Expansion, PodView, expand

Json = dict[str, Any]


def container(name: str = "pytorch", **more: Any) -> Json:
    return {"name": name, "image": "img:1", **more}


def template(*containers: Json, **spec: Any) -> Json:
    return {"spec": {"containers": list(containers) or [container()], **spec}}


def env(pod: PodView, name: str | None = None) -> dict[str, str]:
    """The env of a container as written: values as they are, references as `$(path)`."""
    found = next(c for c in pod.containers if not c.init and name in (None, c.name))
    out: dict[str, str] = {}
    for entry in found.to_dict()["env"]:
        out[entry["name"]] = entry.get("value", f"$({entry.get('fieldRef', entry.get('from'))})")
    return out


def ports(pod: PodView) -> list[tuple[str, int]]:
    return [(p.get("name", ""), p["containerPort"]) for p in pod.containers[-1].to_dict()["ports"]]


def pods(manifest: Mapping[str, Any], **more: Any) -> dict[str, PodView]:
    return {p.name: p for p in expand(manifest, **more).pods}


@pytest.fixture(scope="session")
def run() -> Callable[..., Expansion]:
    return expand
