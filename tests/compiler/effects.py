"""What each value of a spec does: the values of the manifests that change with it, or why compile rejects it.

`python -m tests.compiler.effects` writes the records again, a file for each target; review the difference.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml

import ptcompile
from ptcompile.diagnostics import field_path
from ptcompile.explainer.values import differences
from ptcompile.kubernetes.unstructured import MISSING
from tests.making import smallest
from tests.records import write_records
from tests.variations import variations

PROFILE = {"kind": "ClusterProfile", "spec": {"cloud": "gke", "queueSystem": "kueue"}}
RECORDS = Path(__file__).parent / "effects"
COMMON = """\
args: [--lr, "1"]
imagePullPolicy: Always
workingDir: /w
podLabels: {team: a}
podAnnotations: {note: b}
nodeSelector: {disk: ssd}
serviceAccountName: trainer
env: {LEVEL: info, "ON": "true"}
resources: {cpu: 4, memory: 16Gi, gpu: 2}
sharedMemory: 2Gi
elastic: {nprocPerNode: 2, maxRestarts: 1, rdzvBackend: c10d, rdzvId: id, monitorInterval: 7}
"""
SPECS = {
    "job": COMMON
    + """\
nodes: 2
queue: q
priority: p
spot: true
masterPort: 1234
names: {container: c}
volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
volumeMounts: [{name: data, mountPath: /data, readOnly: true}]
runPolicy: {backoffLimit: 3, onPodFailure: RestartPod, onDisruption: Ignore, ttlSecondsAfterFinished: 9}
""",
    "pytorchjob": COMMON
    + """\
master: {env: {LEVEL: debug}, resources: {cpu: 8}}
worker: {replicas: 2, priorityClassName: low}
restartPolicy: OnFailure
podSecurity: restricted
runPolicy: {cleanPodPolicy: Running, activeDeadlineSeconds: 60, suspend: true}
""",
    "jobset": COMMON
    + """\
nodes: 2
roles: {loader: {image: l, command: [x], replicas: 2, env: {A: b}, resources: {cpu: 1}}}
tolerations: [{key: k, operator: Exists, effect: NoSchedule}]
hostNetwork: true
runPolicy: {backoffLimit: 2, successPolicy: Node0}
""",
    "volcano": COMMON + "nodes: 2\nrunPolicy: {backoffLimit: 2, onPodFailure: RestartJob}\n",
    "trainjob": COMMON + "nodes: 2\nterminationGracePeriodSeconds: 60\nschedulerName: s\n",
}


def spec_for(target: str) -> dict[str, Any]:
    spec: dict[str, Any] = yaml.safe_load(smallest(SPECS[target]))
    return spec


def effects(target: str) -> dict[str, list[str]]:
    """Return the lines for the spec of a target and each variation of it, keyed by what varies."""
    document = spec_for(target)
    usual = ptcompile.compile(document, target=target, cluster=PROFILE)
    assert usual.manifests, usual.diagnostics
    lines = {"": [*_findings(usual)]}
    for name, fields in variations(document["spec"], "spec"):
        compiled = ptcompile.compile({**document, "spec": fields}, target=target, cluster=PROFILE)
        lines[name] = [
            *(line for line in _findings(compiled) if line not in lines[""]),
            *_changes(usual, compiled),
        ]
    return lines


def _findings(result: ptcompile.Result) -> list[str]:
    """Return what ptcompile itself says; other tests cover what it knows of Kubernetes and the operators."""
    return [
        f"{diagnostic.severity}: {diagnostic.message}"
        for diagnostic in result.diagnostics
        if diagnostic.authority == "ptcompile"
    ]


def _changes(usual: ptcompile.Result, compiled: ptcompile.Result) -> list[str]:
    """Return the values of the manifests that are others, or nothing for a spec without manifests."""
    if not compiled.manifests:
        return []
    before, after = [*usual.manifests], [*compiled.manifests]
    return [
        f"{field_path(path)} = {'none' if new is MISSING else json.dumps(new)}"
        for path, _, new in differences(before, after)
    ]


def main() -> None:
    write_records(RECORDS, {target: effects(target) for target in SPECS})


if __name__ == "__main__":
    main()
