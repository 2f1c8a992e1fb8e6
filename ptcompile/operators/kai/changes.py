"""What KAI's releases changed in what ptcompile writes, one row a change, with its source."""

from __future__ import annotations

from ptcompile.operators.common.changes import Change

CHANGES: dict[str, Change] = {
    "kai-trainjob": Change("kai", (0, 13), "the pods of a TrainJob are one gang", "KAI Scheduler 0.13 CHANGELOG"),
    "kai-job": Change(
        "kai", (0, 15), "kai.scheduler/batch-min-member makes a Job a gang", "KAI Scheduler pull request 1308"
    ),
}
