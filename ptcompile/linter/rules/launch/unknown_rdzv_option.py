"""The rendezvous does not know this option and ignores it.

PTC464 unknown-rdzv-option: warning at run (differs), by torchrun.
Needs: {TORCHRUN} conf/elasticPolicy

What: --rdzv-conf, PET_RDZV_CONF or elasticPolicy.rdzvConf has an option that no rendezvous of torch
reads, such as join_timout.

Why: torch looks up the options that it knows and ignores the rest. The nodes wait as long as the
default says: 600 seconds to join, 60 for the store.

Example: pod.yaml with

      command:
        - torchrun
    -   - --rdzv-conf=timeout=900,join_timout=900  # <--
    +   - --rdzv-conf=timeout=900,join_timeout=900
        - train.py

Fix: write the name of an option that torch has.

Source: PyTorch 2.13, torch/distributed/elastic/rendezvous: c10d, static and etcd.
"""

from __future__ import annotations

from ptcompile._internal.spelling import spelling_help
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.launchers.torchrun import (
    BACKENDS,
    CONF_OPTIONS,
    is_literal,
    unknown_conf_options,
    why_not_conf,
)


def check(subject: Subject) -> Findings:
    for role in subject.torchrun_roles:
        conf = role.options.get("rdzv-conf", "")
        if not is_literal(conf) or role.rendezvous.backend not in BACKENDS:
            continue  # a custom backend has its own options

        names = unknown_conf_options(conf)
        if not names or why_not_conf(conf, role.rendezvous.backend):  # reported by bad-rdzv-conf
            continue

        for name in names:
            path = role.path_of("rdzv-conf")
            yield found_at(
                path,
                f"torch's rendezvous has no option {name} and ignores it",
                spelling_help(name, CONF_OPTIONS, "remove it"),
            )
