"""The kubelet changes the owner of every file of a large volume before each start.

PTC332 slow-ownership: note at run (slows), by kubelet.
Needs: fsGroup @PersistentVolumeClaim

What: a pod has fsGroup without fsGroupChangePolicy: OnRootMismatch, and mounts a claim of the
stream of 1 Ti or more whose driver may apply it.

Why: by default the kubelet walks the whole volume at every start. For millions of files that takes
minutes to hours, in which the pod waits with its GPUs.

Example: pod.yaml with

      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: crawl}
      spec:
        accessModes: [ReadWriteOnce]
        resources: {requests: {storage: 8Ti}}
      ---
      spec:
        securityContext:
          fsGroup: 1000  # <--
    +     fsGroupChangePolicy: OnRootMismatch
        volumes: [{name: crawl, persistentVolumeClaim: {claimName: crawl}}]
        containers:
          - name: pytorch
            volumeMounts: [{name: crawl, mountPath: /data}]

Fix: set fsGroupChangePolicy to OnRootMismatch: the walk is skipped if the volume's root has the
right group.

Source: Kubernetes 1.36, pkg/volume/volume_linux.go: SetVolumeOwnership; fsGroupPolicy of the
drivers.
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix
from ptcompile.hardware.csi_drivers import WITHOUT_GROUP
from ptcompile.kubernetes import quantity
from ptcompile.kubernetes.unstructured import nested_map, nested_value, object_name
from ptcompile.linter.claims import claims_of_pod, driver_of_claim
from ptcompile.linter.rule import Findings, Subject, found_at

_LARGE = quantity.parse("1Ti")
_TITLE = "set fsGroupChangePolicy to OnRootMismatch"


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        context = nested_map(template.spec, "securityContext")
        if context.get("fsGroup") is None or context.get("fsGroupChangePolicy") == "OnRootMismatch":
            continue

        path = (*template.spec_path, "securityContext")
        for _, claim in claims_of_pod(subject, template):
            requested = nested_value(claim, "spec", "resources", "requests", "storage")
            size = quantity.parse(requested)
            is_large = size is not None and _LARGE is not None and size.nano >= _LARGE.nano
            if is_large and driver_of_claim(subject.stream, claim) not in WITHOUT_GROUP:
                edits = (Edit("set", (*path, "fsGroupChangePolicy"), "OnRootMismatch"),)
                yield found_at(
                    (*path, "fsGroup"),
                    f"the owner of every file of {object_name(claim)} ({requested}) is changed at "
                    "each start",
                    _TITLE,
                    Fix(_TITLE, edits),
                )
