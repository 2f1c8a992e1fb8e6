"""A Job replaces one failed pod of a training that can only restart as a whole.

PTC713 job-restarts-alone: warning at run (risks), by kube-apiserver.
Needs: completions

What: several pods of a Job meet at fixed ranks (torchrun's static rendezvous, or MASTER_ADDR
without torchrun), and the Job retries failed pods: backoffLimit defaults to 6.

Why: the new pod waits at a rendezvous that is over, while the others wait for the old one: all hold
their accelerators until a timeout of NCCL or of torchrun ends them, one after the other, up to
backoffLimit times.

Example: indexed_torchrun.yaml with

      apiVersion: v1
      kind: Service
      metadata: {name: train}
      spec:
        clusterIP: None
        publishNotReadyAddresses: true
        selector: {batch.kubernetes.io/job-name: train}
      ---
    - backoffLimit: 4  # <--
    + backoffLimit: 0

Fix: set backoffLimit to 0 and let something restart the whole job (JobSet's failurePolicy), or use
the c10d rendezvous with torchrun's --max-restarts.

Source: Job controller 1.36, backoffLimit; PyTorch 2.13, the static rendezvous forms once.
"""

from __future__ import annotations

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import nested_int, nested_maps
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at

_LIMIT: Path = ("spec", "backoffLimit")


def check(subject: Subject) -> Findings:
    retries = nested_int(subject.spec, "backoffLimit", default=6)
    pods = min(
        nested_int(subject.spec, "completions"), nested_int(subject.spec, "parallelism", default=1)
    )
    rules = nested_maps(subject.spec, "podFailurePolicy", "rules")
    fails_at_once = any(rule.get("action") == "FailJob" for rule in rules)
    if retries < 1 or pods < 2 or fails_at_once:
        return

    rendezvous = subject.rendezvous
    if (
        rendezvous is None
        or rendezvous.backend not in ("static", "env")
        or (rendezvous.nodes or (1, 1))[0] < 2
    ):
        return

    is_set = subject.spec.get("backoffLimit") is not None
    path = _LIMIT if is_set else ("spec",)
    yield found_at(
        path,
        f"up to {retries} failed pods are replaced one by one"
        f"{'' if is_set else ' (backoffLimit defaults to 6)'}, but a single pod cannot rejoin the "
        "others",
        "set backoffLimit to 0, or use --rdzv-backend=c10d with --max-restarts",
        fix_setting("set backoffLimit to 0", _LIMIT, 0),
        on_key=True,
    )
