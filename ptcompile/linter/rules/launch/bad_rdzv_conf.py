"""torchrun cannot read the rendezvous configuration and does not start.

PTC418 bad-rdzv-conf: error at run (fails), by torchrun.
Needs: {TORCHRUN} conf/elasticPolicy

What: --rdzv-conf, PET_RDZV_CONF or elasticPolicy.rdzvConf is not KEY=VALUE pairs with commas
between them, or a value is of another type than the rendezvous reads: join_timeout=abc,
read_timeout=0, is_host=maybe.

Why: torchrun raises ValueError for a pair without a key or a value, and the rendezvous for a value
that it cannot read. A comma within a value begins the next pair.

Example: pod.yaml with

      command:
        - torchrun
    -   - --rdzv-conf=timeout=900,join_timeout  # <--
    +   - --rdzv-conf=timeout=900,join_timeout=900
        - train.py

Fix: give every key a value.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous/utils.py, _parse_rendezvous_config;
training-operator 1.9, which joins elasticPolicy.rdzvConf with commas.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.launchers.torchrun import is_literal, why_not_conf


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        conf = role.options.get("rdzv-conf", "")
        why = why_not_conf(conf, role.rendezvous.backend) if is_literal(conf) else None
        if why is not None:
            yield found_at(
                role.path_of("rdzv-conf"),
                f"torchrun does not start with the configuration {conf!r}: {why}",
                "write KEY=VALUE pairs with commas between them, each value as torch reads it",
            )
