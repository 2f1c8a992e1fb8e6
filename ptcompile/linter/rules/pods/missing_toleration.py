"""A pod selects nodes whose taint it does not tolerate.

PTC276 missing-toleration: warning at run (waits), by ptcompile.
Needs: nodeSelector scalesetpriority/preemptible/master/control/kubelet

What: the pod selects nodes by a label that comes with a taint, and does not tolerate the taint:
spot nodes of AKS and OKE, control-plane nodes, virtual nodes.

Why: no node with the label accepts the pod. It stays Pending.

Example: pod.yaml with

      spec:
        nodeSelector:
          kubernetes.azure.com/scalesetpriority: spot  # <--
    +   tolerations: [{key: kubernetes.azure.com/scalesetpriority, value: spot, effect: NoSchedule}]
        containers:
          - name: pytorch
            command: [torchrun, --standalone, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: add the toleration.

Source: AKS, spot node pools; OKE, preemptible capacity; kubeadm 1.36, control-plane taints;
virtual-kubelet 1.11.
"""

from __future__ import annotations

from ptcompile.diagnostics import Fix
from ptcompile.hardware.nodes import SPOT
from ptcompile.kubernetes.selectors import untolerated
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_maps,
    nested_string_map,
)
from ptcompile.linter.rule import Findings, Subject, edit_adding, found_at

_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_TAINTS: dict[tuple[str, str], Json] = {
    **{
        label: {"key": taint.key, "value": taint.value or "", "effect": "NoSchedule"}
        for nodes in SPOT.values()
        for label in nodes.labels.items()
        for taint in (nodes.taints if nodes.tainted else ())
    },
    **{(role, ""): {"key": role, "effect": "NoSchedule"} for role in _CONTROL_PLANE},
    ("type", "virtual-kubelet"): {
        "key": "virtual-kubelet.io/provider",
        "value": "azure",
        "effect": "NoSchedule",
    },
}
"""Node labels, and the taint on the nodes that have them."""


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for label, value in nested_string_map(template.spec, "nodeSelector").items():
            taints = [_TAINTS[label, value]] if (label, value) in _TAINTS else []
            taint = untolerated(taints, nested_maps(template.spec, "tolerations"))
            if taint is None:
                continue

            key = taint["key"]
            edit = edit_adding(
                template.spec.get("tolerations"),
                (*template.spec_path, "tolerations"),
                {"key": key, "operator": "Exists", "effect": "NoSchedule"},
            )
            yield found_at(
                (*template.spec_path, "nodeSelector", label),
                f"nodes with this label have the taint {key}, which the pod does not tolerate",
                f"add a toleration of {key}",
                Fix(f"tolerate {key}", (edit,)),
            )
