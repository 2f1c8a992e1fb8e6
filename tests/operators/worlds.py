"""What each operator makes of small specs, recorded in its folder: the pods that start, and the spec that import reads.

`python -m tests.operators.worlds` writes the records again; review the difference.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

import ptcompile
from ptcompile.simulator.as_text import overview
from tests.making import smallest

TARGETS = {
    "pod": "pod",
    "batch": "job",
    "pytorchjob": "pytorchjob",
    "volcano": "volcano",
    "jobset": "jobset",
    "trainer": "trainjob",
}
"""The targets, keyed by the operator's folder."""

BODIES = (
    "restartPolicy: Never",
    "restartPolicy: OnFailure\nresources: {cpu: 2, gpu: 2}",
    "nodes: 2\nresources: {cpu: 2, gpu: 1}\nsharedMemory: 1Gi\nqueue: q",
    "nodes: 3\nmaster: {env: {A: x}}\nworker: {replicas: 2, resources: {memory: 1Gi}}\nmasterPort: 1234",
    "nodes: 2\nroles: {loader: {command: [x], replicas: 2}}\nnames: {container: c, node: n}",
    "nodes: 2\nelastic: {nnodes: '2:4', maxRestarts: 3, nprocPerNode: 2}",
    "nodes: 2\nrunPolicy: {backoffLimit: 3, onPodFailure: RestartPod, onDisruption: Ignore}",
    "nodes: 2\nrunPolicy: {onPodFailure: FailJob, onDisruption: FailJob, activeDeadlineSeconds: 60, suspend: true}",
    "nodes: 2\nrunPolicy: {onPodFailure: RestartJob, backoffLimit: 2, successPolicy: Node0, cleanPodPolicy: All}",
    "nodes: 2\nrunPolicy: {successPolicy: AllNodes, ttlSecondsAfterFinished: 5}\nrestartPolicy: OnFailure",
    "nodes: 2\nrunPolicy: {backoffLimit: Unlimited, onPodFailure: RestartJob}",
)
RECORD = "worlds.json"


def world(folder: str, body: str) -> dict[str, Any]:
    """Return what the operator makes of a spec: the errors of compile, or the pods and the spec read back."""
    compiled = ptcompile.compile(smallest(body), target=TARGETS[folder])
    if not compiled.manifests:
        return {
            "errors": [
                diagnostic.message
                for diagnostic in compiled.diagnostics
                if diagnostic.severity == "error"
            ]
        }
    imported = ptcompile.import_manifests(list(compiled.manifests))
    specs = [spec["spec"] for spec in imported.specs]
    return {
        "overview": overview(ptcompile.simulate(compiled.manifests)).splitlines(),
        "imported": yaml.safe_dump_all(specs, sort_keys=False, width=1000).splitlines(),
        "findings": [diagnostic.message for diagnostic in imported.diagnostics],
    }


def recorded(folder: str) -> dict[str, Any]:
    records: dict[str, Any] = json.loads((Path(__file__).parent / folder / RECORD).read_text())
    return records


def main() -> None:
    for folder in TARGETS:
        records = {body: world(folder, body) for body in BODIES}
        text = json.dumps(records, indent=1, ensure_ascii=False) + "\n"
        (Path(__file__).parent / folder / RECORD).write_text(text)


if __name__ == "__main__":
    main()
