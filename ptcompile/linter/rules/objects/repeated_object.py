"""Two objects in a stream have the same kind, name and namespace.

PTC576 repeated-object: error at run (differs), by ptcompile.
Needs: name

What: an earlier document of the stream has the same kind, name and namespace. If it is in another
file of the same folder, it is a warning, because the two files may not be applied together.

Why: kubectl applies both, one after the other: the second one changes the first, or is rejected if
an immutable field differs, as in a Job. kustomize and helm reject the stream.

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

from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.repeated import CREATED_KINDS
from ptcompile.linter.rule import Findings, Subject, found_at

_PATH = ("metadata", "name")


def check(subject: Subject) -> Findings:
    if not subject.name or len(subject.objects) < 2:
        return

    first = next(iter(subject.neighbors.by_name(subject.kind, subject.name)), None)
    # the name of one that has none only looks like this one
    if first is not None and first is not subject.manifest and nested_string(first, *_PATH):
        is_equal = first == subject.manifest
        yield found_at(
            _PATH,
            f"an earlier document is also {subject.kind.name}/{subject.name}"
            + (", with the same content" if is_equal else ": this one is applied over it"),
            "rename one of them, or remove it",
            severity="warning" if is_equal and subject.kind.name not in CREATED_KINDS else None,
        )
