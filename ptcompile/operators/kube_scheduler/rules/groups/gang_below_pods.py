"""A group starts with fewer pods than wait for one another.

PTC254 gang-below-pods: warning at run (waits), by kube-apiserver.
Needs: minCount

What: minCount of a PodGroup is below the number of nodes that the launcher of its pods waits for.

Why: kube-scheduler starts minCount pods where the others do not fit. The launcher then waits for
the missing nodes while the pods hold their devices, which is what a gang should prevent.

Example: gang_job.yaml with

      apiVersion: scheduling.k8s.io/v1beta1
      kind: PodGroup
      metadata: {name: train}
      spec:
        schedulingPolicy:
          gang:
    -       minCount: 2  # <--
    +       minCount: 4
      ---
      restartPolicy: Never
      subdomain: train
      containers:
        - name: pytorch
          command: [torchrun, --nnodes=4, --rdzv-backend=c10d, --rdzv-endpoint=train-0.train:29400, train.py]
      ---
      apiVersion: v1
      kind: Service
      metadata: {name: train}
      spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {batch.kubernetes.io/job-name: train}}

Fix: set minCount to the number of nodes that the launcher waits for.

Source: Kubernetes 1.37, pkg/scheduler/framework/plugins/gangscheduling; PyTorch 2.13,
dynamic_rendezvous.py.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.kube_scheduler.rules.reading import group_sizes


def check(subject: Subject) -> Findings:
    for path, size, members in group_sizes(subject):
        total = sum(member.pods for member in members)
        jobs = {id(member.subject): member.subject for member in members}
        waiting = [job.min_nodes_to_start for job in jobs.values()]
        required = min(total, sum(nodes for nodes in waiting if nodes > 1))
        if size < required:
            yield found_at(
                path,
                f"{size} of {total} pods are enough to start, but {required} wait for one another: "
                "running pods hold their devices without training",
                f"set minCount to {required}",
                fix_setting(f"set minCount to {required}", path, required),
            )
