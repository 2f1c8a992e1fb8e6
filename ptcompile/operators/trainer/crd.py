"""The CEL rules of TrainJob's CRD (Trainer 2.3)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ptcompile.findings.diagnostics import Problem
from ptcompile.kubernetes.untyped import at
from ptcompile.operators.common.crd import refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_LABEL = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])?").fullmatch
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\n]+").fullmatch
_MANAGERS: Final = ("trainer.kubeflow.org/trainjob-controller", "kueue.x-k8s.io/multikueue")


def train_job_rules(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """The rules of a TrainJob's name and spec."""
    spec = at(manifest, "spec")
    yield from _name(at(manifest, "metadata"))
    initializer = at(spec, "initializer")
    for part in ("dataset", "model"):
        uri = at(initializer, part).get("storageUri")
        if isinstance(uri, str) and uri and _URI(uri) is None:
            yield refusal(
                ("spec", "initializer", part, "storageUri"),
                "storageUri may be empty, or it must be a valid URI (scheme://...)",
                'write a URI such as "hf://org/name" or "s3://bucket/path"',
            )
    manager = spec.get("managedBy")
    if isinstance(manager, str) and manager not in _MANAGERS:
        yield refusal(
            ("spec", "managedBy"),
            f"ManagedBy must be {_MANAGERS[0]} or {_MANAGERS[1]} if set",
            "remove it, or name one",
        )
    count = at(spec, "trainer").get("numProcPerNode")
    if type(count) is int and count < 1:
        yield refusal(
            ("spec", "trainer", "numProcPerNode"),
            "numProcPerNode must be greater than or equal to 1",
            "write 1 or more",
        )


def _name(metadata: Mapping[str, Any]) -> Iterator[Problem]:
    name, key = metadata.get("name"), "name"
    if not name:
        # The server makes the name of generateName before it looks: five characters are added.
        prefix, key = metadata.get("generateName"), "generateName"
        name = f"{prefix[:58]}xxxxx" if isinstance(prefix, str) and prefix else None
    if not isinstance(name, str):
        return
    if _LABEL(name) is None:
        yield refusal(
            ("metadata", key),
            "metadata.name must match RFC 1035 DNS label format",
            "use lower-case letters, digits and dashes; begin with a letter; end with a letter or digit",
        )
    elif len(name) > 63:
        yield refusal(("metadata", key), "metadata.name must be no more than 63 characters", "shorten the name")
