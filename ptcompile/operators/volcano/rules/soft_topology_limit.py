"""A soft network topology has a limit that is not enforced.

PTC837 soft-topology-limit: warning at style, by volcano.
Needs: soft

What: networkTopology of mode soft with highestTierAllowed or highestTierName.

Why: soft is best effort: the scheduler prefers close nodes and places the pods anywhere in the end.
The limit is for mode hard.

Example: volcano_job.yaml with

      minAvailable: 4
      networkTopology:
    -   mode: soft
    +   mode: hard
        highestTierAllowed: 1  # <--
      tasks:
        - name: trainer
          replicas: 4

Fix: use mode hard, or remove the limit.

Source: Volcano 1.16, network-topology-aware plugin.
"""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import Json, nested_map
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.volcano.rules.reading import volcano_job


def check(subject: Subject) -> Findings:
    topologies: list[tuple[Path, Json]] = [
        (("spec", "networkTopology"), nested_map(subject.spec, "networkTopology"))
    ]
    for i, task in enumerate(volcano_job(subject).tasks):
        task_topology = nested_map(task.source, "partitionPolicy", "networkTopology")
        topologies.append(
            (("spec", "tasks", i, "partitionPolicy", "networkTopology"), task_topology)
        )

    for topology_path, topology in topologies:
        for key in ("highestTierAllowed", "highestTierName"):
            if topology.get("mode") == "soft" and topology.get(key) is not None:
                yield found_at(
                    (*topology_path, key),
                    "with mode soft the pods may be placed anywhere, regardless of the limit",
                    f"set mode to hard, or remove {key}",
                    fix_setting("set mode to hard", (*topology_path, "mode"), "hard"),
                )
