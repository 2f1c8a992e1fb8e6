"""An annotation or label of Volcano is misspelled.

PTC251 unknown-volcano-annotation: warning at run (differs), by volcano.
Needs: volcano annotations/labels

What: an annotation or label that begins with volcano.sh/ or scheduling.volcano.sh/ is not one of
Volcano's, but resembles one. Those that resemble none are not reported, since a newer release may
read them.

Why: Volcano ignores keys that it does not know. Without its mode and its tier, for example, a job
on an ordinary kind asks for no HyperNode, and its pods land on any switch.

Example: job.yaml with

      template:
        metadata:
          annotations:
    -       volcano.sh/network-topology-highest-tiers: "1"  # <--
    +       volcano.sh/network-topology-highest-tier: "1"
        spec:
          schedulerName: volcano
          restartPolicy: Never

Fix: correct the key.

Source: Volcano 1.16, volcano.sh/apis: the keys in pkg/apis/scheduling/v1beta1/labels.go and
pkg/apis/batch/v1alpha1.
"""

from __future__ import annotations

from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Findings, Subject, found_at

_KNOWN = {
    "volcano.sh/": (
        "cooldown-time",
        "createdByJobFlow",
        "createdByJobTemplate",
        "jdb-max-unavailable",
        "jdb-min-available",
        "job-name",
        "job-namespace",
        "job-retry-count",
        "job-type",
        "job-version",
        "network-topology-highest-tier",
        "network-topology-mode",
        "numa-topology-policy",
        "partition-id",
        "preemptable",
        "qos-level",
        "queue-name",
        "revocable-zone",
        "task-index",
        "task-priority",
        "task-spec",
        "template-uid",
        "topology-decision",
    ),
    "scheduling.volcano.sh/": (
        "group-min-member",
        "group-min-resources",
        "group-name",
        "queue-name",
    ),
}
"""Keys after their prefix, whether people or Volcano write them."""


def check(subject: Subject) -> Findings:
    templates = {template.path: template.data for template in subject.templates if template.path}

    for base, holder in {(): subject.manifest, **templates}.items():
        for part in ("annotations", "labels"):
            keys = nested_map(holder, "metadata", part)
            for key, near in ((str(key), _near_key(str(key))) for key in keys):
                if near is not None:
                    path = (*base, "metadata", part, key)
                    fix = Fix(f"rename it to {near}", (Edit("rename", path, near),))
                    yield found_at(
                        path,
                        f"Volcano does not know this {part[:-1]}, and ignores it",
                        f"did you mean {near}?",
                        fix if near not in keys else None,
                        on_key=True,
                    )


def _near_key(key: str) -> str | None:
    """Return the key of Volcano that an unknown one of its domain misspells, or None."""
    for prefix, known in _KNOWN.items():
        if key.startswith(prefix):
            word = key.removeprefix(prefix)
            near = None if word in known else closest_match(word, known)
            return prefix + near if near else None
    return None
