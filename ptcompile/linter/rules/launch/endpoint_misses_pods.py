"""The rendezvous goes through a Service that selects none of the pods.

PTC487 endpoint-misses-pods: error at run (fails), by torchrun.
Needs: @endpoint-misses-pods

What: the endpoint is the name of a Service of the pods' namespace, all nodes that meet are pods of
this object, and the Service's selector fits the labels of none of them, nor of any other pod of the
files. With c10d, a Service with a cluster IP reaches no store either.

Why: a Service without pods has no endpoints. A headless one does not resolve, and connections to a
cluster IP are refused, until the rendezvous times out. The pod whose own address the endpoint names
hosts c10d's store, and no pod has a cluster IP.

Example: indexed_job.yaml with

      apiVersion: v1
      kind: Service
      metadata: {name: train-master}
      spec:
    -   selector: {app: train-master}
    +   selector: {batch.kubernetes.io/job-name: train, batch.kubernetes.io/job-completion-index: "0"}
        ports: [{port: 29500}]
      ---
      - name: pytorch
        command:
          - torchrun
          - --nnodes=2
          - --node-rank=$(JOB_COMPLETION_INDEX)
          - --master-addr=train-master  # <--
          - train.py
        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: select labels of the pod with rank 0; an Indexed Job's has
batch.kubernetes.io/job-completion-index: "0".

Source: Kubernetes 1.36, Services: selectors; PyTorch 2.13, rank 0 serves the store.
"""

from __future__ import annotations

from ptcompile.kubernetes.index import selector
from ptcompile.kubernetes.unstructured import object_name
from ptcompile.linter.rule import Findings, Subject, found_at

_HEADLESS = "set clusterIP to None and let the endpoint name one pod, or use the static rendezvous"


def check(subject: Subject) -> Findings:
    for role, obstacle in subject.obstacles_named("endpoint-misses-pods"):
        service = obstacle.services[0]
        reason = "has a cluster IP, and with c10d the pod with that address hosts the store"
        help = _HEADLESS
        if obstacle.option == "selector":
            labels = ", ".join(f"{key}={value}" for key, value in selector(service).items())
            reason = f"selects {labels}, which no pod has"
            help = "select labels of the pod with rank 0"

        yield found_at(
            role.endpoint_path,
            f"nothing answers to {role.rendezvous.host}: the Service {object_name(service)} "
            f"{reason}",
            help,
            severity="warning"
            if any(id(item) in subject.stream.related_ids for item in obstacle.services)
            else None,
        )
