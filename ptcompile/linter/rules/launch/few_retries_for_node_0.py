"""The loss of node 0 uses up all retries of a job that restarts pods one by one.

What: a Job, or the Job of a JobSet, of pods that meet by c10d and restart their processes retries fewer failed pods
than it has others than node 0.

Why: node 0 hosts the rendezvous store. When it is lost, torchrun exits with status 1 on every other pod within
seconds, and each counts as a failed pod: more than backoffLimit allows, so the Job fails instead of being retried.

Example:

      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
      spec:
        replicatedJobs:
          - name: node
            template:
              spec:
                completions: 4
                parallelism: 4
    -           backoffLimit: 2  # <--
    +           backoffLimit: 24
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                      - name: pytorch
                        image: ghcr.io/acme/train:1.0
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

Source: PyTorch 2.13, c10d_rendezvous_backend.py: the store is a process of node 0; Kubernetes 1.36, backoffLimit;
`ptcompile rehearse FILE --kill 0,back=8s` shows it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes.unstructured import as_int
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.trainers import TrainingRole, count_nodes
from ptcompile.linter.workload import mapping_at
from ptcompile.simulator.launchers.torchrun import is_int

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


def _check(subject: Subject) -> Iterator[Finding]:
    for found in subject.torchrun_groups:
        first, others = found[0], count_nodes(found) - 1
        where = _job_spec(subject, first)
        if others < 1 or where is None or not _restarts(first) or len(found) > 1:
            continue
        path, spec = (*where[0], "backoffLimit"), where[1]
        limit = as_int(spec.get("backoffLimit"), 6)
        if spec.get("backoffLimit") is not None and 0 < limit < others:
            yield found_at(
                path,
                f"when node 0 is lost, torchrun exits with status 1 on the other {others} pods, and "
                f"{limit} failures are retried",
                f"set it to {others} for each loss of node 0 that the job should survive",
                Fix(f"set backoffLimit to {6 * (others + 1)}", (Edit("set", path, 6 * (others + 1)),), safe=False),
            )


def _restarts(one: TrainingRole) -> bool:
    """Whether it is to outlive failures: its processes restart after those of another node have failed."""
    restarts = one.rendezvous.max_restarts
    return one.rendezvous.backend == "c10d" and not one.is_local and is_int(restarts) and int(restarts) > 0


def _job_spec(subject: Subject, one: TrainingRole) -> tuple[Path, Json] | None:
    """The spec of the batch/v1 Job whose pods train, and where it is; None for other kinds."""
    if subject.kind == ("batch/v1", "Job"):
        return ("spec",), subject.spec
    if len(one.path) < 4 or one.path[:2] != ("spec", "replicatedJobs"):
        return None
    path = one.path[: one.path.index("template") + 2]
    return path, mapping_at(subject.manifest, path)


RULE = Rule("few-retries-for-node-0", _check, severity="warning", stage="run", authority="torchrun")
