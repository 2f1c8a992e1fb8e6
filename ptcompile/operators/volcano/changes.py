"""What Volcano's releases changed in what ptcompile writes, one row a change, with its source."""

from __future__ import annotations

from ptcompile.operators.common.changes import Change

CHANGES: dict[str, Change] = {
    "volcano-pytorch-plugin": Change("volcano", (1, 7), "the pytorch plugin", "Volcano 1.7, facts/volcano"),
    "volcano-world-size": Change(
        "volcano",
        (1, 12),
        "WORLD_SIZE counts the tasks master and worker alone",
        "Volcano 1.12, issue 4238, facts/volcano",
    ),
    "volcano-restart-pod": Change(
        "volcano", (1, 12), "action RestartPod, event PodPending with a timeout", "Volcano 1.12, facts/volcano"
    ),
    "volcano-partitions": Change(
        "volcano", (1, 14), "partitionPolicy, RestartPartition, highestTierName", "Volcano 1.14, facts/volcano"
    ),
    "volcano-topology": Change(
        "volcano", (1, 11), "networkTopology of a Job and a PodGroup", "Volcano 1.11 release notes, facts/volcano"
    ),
}
