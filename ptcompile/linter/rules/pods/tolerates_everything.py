"""A pod tolerates every taint, even those of broken nodes.

PTC204 tolerates-everything: warning at run (risks), by ptcompile.
Needs: tolerations Exists

What: a toleration has the operator Exists, no key, and no effect or the effect NoExecute.

Why: the pod can start on nodes that are not ready or under pressure, on control planes and in node
pools of other teams, and it is never evicted from a dead node: the job hangs instead of being
restarted.

Example: pod.yaml with

      spec:
        tolerations:
    -     - operator: Exists  # <--
    +     - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}
        containers:
          - name: pytorch
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: name the taints of the intended node pool.

Source: Kubernetes 1.36, taints and tolerations: an empty key with Exists matches every taint;
not-ready and unreachable are NoExecute taints.
"""

from __future__ import annotations

from ptcompile.kinds.templates import indexed_mappings
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for i, toleration in indexed_mappings(template.spec.get("tolerations")):
            matches_all = toleration.get("operator") == "Exists" and not toleration.get("key")
            if matches_all and toleration.get("effect") in (None, "", "NoExecute"):
                yield found_at(
                    (*template.spec_path, "tolerations", i),
                    "tolerates every taint: the pod stays on a node that died, and starts on "
                    "nodes that are not ready",
                    "name the key of the intended taint",
                )
