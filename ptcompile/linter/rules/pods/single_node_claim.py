"""Several pods share a claim that only one node or one pod can mount.

PTC314 single-node-claim: warning at run (waits), by kubelet.
Needs: persistentVolumeClaim @PersistentVolumeClaim

What: pods of one object mount a claim of the same stream whose only accessModes are ReadWriteOnce
or ReadWriteOncePod.

Why: such a volume is attached to one node at a time. The pods that land on another node stay in
ContainerCreating ("Multi-Attach error"), and the ranks that run wait for them.

Example: indexed_job.yaml with

      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: imagenet}
      spec:
    -   accessModes: [ReadWriteOnce]
    +   accessModes: [ReadWriteMany]
        resources: {requests: {storage: 200Gi}}
      ---
      completions: 4
      parallelism: 4
      template:
        spec:
          volumes:
            - name: dataset
              persistentVolumeClaim:
                claimName: imagenet  # <--
          containers:
            - name: pytorch
              volumeMounts: [{name: dataset, mountPath: /data}]

Fix: use a storage class with ReadWriteMany or ReadOnlyMany, or a volume for each pod (ephemeral).

Source: Kubernetes 1.36, access modes of persistent volumes.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_strings, object_name
from ptcompile.linter.claims import claims_of_pod
from ptcompile.linter.rule import Findings, Subject, found_at

_SINGLE_NODE_MODES = {"ReadWriteOnce", "ReadWriteOncePod"}


def check(subject: Subject) -> Findings:
    pods = subject.replicas
    if pods < 2:
        return

    for template in subject.templates:
        for path, claim in claims_of_pod(subject, template):
            modes = nested_strings(claim, "spec", "accessModes")
            if modes and set(modes) <= _SINGLE_NODE_MODES:
                is_for_one_pod = modes == ["ReadWriteOncePod"]
                waiting = "all but the first" if is_for_one_pod else "pods on other nodes"
                yield found_at(
                    path,
                    f"{object_name(claim)} is {', '.join(modes)}, but {pods} pods share it: "
                    f"{waiting} never start",
                    "use a claim with ReadWriteMany or ReadOnlyMany, or an ephemeral volume per "
                    "pod",
                    severity="error" if is_for_one_pod and subject.min_nodes_to_start > 1 else None,
                )
