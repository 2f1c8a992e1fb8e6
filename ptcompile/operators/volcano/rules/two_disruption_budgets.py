"""A job has two disruption budgets, and Volcano uses the first.

PTC239 two-disruption-budgets: warning at run (differs), by volcano.
Needs: jdb

What: both annotations volcano.sh/jdb-min-available and volcano.sh/jdb-max-unavailable.

Why: only one is passed on to the PodGroup: jdb-min-available.

Example: volcano_job.yaml with

      metadata:
        name: train
        annotations:
          volcano.sh/jdb-min-available: "2"
    -     volcano.sh/jdb-max-unavailable: "1"  # <--
      spec:
        minAvailable: 2
        tasks:
          - name: trainer
            replicas: 4

Fix: keep one of the two.

Source: Volcano 1.16, job controller.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string_map
from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at


def check(subject: Subject) -> Findings:
    annotations = nested_string_map(subject.metadata, "annotations")
    if {"volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"} <= annotations.keys():
        path = ("metadata", "annotations", "volcano.sh/jdb-max-unavailable")
        yield found_at(
            path,
            "ignored, since volcano.sh/jdb-min-available is also set",
            "keep one of the two",
            fix_removing("remove jdb-max-unavailable", path),
        )
