"""A switch of Python is set to a value that turns it on.

What: PYTHONUNBUFFERED, PYTHONDONTWRITEBYTECODE and their like are `0` or `false`.

Why: Python asks whether they are set to a text that is not empty, whatever it says: "0" turns them on. (For
PYTHONUNBUFFERED and others that hold a number, 0 counts as 1.)

Bad:

    apiVersion: v1
    kind: Pod
    metadata: {name: train}
    spec:
      restartPolicy: Never
      containers:
        - name: pytorch
          image: ghcr.io/acme/train:1.0
          command: [python, train.py]
          resources: {limits: {cpu: 8, memory: 64Gi}}
          env:
            - name: PYTHONUNBUFFERED
              value: "0"  # <--

Good:

    apiVersion: v1
    kind: Pod
    metadata: {name: train}
    spec:
      restartPolicy: Never
      containers:
        - name: pytorch
          image: ghcr.io/acme/train:1.0
          command: [python, train.py]
          resources: {limits: {cpu: 8, memory: 64Gi}}
          env:
            - name: PYTHONUNBUFFERED
              value: "1"

Fix: write "1" where it is to be on, which shows each line of a log at once; remove it where it is not.

Source: Python 3.13, environment variables.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix, field_path
from ptcompile.rules.rule import Found, Rule
from ptcompile.rules.subject import Subject

_SWITCHES = frozenset(
    {
        "PYTHONUNBUFFERED",
        "PYTHONDONTWRITEBYTECODE",
        "PYTHONFAULTHANDLER",
        "PYTHONNOUSERSITE",
        "PYTHONOPTIMIZE",
        "PYTHONVERBOSE",
        "PYTHONDEBUG",
        "PYTHONINSPECT",
    }
)
_OFF = frozenset({"0", "false", "no", "off"})


def _check(subject: Subject) -> Iterator[Found]:
    for container in subject.containers:
        for entry in container.env:
            if entry.name in _SWITCHES and (entry.value or "").lower() in _OFF:
                path = (*entry.path, "value")
                yield Found(
                    path,
                    f"{field_path(path)}: {entry.name}={entry.value} turns it on: any text that is not empty does",
                    'write "1", or remove the variable',
                    Fix('write "1", which it means', (Edit("set", path, "1"),), safe=True),
                )


RULE = Rule("unbuffered-zero", _check, severity="warning", stage="style", authority="ptcompile")
