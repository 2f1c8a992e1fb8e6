"""A pod selects nodes whose taint it does not tolerate.

What: the pod selects nodes by a label that comes with a taint, and does not tolerate the taint: spot nodes of AKS
and OKE, control-plane nodes, virtual nodes.

Why: no node with the label accepts the pod. It stays Pending.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        nodeSelector:
          kubernetes.azure.com/scalesetpriority: spot  # <--
    +   tolerations: [{key: kubernetes.azure.com/scalesetpriority, value: spot, effect: NoSchedule}]
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [torchrun, --standalone, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: add the toleration.

Source: AKS, spot node pools; OKE, preemptible capacity; kubeadm 1.36, control-plane taints; virtual-kubelet 1.11.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.hardware.nodes import SPOT
from ptcompile.kubernetes.unstructured import as_mappings, as_string, string_map
from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.world.templates import ManifestTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.kubernetes.unstructured import Json

_TAINTS: Final[dict[tuple[str, str], tuple[str, str]]] = {
    **{
        label: (taint.key, taint.value or "")
        for nodes in SPOT.values()
        for label in nodes.labels.items()
        for taint in (nodes.taints if nodes.tainted else ())
    },
    ("node-role.kubernetes.io/control-plane", ""): ("node-role.kubernetes.io/control-plane", ""),
    ("node-role.kubernetes.io/master", ""): ("node-role.kubernetes.io/master", ""),
    ("type", "virtual-kubelet"): ("virtual-kubelet.io/provider", "azure"),
}
"""Node labels, and the taint with effect NoSchedule on the nodes that have them."""


def _check(subject: Subject) -> Iterator[Finding]:
    for template in subject.templates:
        for label, value in string_map(template.spec.get("nodeSelector")).items():
            taint = _TAINTS.get((label, value))
            if taint is None or any(
                _tolerates(toleration, *taint) for toleration in as_mappings(template.spec.get("tolerations"))
            ):
                continue
            path = (*template.path, "spec", "nodeSelector", label)
            yield found_at(
                path,
                f"nodes with this label have the taint {taint[0]}, which the pod does not tolerate",
                f"add a toleration of {taint[0]}",
                Fix(f"tolerate {taint[0]}", tuple(_edits(template, taint[0])), safe=False),
            )


def _tolerates(toleration: Json, key: str, value: str) -> bool:
    if as_string(toleration.get("effect")) not in ("", "NoSchedule"):
        return False
    if toleration.get("operator") == "Exists":
        return as_string(toleration.get("key")) in ("", key)
    return as_string(toleration.get("key")) == key and as_string(toleration.get("value")) == value


def _edits(template: ManifestTemplate, key: str) -> Iterator[Edit]:
    tolerations_path: Path = (*template.path, "spec", "tolerations")
    toleration = {"key": key, "operator": "Exists", "effect": "NoSchedule"}
    has_list = isinstance(template.spec.get("tolerations"), list)
    yield Edit("append", tolerations_path, toleration) if has_list else Edit("set", tolerations_path, [toleration])


RULE = Rule("missing-toleration", _check, severity="warning", stage="run", authority="ptcompile")
