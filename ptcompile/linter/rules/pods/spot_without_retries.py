"""A job on preemptible machines ends with the first preemption.

What: the pods run only on spot or preemptible nodes, and the job recreates no pod.

Why: a preemption counts as a failed pod. With no retries left the job fails, regardless of its progress.

Example:

      apiVersion: batch/v1
      kind: Job
      metadata: {name: train}
      spec:
    -   backoffLimit: 0  # <--
    +   backoffLimit: 6
        template:
          spec:
            restartPolicy: Never
            nodeSelector: {cloud.google.com/gke-spot: "true"}
            containers:
              - name: pytorch
                image: ghcr.io/acme/train:1.0
                command: [torchrun, --standalone, train.py]
                resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: allow retries, or ignore pods with the condition DisruptionTarget in podFailurePolicy.

Source: Kubernetes 1.36, backoffLimit and pod disruption conditions; labels of GKE, AKS, EKS and Karpenter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.paths import get
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import as_mappings, nested_map
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.spot import spot_label
from ptcompile.linter.subject import Subject, is_recreated
from ptcompile.linter.templates import ManifestTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json

_LIMIT_PATHS: tuple[Path, ...] = (("spec", "backoffLimit"), ("spec", "runPolicy", "backoffLimit"))


def _check(subject: Subject) -> Iterator[Finding]:
    for template in subject.templates:
        label = spot_label(template)
        if label and is_recreated(subject, template) is False and not _ignores_node_loss(subject, template):
            path = _limit_path(subject, template)
            yield found_at(
                path,
                f"the pods run on machines that can be preempted ({label}), and none is recreated: the first "
                "preemption ends the job",
                "allow retries",
            )
            return


def _ignores_node_loss(subject: Subject, template: ManifestTemplate) -> bool:
    """Return whether the loss of a node does not count as a failure of the job.

    The reason is a podFailurePolicy of the Job or of a JobSet's child Job, a JobSet's rule that does not count the
    restart, or the restartPolicy of a PyTorchJob's replicas: the training-operator recreates a deleted pod without
    counting it.
    """
    owner = get(subject.manifest, template.path[:-1])
    if isinstance(owner, Mapping):
        if subject.kind[1] == "PyTorchJob" and owner.get("restartPolicy") not in (None, "Never"):
            return True
        if any(map(_ignores_disruption, as_mappings(nested_map(owner, "podFailurePolicy").get("rules")))):
            return True
    rules = as_mappings(nested_map(subject.spec, "failurePolicy").get("rules"))
    return any(rule.get("action") == "RestartJobSetAndIgnoreMaxRestarts" for rule in rules)


def _ignores_disruption(rule: Json) -> bool:
    conditions = as_mappings(rule.get("onPodConditions"))
    return rule.get("action") == "Ignore" and any(
        condition.get("type") == "DisruptionTarget" for condition in conditions
    )


def _limit_path(subject: Subject, template: ManifestTemplate) -> Path:
    for path in _LIMIT_PATHS:
        if path[-1] in nested_map(subject.manifest, *map(str, path[:-1])):
            return path
    return (*template.path, "spec")


RULE = Rule("spot-without-retries", _check, severity="warning", stage="run", authority="ptcompile")
