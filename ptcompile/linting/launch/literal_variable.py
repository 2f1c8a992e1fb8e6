"""A variable of the operator is referred to where the kubelet does not know it, and stays as it is written.

What: an env value has $(RANK) or another variable that the operator adds behind the user's own, or the command has
one that the container does not have at all.

Why: the kubelet replaces $(X) in an env value only where X stands before it in the list, and operators append theirs.
The program is handed the text $(RANK) and not a number. In command and args all variables of the container are known.

Bad:

    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata: {name: train}
    spec:
      failurePolicy: {maxRestarts: 3}
      replicatedJobs:
        - name: node
          template:
            spec:
              completions: 2
              parallelism: 2
              backoffLimit: 0
              template:
                spec:
                  restartPolicy: Never
                  containers:
                    - name: pytorch
                      image: ghcr.io/acme/train:1.0
                      command:
                        - torchrun
                        - --nnodes=2
                        - --node-rank=$(JOB_COMPLETION_INDEX)
                        - --master-addr=train-node-0-0.train
                        - train.py
                      env:
                        - {name: MY_RANK, value: $(JOB_COMPLETION_INDEX)}  # <--
                      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Good:

    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata: {name: train}
    spec:
      failurePolicy: {maxRestarts: 3}
      replicatedJobs:
        - name: node
          template:
            spec:
              completions: 2
              parallelism: 2
              backoffLimit: 0
              template:
                spec:
                  restartPolicy: Never
                  containers:
                    - name: pytorch
                      image: ghcr.io/acme/train:1.0
                      command:
                        - torchrun
                        - --nnodes=2
                        - --node-rank=$(JOB_COMPLETION_INDEX)
                        - --master-addr=train-node-0-0.train
                        - train.py
                      resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: use the variable in command or args, or read the pod's field by valueFrom.

Source: Kubernetes 1.36, dependent environment variables; training-operator 1.9, Volcano 1.16 and the Job controller,
which append their variables.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Final

from ptcompile.findings.diagnostics import Edit, Fix, Path, field_path
from ptcompile.kubernetes.patterns import Pattern
from ptcompile.kubernetes.untyped import Json, at, items, text, texts
from ptcompile.linting.rule import Found, Rule
from ptcompile.linting.subject import Subject
from ptcompile.linting.views import views

_REFERENCE = Pattern(r"(?<!\$)\$\(([A-Z][A-Z0-9_]*)\)")
_OPERATORS = Pattern(
    r"RANK|NODE_RANK|LOCAL_RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT|JOB_COMPLETION_INDEX|PET_[A-Z_]+|V[CK]_[A-Z0-9_]+"
)
_INDEX: Final = "metadata.annotations['batch.kubernetes.io/job-completion-index']"


def _check(subject: Subject) -> Iterator[Found]:
    if not any(_speaks(one.spec) for one in subject.containers) and not _speaks(at(subject.spec, "trainer")):
        return
    for path, written, view, _ in views(subject):
        if view.spec.get("envFrom"):
            continue
        env = view.env
        held = {text(entry.get("name")): at for at, entry in reversed([*enumerate(env)])}  # of each name the first
        places = {id(entry): at for at, entry in enumerate(env)}
        for i, entry in enumerate(items(written.get("env"))):
            named = _named(entry.get("value"), ())
            if not named:
                continue
            place = places[id(entry)] if id(entry) in places else _position(env, entry)
            late = [name for name in named if held.get(name, place) >= place]
            if late:
                yield _late((*path, "env", i, "value"), late, entry, known=held.keys() >= set(late))
        for key in ("command", "args"):
            words = written.get(key)
            for i, word in enumerate(words if isinstance(words, list) else ()):
                missing = _named(word, held)
                if missing:
                    yield _missing((*path, key, i), missing)


def _speaks(container: Json) -> bool:
    """Whether a container has any reference at all: most have none."""
    values = (text(entry.get("value")) for entry in items(container.get("env")))
    return any("$(" in word for word in (*texts(container.get("command")), *texts(container.get("args")), *values))


def _position(env: tuple[Json, ...], entry: Json) -> int:
    return next((i for i, one in enumerate(env) if one is entry or one == entry), len(env))


def _named(value: object, known: Container[str]) -> list[str]:
    """The operators' variables that a text refers to and that are not known there."""
    if not isinstance(value, str) or "$(" not in value:
        return []
    names = dict.fromkeys(_REFERENCE.findall(value))
    return [name for name in names if name not in known and _OPERATORS.fullmatch(name)]


def _late(path: Path, late: list[str], entry: Json, *, known: bool) -> Found:
    shown = ", ".join(f"$({name})" for name in late)
    why = "the operator's variables come behind those of the manifest" if known else "the container has none so called"
    fix = None
    if entry.get("value") == "$(JOB_COMPLETION_INDEX)" and not at(entry, "valueFrom"):
        source = {"fieldRef": {"fieldPath": _INDEX}}
        edits = (Edit("set", (*path[:-1], "valueFrom"), source), Edit("remove", path))
        fix = Fix("read the index from the pod's annotation", edits, safe=False)
    return Found(
        path,
        f"{field_path(path)}: the kubelet does not replace {shown}: {why}",
        "use it in command or args, or take the pod's field with valueFrom" if known else "set it before, or remove it",
        fix,
    )


def _missing(path: Path, missing: list[str]) -> Found:
    shown = ", ".join(f"$({name})" for name in missing)
    return Found(
        path,
        f"{field_path(path)}: the kubelet does not replace {shown}: the container has no variable of that name",
        "set the variable, or use one that the operator sets",
    )


RULE = Rule("literal-variable", _check, severity="error", stage="run", authority="kubelet")
