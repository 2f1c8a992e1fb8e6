"""The deadline ends the job while its nodes may still wait for one another.

PTC770 deadline-before-join: warning at run (risks), by torchrun.
Needs: {TORCHRUN} {MULTI_POD_KINDS} activeDeadlineSeconds

What: activeDeadlineSeconds is no longer than the nodes of the job wait at their rendezvous.

Why: the rendezvous waits for a late node as long as it is configured to, while the deadline counts
from the start of the job, image pulls included. The job ends without saying what was missing, and
what was trained until then is lost.

Example: one_node_jobset.yaml with

      completions: 4
      parallelism: 4
      backoffLimit: 0
    - activeDeadlineSeconds: 600  # <--
    + activeDeadlineSeconds: 86400
      template:
        spec:
          containers:
            - name: pytorch
              command:
                - torchrun
                - --nnodes=4
                - --rdzv-backend=c10d
                - --rdzv-endpoint=train-node-0-0.train:29400
    -           - --rdzv-conf=join_timeout=900,read_timeout=900
    +           - --rdzv-conf=join_timeout=300,read_timeout=300
                - train.py
              resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: give a deadline for all of the training, or a shorter wait in --rdzv-conf.

Source: Kubernetes 1.36, activeDeadlineSeconds; PyTorch 2.13: join_timeout is 600 seconds by
default, and `timeout` of a static rendezvous too.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import as_int, get
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.training_roles import TrainingRole
from ptcompile.simulator.agents import agents_of

_SHORT_DEADLINE_SECONDS = 60
"""Shorter deadlines are reported by short-deadline."""


def check(subject: Subject) -> Findings:
    job = subject.job
    if job is None or not subject.torchrun_groups:
        return

    agents = agents_of(job)
    if agents is None:
        return

    for path, seconds in _deadlines(subject, subject.torchrun_groups[0][0]):
        if _SHORT_DEADLINE_SECONDS <= seconds <= agents.wait_for_others:
            yield found_at(
                path,
                f"the job ends after {seconds} seconds, but its nodes may wait "
                f"{agents.wait_for_others} for one another",
                "give a longer deadline, or a shorter wait in --rdzv-conf",
            )
            return


def _deadlines(subject: Subject, role: TrainingRole) -> Iterator[tuple[Path, int]]:
    """Yield the deadlines that apply to the training container: the pod's, its Job's and the
    object's.
    """
    parents = [role.path[:length] for length in range(1, len(role.path))]
    spec_paths = [path for path in parents if path[-1] == "spec"] + [("spec", "runPolicy")]
    for spec_path in spec_paths:
        path: Path = (*spec_path, "activeDeadlineSeconds")
        seconds = get(subject.made, path, get(subject.manifest, path))
        if seconds is not None:
            yield path, as_int(seconds)
