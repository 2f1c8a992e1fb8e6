"""A label or annotation that Volcano overwrites.

PTC835 overwritten-volcano-label: warning at style, by volcano.
Needs: labels/annotations

What: a template has one of the labels or annotations by which Volcano knows its pods.

Why: the controller sets them on every pod, so the value here is never used.

Example: volcano_job.yaml with

      template:
    -   metadata:
    -     labels:
    -       volcano.sh/job-name: other  # <--
        spec:

Fix: remove it.

Source: Volcano 1.16, job controller (createJobPod).
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string_map
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at

_OWNED = {
    "labels": frozenset(
        {
            "volcano.sh/job-name",
            "volcano.sh/job-namespace",
            "volcano.sh/partition-id",
            "volcano.sh/task-index",
            "volcano.sh/task-spec",
        }
    ),
    "annotations": frozenset(
        {
            "scheduling.k8s.io/group-name",
            "volcano.sh/job-name",
            "volcano.sh/job-retry-count",
            "volcano.sh/job-version",
            "volcano.sh/task-index",
            "volcano.sh/task-spec",
            "volcano.sh/template-uid",
        }
    ),
}


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for kind, owned in _OWNED.items():
            for key in nested_string_map(template.data, "metadata", kind):
                if key in owned:
                    path = (*template.path, "metadata", kind, key)
                    yield found_at(
                        path,
                        "Volcano overwrites it on every pod",
                        "remove it",
                        fix_removing(f"remove {key}", path, safe=key != "volcano.sh/partition-id"),
                    )
