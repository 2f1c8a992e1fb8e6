"""A pod that trains requests Istio's sidecar.

What: a pod that should end has the label or annotation sidecar.istio.io/inject set to "true".

Why: the proxy intercepts the pod's connections: NCCL and Gloo do not speak HTTP and choose their ports at random, so
they break under mutual TLS. Unless it is a native sidecar the proxy also outlives the training, and the pod never ends.

Example:

      apiVersion: v1
      kind: Pod
      metadata:
        name: train
        labels:
    -     sidecar.istio.io/inject: "true"  # <--
    +     sidecar.istio.io/inject: "false"
      spec:
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [python, train.py]
            resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: set the label to "false".

Source: Istio 1.27, sidecar injection; kubeflow/trainer issues 1585, 2327 and 2794.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject

_KEY = "sidecar.istio.io/inject"


def _check(subject: Subject) -> Iterator[Finding]:
    for template in subject.templates:
        if not template.path and template.spec.get("restartPolicy") not in ("Never", "OnFailure"):
            continue  # a Pod without a restartPolicy usually serves requests
        for key in ("labels", "annotations"):
            if nested_map(template.data, "metadata", key).get(_KEY) == "true":
                path = (*template.path, "metadata", key, _KEY)
                yield found_at(
                    path,
                    "the proxy breaks the connections of NCCL and Gloo, and may outlive the training",
                    'set the label to "false"',
                    Fix('set the label to "false"', (Edit("set", path, "false"),), safe=False),
                )


RULE = Rule("istio-sidecar", _check, severity="warning", stage="run", authority="ptcompile")
