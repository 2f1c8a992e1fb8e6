"""A label or annotation that JobSet overwrites.

PTC840 overwritten-jobset-label: warning at style, by jobset.
Needs: sigs

What: a pod template has one of the labels or annotations by which JobSet knows its Jobs and pods.

Why: the controller sets them on every Job and pod, so the value here is never used.

Example: one_node_jobset.yaml with

      completions: 1
      template:
    -   metadata:
    -     labels:
    -       jobset.sigs.k8s.io/jobset-name: other  # <--
        spec:

Fix: remove it.

Source: JobSet 0.12, labelAndAnnotateObject.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string_map
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at

_PREFIX = "jobset.sigs.k8s.io/"
_OWNED = frozenset(
    _PREFIX + name
    for name in (
        "global-replicas",
        "group-name",
        "group-replicas",
        "job-global-index",
        "job-group-index",
        "job-index",
        "job-key",
        "jobset-name",
        "replicatedjob-name",
        "replicatedjob-replicas",
        "restart-attempt",
    )
)


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for kind in ("labels", "annotations"):
            for key in nested_string_map(template.data, "metadata", kind):
                if key in _OWNED:
                    path = (*template.path, "metadata", kind, key)
                    yield found_at(
                        path,
                        "JobSet overwrites it on every pod",
                        "remove it",
                        fix_removing(f"remove {key}", path, safe=True),
                    )
