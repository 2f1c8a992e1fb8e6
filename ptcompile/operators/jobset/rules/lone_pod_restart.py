"""A failed pod is restarted alone and cannot rejoin the others.

PTC735 lone-pod-restart: warning at run (risks), by torchrun.

What: the pods meet at a static rendezvous, and the backoffLimit of their Job is above 0; absent it
is 6.

Why: the Job replaces or restarts the one pod that failed. Its new process waits for a full
rendezvous, and the other ranks hang in their next collective until a timeout, up to backoffLimit
times.

Example: jobset.yaml with

      completions: 2
    - backoffLimit: 3  # <--
    + backoffLimit: 0
      template:
        spec:
          containers:
            - name: pytorch
              command:
                - torchrun
                - --nnodes=2
                - --node-rank=$(JOB_COMPLETION_INDEX)
                - --master-addr=train-node-0-0.train
                - train.py
              resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: set backoffLimit to 0, and let failurePolicy.maxRestarts start all Jobs again together.

Source: Kubernetes, Job backoffLimit; JobSet 0.12, failurePolicy; PyTorch 2.13, static rendezvous.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_int, nested_map, nested_value
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.jobset.rules.reading import child_job, child_path, name_of, replicated_jobs


def check(subject: Subject) -> Findings:
    in_place = nested_value(subject.spec, "failurePolicy", "restartStrategy") == "InPlaceRestart"
    for index, replicated in replicated_jobs(subject):
        spec = child_job(replicated)
        limit = nested_int(spec, "backoffLimit", default=6)
        restarts_alone = limit > 0 and not in_place and not nested_map(spec, "podFailurePolicy")
        rendezvous = subject.waiting_roles.get(name_of(replicated)) if restarts_alone else None
        if rendezvous is None or rendezvous.nodes is None:
            continue

        # with these backends all pods join once, at the start; c10d lets a restarted pod rejoin
        fewest, most = rendezvous.nodes
        if rendezvous.backend not in ("static", "env") or fewest != most:
            continue

        path = child_path(index, "backoffLimit")
        origin = "" if spec.get("backoffLimit") is not None else " (the default of backoffLimit)"
        yield found_at(
            path,
            f"up to {limit}{origin} failed pods are restarted one by one, but {fewest} pods meet "
            "only together",
            "set backoffLimit to 0, and failurePolicy.maxRestarts for the whole JobSet",
            fix_setting("set backoffLimit to 0", path, 0),
        )
