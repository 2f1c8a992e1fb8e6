"""The loss of node 0 uses up all retries of a job that restarts pods one by one.

PTC769 few-retries-for-node-0: warning at run (risks), by torchrun.
Needs: {TORCHRUN} {RETRYING_KINDS} backoffLimit c10d

What: a Job, or the Job of a JobSet, of pods that meet by c10d and restart their processes retries
fewer failed pods than it has others than node 0.

Why: node 0 hosts the rendezvous store. When it is lost, torchrun exits with status 1 on every other
pod within seconds, and each counts as a failed pod: more than backoffLimit allows, so the Job fails
instead of being retried.

Example: one_node_jobset.yaml with

      completions: 4
      parallelism: 4
    - backoffLimit: 2  # <--
    + backoffLimit: 24
      template:
        spec:
          containers:
            - name: pytorch
              command:
                - torchrun
                - --nnodes=4
                - --rdzv-backend=c10d
                - --rdzv-endpoint=train-node-0-0.train:29400
                - --max-restarts=3
                - train.py
              env: [{name: TORCH_DISABLE_SHARE_RDZV_TCP_STORE, value: "1"}]
              resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: make backoffLimit a multiple of the number of pods: that many losses of node 0 are retried.

Source: PyTorch 2.13, c10d_rendezvous_backend.py: the store is a process of node 0; Kubernetes 1.36,
backoffLimit; `ptcompile rehearse FILE --kill 0,back=8s` shows it.
"""

from __future__ import annotations

from ptcompile._internal.spelling import pluralize
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import Json, nested_int
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.linter.training_roles import TrainingRole, count_nodes
from ptcompile.world.workload import mapping_at


def check(subject: Subject) -> Findings:
    for roles in subject.torchrun_groups:
        first = roles[0]
        other_pods = count_nodes(roles) - 1
        job_spec = _job_spec(subject, first)
        # torchrun restarts its processes after those of another node have failed
        is_restarted = first.meets_by_c10d and first.restarts > 0
        if other_pods < 1 or job_spec is None or not is_restarted or len(roles) > 1:
            continue

        spec_path, spec = job_spec
        path = (*spec_path, "backoffLimit")
        limit = nested_int(spec, "backoffLimit", default=6)
        if spec.get("backoffLimit") is not None and 0 < limit < other_pods:
            verb = "is" if limit == 1 else "are"
            enough = 6 * (other_pods + 1)
            yield found_at(
                path,
                f"when node 0 is lost, torchrun exits with status 1 on the other {other_pods} "
                f"pods, but only {pluralize(limit, 'failure')} {verb} retried",
                f"set it to {other_pods} for each loss of node 0 that the job should survive",
                fix_setting(f"set backoffLimit to {enough}", path, enough),
            )


def _job_spec(subject: Subject, role: TrainingRole) -> tuple[Path, Json] | None:
    """Return the path and the spec of the batch/v1 Job whose pods train, or None for other
    kinds.
    """
    if subject.kind == ("batch/v1", "Job"):
        return ("spec",), subject.spec
    if len(role.path) < 4 or role.path[:2] != ("spec", "replicatedJobs"):
        return None
    path = role.path[: role.path.index("template") + 2]
    return path, mapping_at(subject.made, path)
