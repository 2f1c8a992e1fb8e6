"""A variable is set twice in one container.

PTC813 repeated-env: warning at run (differs), by kubelet.
Needs: env

What: two env entries of a container have the same name.

Why: the API server warns and accepts; the last one wins. What a reader finds first is not what the
process sees. Volcano's custom resource rejects it.

Example: pod.yaml with

      - name: pytorch
        env:
    -     - name: EPOCHS  # <--
    -       value: "3"
          - name: BATCH_SIZE
            value: "64"
          - name: EPOCHS
            value: "30"

Fix: remove all but the last.

Source: kube-apiserver 1.36 (a warning), kubelet 1.36: the last of two entries wins.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_removing, found_at
from ptcompile.world.templates import EnvEntry


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        last = {entry.name: entry for entry in container.env}
        if len(last) == len(container.env):
            continue

        # a value that refers to a variable uses the entry before it, not the last one
        behind = (part for entry in container.env for part in entry.text.split("$(")[1:])
        referenced = {part.partition(")")[0] for part in behind if ")" in part}
        for entry in container.env:
            if entry.name and last[entry.name].path != entry.path:
                yield found_at(
                    (*entry.path, "name"),
                    _message(entry.name, last[entry.name]),
                    "remove all entries but the last",
                    fix_removing(
                        f"remove the overridden {entry.name}",
                        entry.path,
                        safe=entry.name not in referenced,
                    ),
                )


def _message(name: str, last: EnvEntry) -> str:
    """Return the message, in the API server's words if it warns about the last entry too."""
    if f"$({name})" in last.text:
        return f"{name} is set again in entry {last.path[-1]}, and the last entry wins"
    return (
        f'entry {last.path[-1]} hides previous definition of "{name}", which may be dropped when '
        "using apply: the last "
        "entry wins"
    )
