"""An annotation for exclusive placement is never read, so Jobs share domains.

PTC265 unread-exclusive-topology: warning at run (differs), by jobset.
Needs: annotations

What: an annotation of a JobSet is nearly `alpha.jobset.sigs.k8s.io/exclusive-topology` or
`alpha.jobset.sigs.k8s.io/node-selector`, or the second is set without the first.

Why: JobSet reads exactly these names, and the node selector only chooses how an exclusive placement
is done.

Example: one_node_jobset.yaml with

      metadata:
        name: train
        annotations:
    -     jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool  # <--
    +     alpha.jobset.sigs.k8s.io/exclusive-topology: cloud.google.com/gke-nodepool
      spec:
        replicatedJobs:
          - name: node
            template:
              spec:
                completions: 2
                parallelism: 2

Fix: write the name as JobSet reads it.

Source: JobSet 0.12, api/jobset/v1alpha2/jobset_types.go: ExclusiveKey, NodeSelectorStrategyKey.
"""

from __future__ import annotations

from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Edit, Fix
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.jobset.pods import EXCLUSIVE, NODE_SELECTOR, annotated_parts


def check(subject: Subject) -> Findings:
    for path, values, _ in annotated_parts(subject.manifest):
        for key in values:
            suggestion = _intended_name(key)
            if suggestion is not None and suggestion not in values:
                edits = (Edit("rename", (*path, key), suggestion),)
                yield found_at(
                    (*path, key),
                    "JobSet does not read this annotation",
                    f'did you mean "{suggestion}"?',
                    Fix(f"rename it to {suggestion}", edits),
                )

        if NODE_SELECTOR in values and EXCLUSIVE not in values:
            yield found_at(
                (*path, NODE_SELECTOR),
                "has no effect without exclusive-topology",
                f"set {EXCLUSIVE} to a label of the nodes",
            )


def _intended_name(key: str) -> str | None:
    """Return the annotation that a key misspells, or None if it is spelled correctly or resembles
    none.
    """
    if key in (EXCLUSIVE, NODE_SELECTOR):
        return None
    prefix, _, name = key.rpartition("/")
    if name == "exclusive-topology":
        return EXCLUSIVE
    if "jobset" in prefix and closest_match(name, ["exclusive-topology"]):
        return EXCLUSIVE
    return closest_match(key, [EXCLUSIVE, NODE_SELECTOR])
