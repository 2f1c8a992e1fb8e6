"""A volume is in another zone than the pods that mount it.

PTC331 volume-elsewhere: error at run (waits), by ptcompile.
Needs: persistentVolumeClaim @PersistentVolume/@StorageClass

What: pods select nodes of one zone (or region, or another label), and a claim of the same stream is
on a volume, or of a storage class, that exists in another one only; or two volumes of a pod have no
zone in common.

Why: a disk is attached only to machines of its zone. The scheduler finds no node ("had volume node
affinity conflict"), and the pods stay Pending.

Example:

      apiVersion: v1
      kind: PersistentVolume
      metadata: {name: disk}
      spec:
        capacity: {storage: 1Ti}
        accessModes: [ReadWriteOnce]
        storageClassName: ""
        claimRef: {name: ckpt, namespace: default}
        csi: {driver: ebs.csi.aws.com, volumeHandle: vol-0123456789abcdef0}
        nodeAffinity:
          required:
            nodeSelectorTerms:
              - matchExpressions:
                  - {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1c]}
      ---
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: ckpt}
      spec:
        volumeName: disk
        storageClassName: ""
        accessModes: [ReadWriteOnce]
        resources: {requests: {storage: 1Ti}}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        nodeSelector:
    -     topology.kubernetes.io/zone: us-east-1b
    +     topology.kubernetes.io/zone: us-east-1c
        volumes:
          - name: ckpt
            persistentVolumeClaim:
    -         claimName: ckpt  # <--
    +         claimName: ckpt
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi}}
            volumeMounts: [{name: ckpt, mountPath: /ckpt}]

Fix: run the pods where the volume is, or use storage that every zone mounts.

Source: Kubernetes 1.36, scheduler plugins volumebinding and volumezone; StorageClass
allowedTopologies.
"""

from __future__ import annotations

from ptcompile.kubernetes.pod_spec import pinned_values
from ptcompile.linter.claims import claims_of_pod, places_of_claim
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        allowed: dict[str, tuple[str, frozenset[str]]] = {}
        for path, claim in claims_of_pod(subject, template):
            for label, places, owner in places_of_claim(subject.stream, claim):
                if label not in allowed:
                    pins = [values for _, values in pinned_values(template.spec, label)]
                    allowed[label] = (
                        ("the pods select", frozenset(pins[0])) if pins else (owner, places)
                    )

                other, values = allowed[label]
                if values.isdisjoint(places):
                    yield found_at(
                        path,
                        f"{owner} {_join_values(places)} ({label}), "
                        f"but {other} {_join_values(values)}: no node has both",
                        "run the pods where the volume is, or use storage that every zone mounts",
                    )


def _join_values(values: frozenset[str]) -> str:
    return " or ".join(sorted(values))
