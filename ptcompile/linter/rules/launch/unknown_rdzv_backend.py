"""An unknown rendezvous backend: torchrun does not start.

What: --rdzv-backend, PET_RDZV_BACKEND or elasticPolicy.rdzvBackend is a misspelt name of a backend.

Why: torchrun looks the name up as it is written, capital letters included, and raises ValueError if it is not
registered. The CRD of PyTorchJob accepts any text.

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command:
              - torchrun
    -         - --rdzv-backend=C10D  # <--
    +         - --rdzv-backend=c10d
              - --rdzv-endpoint=localhost:29400
              - train.py
            resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: write c10d, static, etcd or etcd-v2. Names unlike these are taken as custom backends of the image.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/registry.py; training-operator 1.9, which copies the field.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Fix
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.simulator.launchers.torchrun import BACKENDS, is_literal

_OPTION = "rdzv-backend"


def _check(subject: Subject) -> Iterator[Finding]:
    for one in subject.training_roles:
        backend = one.options.get(_OPTION, "")
        if not one.is_torchrun or backend in BACKENDS or not is_literal(backend):
            continue
        meant = _meant(backend)
        if meant is not None:
            path, edit = one.path_of(_OPTION), one.edit_to(_OPTION, meant)
            yield found_at(
                path,
                f"torchrun does not start: there is no rendezvous backend {backend!r}",
                f"did you mean {meant}?",
                Fix(f"write {meant}", (edit,), safe=meant == backend.strip().lower()) if edit else None,
            )


def _meant(backend: str) -> str | None:
    folded = backend.strip().lower().replace("_", "-")
    return folded if folded in BACKENDS else closest_match(folded, BACKENDS)


RULE = Rule("unknown-rdzv-backend", _check, severity="error", stage="run", authority="torchrun")
