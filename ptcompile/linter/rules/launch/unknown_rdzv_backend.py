"""An unknown rendezvous backend: torchrun does not start.

PTC419 unknown-rdzv-backend: error at run (fails), by torchrun.
Needs: {TORCHRUN} backend/elasticPolicy

What: --rdzv-backend, PET_RDZV_BACKEND or elasticPolicy.rdzvBackend is a misspelled name of a
backend.

Why: torchrun looks the name up as it is written, capital letters included, and raises ValueError if
it is not registered. The CRD of PyTorchJob accepts any text.

Example: pod.yaml with

      command:
        - torchrun
    -   - --rdzv-backend=C10D  # <--
    +   - --rdzv-backend=c10d
        - --rdzv-endpoint=localhost:29400
        - train.py

Fix: write c10d, static, etcd or etcd-v2. Names unlike these are taken as custom backends of the
image.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/registry.py; training-operator 1.9, which
copies the field.
"""

from __future__ import annotations

from ptcompile._internal.spelling import closest_match
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.launchers.torchrun import BACKENDS, is_literal

_OPTION = "rdzv-backend"


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        backend = role.options.get(_OPTION, "")
        if backend in BACKENDS or not is_literal(backend):
            continue

        folded = backend.strip().lower().replace("_", "-")
        suggestion = folded if folded in BACKENDS else closest_match(folded, BACKENDS)
        if suggestion is not None:
            is_same_word = suggestion == backend.strip().lower()
            yield found_at(
                role.path_of(_OPTION),
                f"torchrun does not start: it has no rendezvous backend {backend!r}",
                f"did you mean {suggestion}?",
                role.fix_to(_OPTION, suggestion, f"write {suggestion}", safe=is_same_word),
            )
