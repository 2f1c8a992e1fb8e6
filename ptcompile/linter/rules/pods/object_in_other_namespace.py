"""A pod refers to a claim, ConfigMap, Secret or ServiceAccount of another namespace.

PTC382 object-in-other-namespace: warning at run (waits), by kubelet.
Needs: namespace @PersistentVolumeClaim/@ConfigMap/@Secret/@ServiceAccount

What: the stream has an object of that kind and name, but only in other namespaces than the pods'.
Objects without a namespace are not compared: they get the one that the manifests are applied to.

Why: a pod finds these objects only in its own namespace. It stays Pending, or in ContainerCreating;
for a ServiceAccount it is never created.

Example:

      apiVersion: v1
      kind: PersistentVolumeClaim
    - metadata: {name: imagenet, namespace: storage}
    + metadata: {name: imagenet, namespace: research}
      spec: {accessModes: [ReadWriteMany], resources: {requests: {storage: 1Ti}}}
      ---
      apiVersion: v1
      kind: Pod
      metadata: {name: train, namespace: research}
      spec:
        restartPolicy: Never
        volumes:
          - name: data
            persistentVolumeClaim:
              claimName: imagenet  # <--
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi}}
            volumeMounts: [{name: data, mountPath: /data}]

Fix: put both into the same namespace.

Source: Kubernetes 1.36, namespaces: names of claims, ConfigMaps, Secrets and ServiceAccounts are
local.
"""

from __future__ import annotations

from ptcompile.kinds.references import references
from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    namespace = nested_string(subject.metadata, "namespace")
    if not namespace:
        return

    for template in subject.templates:
        for reference in references(template.spec, template.spec_path):
            if reference.is_optional or not reference.name:
                continue

            objects = subject.objects.by_name(("v1", reference.kind), reference.name)
            namespaces = {nested_string(manifest, "metadata", "namespace") for manifest in objects}
            if namespaces and "" not in namespaces and namespace not in namespaces:
                noun = "namespaces" if len(namespaces) > 1 else "namespace"
                yield found_at(
                    reference.path,
                    f"{reference.kind} {reference.name} is in {noun} "
                    f"{', '.join(sorted(namespaces))}, but the pods are in {namespace}",
                    "put both into the same namespace",
                )
