"""What each release of an operator changed in what we write, as data: one row a change, with its source.

A target asks `there("runtime-patches", versions)`, and never compares versions itself. "kubeflow.md" and "volcano.md"
are the fact sheets of this project; what they took from a release's source is named beside.
"""

from __future__ import annotations

from typing import NamedTuple

from ptcompile.kubernetes.versions import Version, Versions


class Change(NamedTuple):
    """One thing that some releases have and others do not."""

    operator: str
    """A field of `Versions`."""
    since: Version
    """The first release that has it."""
    what: str
    source: str
    until: Version | None = None
    """The last release that has it; None where the newest does."""


_API = "Trainer {} pkg/apis/trainer/v1alpha1, kubeflow.md 2.2"

CHANGES: dict[str, Change] = {
    "job-success-policy": Change(
        "kubernetes", (1, 33), "spec.successPolicy of a Job is stable", "Kubernetes 1.33, volcano.md 5.10 rule 190"
    ),
    "digit-first-service": Change(
        "kubernetes",
        (1, 36),
        "the name of a Service may begin with a digit",
        "Kubernetes 1.36, volcano.md 3.1 and 5.11",
    ),
    "nproc-per-node": Change(
        "training_operator",
        (1, 7),
        "spec.nprocPerNode, PET_* variables, WORLD_SIZE counts processes",
        "training-operator 1.7, kubeflow.md 1.5",
    ),
    "nproc-without-master": Change(
        "training_operator",
        (1, 8),
        "spec.nprocPerNode reaches workers without a Master",
        "training-operator 1.8, kubeflow.md 1.5 History",
    ),
    "training-webhook": Change(
        "training_operator",
        (1, 8),
        "a validating webhook refuses PyTorchJobs",
        "training-operator 1.8, kubeflow.md 1.3",
    ),
    "training-managed-by": Change(
        "training_operator", (1, 9), "runPolicy.managedBy", "training-operator 1.9, kubeflow.md 1.1"
    ),
    "trainjob": Change("trainer", (2, 0), "the kind TrainJob", _API.format("2.0")),
    "pod-spec-overrides": Change(
        "trainer", (2, 0), "a TrainJob changes pods through podSpecOverrides", _API.format("2.0"), until=(2, 0)
    ),
    "pod-template-overrides": Change(
        "trainer",
        (2, 1),
        "podTemplateOverrides; with metadata, affinity and imagePullSecrets",
        _API.format("2.1"),
        until=(2, 1),
    ),
    "runtime-patches": Change(
        "trainer",
        (2, 2),
        "runtimePatches; with security contexts and terminationGracePeriodSeconds",
        _API.format("2.2"),
    ),
    "nproc-words": Change(
        "trainer", (2, 0), "trainer.numProcPerNode may be auto, cpu or gpu", _API.format("2.1"), until=(2, 1)
    ),
    "trainjob-deadline": Change("trainer", (2, 2), "spec.activeDeadlineSeconds of a TrainJob", _API.format("2.2")),
    "trainer-volcano": Change(
        "trainer", (2, 1), "podGroupPolicy.volcano of a runtime", "Trainer 2.1 release notes, kubeflow.md 2.7"
    ),
    "resources-merged": Change(
        "trainer",
        (2, 3),
        "resourcesPerNode is merged with the runtime's by name",
        "Trainer 2.3, PR 3602, kubeflow.md 2.2",
    ),
    "trainjob-managed-by": Change(
        "trainer", (2, 3), "managedBy is heeded by the controller", "Trainer 2.3, PR 3681, kubeflow.md 2.2"
    ),
    "volcano-pytorch-plugin": Change("volcano", (1, 7), "the pytorch plugin", "volcano.md 0"),
    "volcano-world-size": Change(
        "volcano",
        (1, 12),
        "WORLD_SIZE counts the tasks master and worker alone",
        "Volcano 1.12, issue 4238, volcano.md 0",
    ),
    "volcano-restart-pod": Change(
        "volcano", (1, 12), "action RestartPod, event PodPending with a timeout", "Volcano 1.12, volcano.md 0"
    ),
    "volcano-partitions": Change(
        "volcano", (1, 14), "partitionPolicy, RestartPartition, highestTierName", "Volcano 1.14, volcano.md 0"
    ),
    "volcano-topology": Change(
        "volcano", (1, 11), "networkTopology of a Job and a PodGroup", "Volcano 1.11 release notes, volcano.md 1.1"
    ),
    "job-managed-by": Change(
        "kubernetes", (1, 32), "managedBy of a Job is heeded", "Kubernetes 1.32, Kueue's page on Jobs in MultiKueue"
    ),
    "kai-trainjob": Change("kai", (0, 13), "the pods of a TrainJob are one gang", "KAI Scheduler 0.13 CHANGELOG"),
    "kai-job": Change(
        "kai", (0, 15), "kai.scheduler/batch-min-member makes a Job a gang", "KAI Scheduler pull request 1308"
    ),
    "kueue-runtime-patches": Change(
        "kueue", (0, 17), "a TrainJob is started through its runtimePatches", "Kueue issue 14722, kubeflow.md 4"
    ),
    "kueue-v1beta2": Change("kueue", (0, 15), "kueue.x-k8s.io/v1beta2", "Kueue 0.15 release notes"),
}
"""By a name of ours. A row that no target asks for yet is there for people, and for `ptcompile targets`."""


def there(name: str, versions: Versions) -> bool:
    """Whether the cluster's release has the change of this name.

    Raises:
        KeyError: there is no such row, which is a mistake of ours.
    """
    change = CHANGES[name]
    version: Version = getattr(versions, change.operator)
    return change.since <= version and (change.until is None or version <= change.until)
