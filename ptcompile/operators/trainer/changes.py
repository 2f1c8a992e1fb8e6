"""What Trainer's releases changed in what ptcompile writes, one row a change, with its source."""

from __future__ import annotations

from ptcompile.operators.common.changes import Change

_API = "Trainer {} pkg/apis/trainer/v1alpha1, facts/trainer"

CHANGES: dict[str, Change] = {
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
        "trainer", (2, 1), "podGroupPolicy.volcano of a runtime", "Trainer 2.1 release notes, facts/trainer"
    ),
    "resources-merged": Change(
        "trainer",
        (2, 3),
        "resourcesPerNode is merged with the runtime's by name",
        "Trainer 2.3, PR 3602, facts/trainer",
    ),
    "trainjob-managed-by": Change(
        "trainer", (2, 3), "managedBy is honored by the controller", "Trainer 2.3, PR 3681, facts/trainer"
    ),
}
