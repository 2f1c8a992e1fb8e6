"""A Service's name creates an environment variable that the launcher reads.

PTC214 service-shadows-env: warning at run (fails), by kubelet.
Needs: master

What: a Service with a cluster IP has a name from which the kubelet derives variables of torchrun or
torch.distributed: `master` gives MASTER_PORT, `pet-master` gives PET_MASTER_PORT.

Why: every pod of the namespace that starts later gets `MASTER_PORT=tcp://10.0.0.7:29500`. A process
that reads a number there stops with "invalid literal for int()".

Example:

      apiVersion: v1
      kind: Service
      metadata:
    -   name: master  # <--
    +   name: train-master
      spec:
        selector: {app: train}
        ports: [{port: 29500}]

Fix: rename it, or make it headless: headless Services create no variables. Pods can also opt out
with enableServiceLinks: false.

Source: Kubernetes 1.36, environment variables of Services; PyTorch 2.13, MASTER_PORT and
PET_MASTER_PORT.
"""

from __future__ import annotations

from ptcompile.kubernetes.index import is_headless
from ptcompile.kubernetes.unstructured import nested_maps
from ptcompile.linter.rule import Findings, Subject, found_at

_SHADOWED_VARIABLES = {"master": "MASTER_PORT", "pet-master": "PET_MASTER_PORT"}


def check(subject: Subject) -> Findings:
    variable = _SHADOWED_VARIABLES.get(subject.name)
    headless = is_headless(subject.manifest) or subject.spec.get("type") == "ExternalName"
    ports = nested_maps(subject.spec, "ports")
    if variable is not None and not headless and ports:
        yield found_at(
            ("metadata", "name"),
            f"every pod of the namespace gets {variable}=tcp://<address>:{ports[0].get('port')}, "
            "where torch.distributed expects a number",
            "rename it, or make it headless",
        )
