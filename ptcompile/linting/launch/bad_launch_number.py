"""torchrun refuses an option that has to be a number, and does not start.

What: --node-rank, --master-port, --max-restarts or --monitor-interval, or its PET_* variable, is no number, or is out
of range.

Why: argparse ends the process with "invalid int value", and torchrun asserts that restarts are not negative.

Bad:

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
            - --max-restarts=unlimited  # <--
            - train.py
          resources: {limits: {cpu: 8, memory: 64Gi}}

Good:

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
            - --max-restarts=3
            - train.py
          resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: write a whole number; the port up to 65535, the others from 0 on; the interval may have a fraction.

Source: PyTorch 2.13, torch/distributed/run.py, get_args_parser and config_from_args.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ptcompile.findings.diagnostics import field_path
from ptcompile.linting.rule import Found, Rule
from ptcompile.linting.subject import Subject
from ptcompile.linting.torchrun import is_int
from ptcompile.linting.trainers import known

_is_fraction = re.compile(r"\s*\+?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII).fullmatch
_MOST = {"node-rank": 2**31 - 1, "master-port": 65535, "max-restarts": 2**63 - 1}


def _check(subject: Subject) -> Iterator[Found]:
    for one in subject.trainers:
        for option in (*_MOST, "monitor-interval") if one.torchrun else ():
            value = one.options.get(option, "0")
            if known(value) and not _taken(option, value):
                path = one.place(option)
                yield Found(
                    path,
                    f"{field_path(path)}: torchrun does not start with {option} {value!r}: {_wanted(option)}",
                    "write a number",
                )


def _taken(option: str, value: str) -> bool:
    if option not in _MOST:
        return _is_fraction(value) is not None
    return is_int(value) and 0 <= int(value) <= _MOST[option]


def _wanted(option: str) -> str:
    if option == "monitor-interval":
        return "it wants seconds, such as 0.1"
    return "it wants a port up to 65535" if option == "master-port" else "it wants a whole number from 0 on"


RULE = Rule("bad-launch-number", _check, severity="error", stage="run", authority="torchrun")
