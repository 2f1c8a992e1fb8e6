"""Two objects in a stream have the same kind, name and namespace.

What: an earlier document of the same stream is the same object, with other content or the same.

Why: kubectl applies both, one after the other: the second one changes the first, and where a field cannot be changed,
as in a Job, it is rejected. kustomize and helm reject the stream.

Example:

      apiVersion: v1
      kind: ConfigMap
      metadata: {name: settings}
      data: {lr: "0.1"}
      ---
      apiVersion: v1
      kind: ConfigMap
      metadata:
    -   name: settings  # <--
    +   name: more
      data: {lr: "0.2"}

Fix: rename one of them, or remove it.

Source: Kubernetes 1.36, names of objects; Job templates are immutable.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import field_path
from ptcompile.kubernetes.unstructured import as_string, kind_of, namespace_of
from ptcompile.linter.rule import Finding, Rule
from ptcompile.linter.subject import Subject
from ptcompile.linter.workload import Stream
from ptcompile.registry.table import BY_TARGET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json

_PATH = ("metadata", "name")
_MADE_ONCE = frozenset(one.kinds[0].name for one in BY_TARGET.values())
"""Kinds that are created rather than applied again: the second one is rejected even if it is the same."""
_ObjectKey = tuple[tuple[str, str], str, str]


def _check(subject: Subject) -> Iterator[Finding]:
    if not subject.name or len(subject.others) < 2:
        return
    first = subject.stream.once(_firsts).get(_key(subject.manifest))
    if first is not None and first is not subject.manifest:
        same = first == subject.manifest
        yield Finding(
            _PATH,
            f"{field_path(_PATH)}: an earlier document is also {subject.kind[1]}/{subject.name}"
            + (", with the same content" if same else ": this one is applied over it"),
            "rename one of them, or remove it",
            severity="warning" if same and subject.kind[1] not in _MADE_ONCE else None,
        )


def _firsts(stream: Stream) -> dict[_ObjectKey, Json]:
    found: dict[_ObjectKey, Json] = {}
    for one in stream.objects:
        found.setdefault(_key(one), one)
    return found


def _key(manifest: Json) -> _ObjectKey:
    name = manifest.get("metadata")
    return kind_of(manifest), namespace_of(manifest), as_string(name.get("name")) if isinstance(name, dict) else ""


RULE = Rule("repeated-object", _check, severity="error", stage="run", authority="ptcompile")
