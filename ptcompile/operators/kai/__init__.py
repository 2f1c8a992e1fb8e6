"""KAI Scheduler: queues and gangs by labels and annotations."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.operators.record import Feature, Install, Operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.operators.common.queue_system import QueueSystem


class KAI(Operator):
    """KAI Scheduler."""

    folder = "kai"
    authority = "ptcompile"
    release = "kai"
    title = "KAI"
    install = Install("kai-scheduler", ("queues.scheduling.run.ai/v2", "podgroups.scheduling.run.ai/v2alpha2"))
    features: Mapping[str, Feature] = {
        "kai-trainjob": Feature("kai", (0, 13), "the pods of a TrainJob are one gang", "KAI Scheduler 0.13 CHANGELOG"),
        "kai-job": Feature(
            "kai", (0, 15), "kai.scheduler/batch-min-member makes a Job a gang", "KAI Scheduler pull request 1308"
        ),
    }
    queue_system = "kai"
    gang_scheduler = "kai"

    def queues(self) -> QueueSystem:
        from ptcompile.operators.kai.queues import QUEUES

        return QUEUES
