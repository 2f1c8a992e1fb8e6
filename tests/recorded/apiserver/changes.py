"""Changes of a manifest that a person or a template could make: one field removed, renamed or set
to another value.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.places import children

Path = list[Any]
Change = tuple[str, Path, Any]
"""`set`, `del` or `rename`; the path; the new value or name."""

TEXTS = ("", "UPPER_Case!", "a b", "-lead", "x" * 64, "x" * 254, "1", "true", "${VAR}", "tab\there")
NUMBERS = (-1, 0, 1, 2147483648, 99999999999)
QUANTITIES = ("1.5", "500m", "2GiB", "10Gi", "-1", "1e3", "abc", "1 Gi", "0", "3Ki")
KEPT = ("apiVersion", "kind", "status")
"""Fields at the top that no change touches."""

RESOURCES: tuple[Any, ...] = (
    {"requests": {"cpu": "4", "memory": "8Gi"}, "limits": {"cpu": "2", "memory": "4Gi"}},
    {"requests": {"nvidia.com/gpu": 1}},
    {"limits": {"nvidia.com/gpu": "500m"}},
    {"requests": {"nvidia.com/gpu": 1}, "limits": {"nvidia.com/gpu": 2}},
    {"limits": {"gpu": 1}},
)
TERMS = "requiredDuringSchedulingIgnoredDuringExecution"
POD_FIELDS: tuple[tuple[str, Any], ...] = (
    ("tolerations", [{"key": "a", "operator": "Exists", "value": "b"}]),
    ("tolerations", [{"key": "a", "operator": "Equal", "effect": "NoSchedul"}]),
    ("tolerations", [{"operator": "Equal", "value": "x"}]),
    ("tolerations", [{"key": "a", "tolerationSeconds": 5, "effect": "NoSchedule"}]),
    ("tolerations", [{"key": "flyte/gpu", "operator": "Equal", "value": "dedicated", "effect": "NoSchedule"}]),
    ("restartPolicy", "Always"),
    ("restartPolicy", "ExitCode"),
    ("nodeSelector", {"a/b/c": "x"}),
    ("nodeSelector", {"gpu": True}),
    ("volumes", [{"name": "dshm", "emptyDir": {"medium": "memory"}}]),
    ("volumes", [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "-1Gi"}}]),
    ("volumes", [{"name": "dshm", "emptyDir": {}, "hostPath": {"path": "/x"}}]),
    ("volumes", [{"name": "Bad_Name", "emptyDir": {}}]),
    ("hostname", "Not_A_Host"),
    ("subdomain", "x.y"),
    ("priorityClassName", "Bad Name"),
    ("terminationGracePeriodSeconds", -5),
    ("activeDeadlineSeconds", 0),
    ("affinity", {"nodeAffinity": {TERMS: {"nodeSelectorTerms": []}}}),
    ("affinity", {"nodeAffinity": {TERMS: {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "a", "operator": "In"}]}
    ]}}}),
)  # fmt: skip
CONTAINER_FIELDS: tuple[tuple[str, Any], ...] = (
    ("volumeMounts", [{"name": "nowhere", "mountPath": "/dev/shm"}]),  # noqa: S108
    ("volumeMounts", [{"name": "nowhere", "mountPath": ""}]),
    ("env", [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]),
    ("env", [{"name": "1=A", "value": "1"}]),
    ("env", [{"name": "A", "value": 1}]),
    (
        "env",
        [{"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
    ),
    ("env", [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.nam"}}}]),
    ("env", [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s"}}}]),
    ("ports", [{"containerPort": 70000}]),
    ("ports", [{"containerPort": 23456, "name": "pytorchjob-port"}]),
    ("ports", [{"containerPort": 23456, "name": "this-name-is-too-long"}]),
    ("ports", [{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]),
    ("imagePullPolicy", "ifNotPresent"),
    ("command", "python train.py"),
    ("args", ["--lr", 0.1]),
    ("securityContext", {"privileged": True, "allowPrivilegeEscalation": False}),
    ("workingDir", 5),
    ("image", " leading"),
    ("lifecycle", {"preStop": {}}),
    ("livenessProbe", {"httpGet": {"path": "/", "port": 0}}),
)


def draw(manifest: Any, rng: Random) -> Change | None:
    """Return one of all changes of a manifest, or None if it has no fields."""
    changes = list(all_changes(manifest))
    return rng.choice(changes) if changes else None


def all_changes(manifest: Any) -> Iterator[Change]:
    """Yield every change, in the order of the fields."""
    for path, value in walk(manifest, []):
        if path and path[0] not in KEPT:
            yield "del", path, None
            yield "set", path, None
            yield from (("set", path, new) for new in others(path, value))
            if isinstance(value, dict):
                yield from of_mapping(path, value)


def walk(node: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yield every value below a node with its path, the node first."""
    yield path, node
    for key, value in children(node):
        yield from walk(value, [*path, key])


def others(path: Path, value: Any) -> list[Any]:
    """Return other values for a field, of its type and of others."""
    match value:
        case bool():
            return ["yes", 1, not value]
        case int():
            return [*NUMBERS, str(value), "three", value + 0.5, value + 1]
        case str():
            return [
                *TEXTS,
                7,
                True,
                [value],
                {"a": value},
                *quantities(path, value),
                *other_case(value),
            ]
        case list():
            return [[], {"a": 1}, "text", *([[*value, copy.deepcopy(value[0])]] if value else ())]
        case dict():
            return [{}, [], "text"]
        case _:
            return []


def quantities(path: Path, value: str) -> tuple[str, ...]:
    is_amount = path[-2:-1] in (["limits"], ["requests"])
    return QUANTITIES if is_amount or re.fullmatch(r"[0-9.]+[a-zA-Z]*", value) else ()


def other_case(value: str) -> tuple[str, ...]:
    return (value.swapcase(),) if value.swapcase() != value else ()


def of_mapping(path: Path, value: dict[Any, Any]) -> Iterator[Change]:
    """Yield unknown and misspelt keys, and wrong values for the fields of pods and containers."""
    yield "set", [*path, "bogusField"], 1
    for key in value:
        if isinstance(key, str) and len(key) > 2:
            yield from (
                ("rename", [*path, key], new) for new in misspellings(key) if new not in value
            )
    if isinstance(value.get("resources"), dict):
        yield from (("set", [*path, "resources"], new) for new in RESOURCES)
    if isinstance(value.get("containers"), list):
        yield from (("set", [*path, name], new) for name, new in POD_FIELDS)
    if "image" in value and "name" in value:
        yield from (("set", [*path, name], new) for name, new in CONTAINER_FIELDS)


def misspellings(key: str) -> tuple[str, str]:
    """Return the key with the first letter in the other case, and in snake case or the plural."""
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", key).lower()
    return key[0].swapcase() + key[1:], snake if re.search("[A-Z]", key) else f"{key}s"
