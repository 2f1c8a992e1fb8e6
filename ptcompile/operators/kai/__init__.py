"""NVIDIA's KAI scheduler: its queues, and what its releases changed."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.kinds.model import Feature, GangSystem, Install, Operator, QueueSystem


class KAI(Operator):
    """KAI Scheduler."""

    folder = "kai"
    authority = "ptcompile"
    release = "kai"
    title = "KAI"
    install = Install(
        "kai-scheduler",
        ("queues.scheduling.run.ai/v2", "podgroups.scheduling.run.ai/v2alpha2"),
        images=("kai-scheduler/scheduler", "kai-scheduler/operator", "kai-scheduler/podgrouper"),
    )
    features: Mapping[str, Feature] = {
        "kai-trainjob": Feature(
            "kai", (0, 13), "the pods of a TrainJob are one gang", "KAI Scheduler 0.13 CHANGELOG"
        ),
        "kai-job": Feature(
            "kai",
            (0, 15),
            "kai.scheduler/batch-min-member makes a Job a gang",
            "KAI Scheduler pull request 1308",
        ),
    }
    queue_system = "kai"
    gang_scheduler = "kai"

    def queues(self) -> QueueSystem:

        return QUEUES

    def gangs(self) -> GangSystem:
        from ptcompile.operators.kai.gang import GANGS

        return GANGS


_SHARE = {"quota": 0, "limit": -1, "overQuotaWeight": 1}


QUEUES = QueueSystem(
    lambda _: "scheduling.run.ai/v2",
    "Queue",
    # no guarantee or limit, as KAI's default-queue (docs/quickstart/default-queues.yaml)
    lambda _: {"resources": {name: dict(_SHARE) for name in ("cpu", "gpu", "memory")}},
)
