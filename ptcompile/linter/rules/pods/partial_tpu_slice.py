"""A job uses part of a TPU slice, which works only as a whole.

PTC274 partial-tpu-slice: error at run (fails), by ptcompile.
Needs: google tpu topology

What: the pods select a cloud.google.com/gke-tpu-topology of several hosts, and the chips that they
request together are not a multiple of the chips of the topology; or one pod requests more chips
than a slice has.

Why: the TPUs of a slice initialize only when a process runs on every one of its hosts. With fewer
pods the job hangs at the first use of a device; with more, the last ones stay Pending.

Example: indexed_torchrun.yaml with

    - completions: 3
    - parallelism: 3
    + completions: 4
    + parallelism: 4
      template:
        spec:
          nodeSelector:
            cloud.google.com/gke-tpu-accelerator: tpu-v5-lite-podslice
    -       cloud.google.com/gke-tpu-topology: 4x4  # <--
    +       cloud.google.com/gke-tpu-topology: 4x4
          containers:
            - name: pytorch
              command: [python, train.py]
              resources: {limits: {cpu: 8, memory: 64Gi, google.com/tpu: 4}}

Fix: run a pod on every host of the slice: pods = chips of the topology / chips of a host.

Source: Google Cloud, "Plan TPUs in GKE" (2026): multi-host slices are atomic.
"""

from __future__ import annotations

from math import prod

from ptcompile._internal.spelling import is_short_number, pluralize
from ptcompile.diagnostics import Path, Severity
from ptcompile.kubernetes.pod_spec import pinned_values
from ptcompile.kubernetes.unstructured import as_int
from ptcompile.linter.rule import Finding, Findings, Subject, found_at
from ptcompile.world.templates import ManifestTemplate

_TPU = "google.com/tpu"
_TOPOLOGY = "cloud.google.com/gke-tpu-topology"
_MAX_SIDES = 3


def check(subject: Subject) -> Findings:
    if subject.job is None:
        return  # the jobs of a runtime set its number of pods

    totals: dict[str, int] = {}
    pods: dict[str, tuple[ManifestTemplate, Path]] = {}
    for template in subject.templates:
        path, values = next(pinned_values(template.spec, _TOPOLOGY), ((), []))
        per_pod = _chips_of_pod(template)
        if len(values) != 1 or not per_pod or not template.replicas:
            continue

        [topology] = values
        place = (*template.spec_path, *path)
        chips = _chips_in(topology)
        if 0 < chips < per_pod:
            yield _finding(place, topology, f"a pod requests {per_pod}")
        elif per_pod < chips:
            # the roles of a job share the slice
            totals[topology] = totals.get(topology, 0) + per_pod * template.replicas
            pods.setdefault(topology, (template, place))

    for topology, (template, path) in pods.items():
        total = totals[topology]
        chips = _chips_in(topology)
        if total % chips:
            per_pod = _chips_of_pod(template)
            count = pluralize(total // per_pod, "pod")
            # pods of other objects may be on the rest of the last slice
            severity: Severity | None = None if total < chips else "warning"
            text = f"{count} with {per_pod} each make {total}"
            yield _finding(path, topology, text, severity)


def _finding(path: Path, topology: str, text: str, severity: Severity | None = None) -> Finding:
    return found_at(
        path,
        f"a {topology} slice has {_chips_in(topology)} chips, but {text}",
        "request all chips of the slice: it starts only if all its hosts run",
        severity=severity,
    )


def _chips_in(topology: str) -> int:
    """Return the number of chips of a topology such as 4x4, or 0 if it is not one."""
    sides = topology.split("x")
    is_shape = 1 < len(sides) <= _MAX_SIDES and all(
        is_short_number(side, below=4) for side in sides
    )
    return prod(int(side) for side in sides) if is_shape else 0


def _chips_of_pod(template: ManifestTemplate) -> int:
    """Return the chips that a pod requests; 0 if unreadable."""
    chips = 0
    for container in template.running_containers:
        amount = container.limits.get(_TPU, container.requests.get(_TPU))
        if isinstance(amount, str) and is_short_number(amount, below=5):
            chips += int(amount)
        else:
            chips += as_int(amount)

    return chips
