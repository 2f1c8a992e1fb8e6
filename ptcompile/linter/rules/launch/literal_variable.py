"""A variable is referenced where the kubelet does not know it, and stays as written.

What: a word of the command, or an env value, has $(X), and the container has no variable X; or an env value has $(X),
and X comes after it in the list, where operators also put theirs. An error where the launcher reads the text, such as
in an address or a rank, and where the variable is an operator's; else a warning.

Why: the kubelet replaces $(X) in an env value only if X comes before it in the list. The program gets the text $(RANK),
not a number. In command and args all variables of the container are known, but none of the image's.

Example:

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
    -                   env:
    -                     - {name: MY_RANK, value: $(JOB_COMPLETION_INDEX)}  # <--
                        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: set the variable before it is referenced, use it in command or args, or read the pod's field with valueFrom.

Source: Kubernetes 1.36, dependent environment variables; training-operator 1.9, Volcano 1.16 and the Job controller,
which append their variables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import Edit, Fix, Path, field_path
from ptcompile.kubernetes.commands import SHELLS, basename, unwrap
from ptcompile.kubernetes.index import SERVICE
from ptcompile.kubernetes.unstructured import as_mappings, as_string, as_strings, nested_map
from ptcompile.linter.environment import names_from_stream
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.workload import container_views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.diagnostics.terms import Severity
    from ptcompile.kubernetes.unstructured import Json

_references = Pattern(r"(?<!\$)\$\(([A-Z][A-Z0-9_]*)\)").findall
_OPERATORS = Pattern(
    r"RANK|NODE_RANK|LOCAL_RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT|JOB_COMPLETION_INDEX|PET_[A-Z_]+|V[CK]_[A-Z0-9_]+"
)
_of_services = Pattern(r"(\w+)_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP)\w*)?)").fullmatch
_INDEX: Final = "metadata.annotations['batch.kubernetes.io/job-completion-index']"


def _check(subject: Subject) -> Iterator[Finding]:
    containers = (*[one.spec for one in subject.containers], nested_map(subject.spec, "trainer"))
    speaking = [id(one) for one in containers if _speaks(one)]
    if not speaking:
        return
    for path, written, view, pod in container_views(subject):
        more = names_from_stream(subject, view.spec, pod.view.namespace) if id(written) in speaking else None
        if more is None:
            continue  # no reference, or names from an object of another file that are unknown
        env = view.env
        held = {
            as_string(entry.get("name")): index for index, entry in reversed([*enumerate(env)])
        }  # of each name the first
        known = held.keys() | more
        entries = as_mappings(written.get("env"))
        values = _referring([entry.get("value") for entry in entries])
        places = {id(entry): index for index, entry in enumerate(env)} if values else {}
        for i, value in values:
            names, entry = _named(subject, value, more), entries[i]
            if not names:
                continue
            place = places[id(entry)] if id(entry) in places else _position(env, entry)
            late = [name for name in names if held.get(name, place) >= place]
            if late:
                yield _late(subject, (*path, "env", i, "value"), late, entry, known=known >= set(late))
        for key in ("command", "args"):
            words = written.get(key)
            for i, word in _referring(words) if isinstance(words, list) else ():
                missing = _named(subject, word, known)
                severity = _severity(subject, missing) if missing else None
                if missing and not (severity and _in_shell(written)):  # there $(X) may well be a command
                    yield _missing((*path, key, i), missing, severity)


def _in_shell(container: Json) -> bool:
    """Whether a shell reads the command."""
    argv = [*as_strings(container.get("command")), *as_strings(container.get("args"))]
    start = unwrap(argv).start
    return start < len(argv) and basename(argv[start]) in SHELLS


def _speaks(container: Json) -> bool:
    """Whether a container has any reference at all: most have none."""
    values = [as_string(entry.get("value")) for entry in as_mappings(container.get("env"))]
    return "$(" in "\n".join([*as_strings(container.get("command")), *as_strings(container.get("args")), *values])


def _position(env: tuple[Json, ...], entry: Json) -> int:
    return next((i for i, one in enumerate(env) if one is entry or one == entry), len(env))


def _referring(values: Sequence[object]) -> list[tuple[int, str]]:
    """The texts that may refer to a variable, each with its index: most do not."""
    return [(i, value) for i, value in enumerate(values) if isinstance(value, str) and "$(" in value]


def _named(subject: Subject, value: str, known: Collection[str]) -> list[str]:
    """The variables that a text refers to and that are not known there."""
    names = dict.fromkeys(_references(value))
    return [name for name in names if name not in known and not _of_a_service(subject, name)]


def _of_a_service(subject: Subject, name: str) -> bool:
    """Whether the kubelet may set a variable for a Service of the namespace."""
    match = _of_services(name)
    if match is None or _OPERATORS.fullmatch(name):
        return False
    service = match[1].lower().replace("_", "-")
    return "_SERVICE_" in name or service == "kubernetes" or bool(subject.objects.named(SERVICE, service))


def _severity(subject: Subject, names: list[str]) -> Severity | None:
    """A text that the launcher reads stops it; what a script makes of one, no file says."""
    if any(_OPERATORS.fullmatch(name) for name in names):
        return None
    read = [
        value for one in subject.training_roles for value in (one.rendezvous.endpoint, *one.rendezvous.options.values())
    ]
    return None if any(f"$({name})" in value for name in names for value in read) else "warning"


def _late(subject: Subject, path: Path, late: list[str], entry: Json, *, known: bool) -> Finding:
    shown = ", ".join(f"$({name})" for name in late)
    operators = any(_OPERATORS.fullmatch(name) for name in late)
    later = "the operator's variables come after those of the manifest" if operators else "it is set further down"
    fix = None
    if entry.get("value") == "$(JOB_COMPLETION_INDEX)" and not nested_map(entry, "valueFrom"):
        source = {"fieldRef": {"fieldPath": _INDEX}}
        edits = (Edit("set", (*path[:-1], "valueFrom"), source), Edit("remove", path))
        fix = Fix("read the index from the pod's annotation", edits, safe=False)
    first = f"set {late[0]} before"
    behind = "use it in command or args, or take the pod's field with valueFrom" if operators else first
    return Finding(
        path,
        f"{field_path(path)}: the kubelet does not replace {shown}: "
        + (later if known else "the container has no variable of that name"),
        behind if known else "set it before, or remove it",
        fix,
        severity=_severity(subject, late),
    )


def _missing(path: Path, missing: list[str], severity: Severity | None) -> Finding:
    shown = ", ".join(f"$({name})" for name in missing)
    return found_at(
        path,
        f"the kubelet does not replace {shown}: the container has no variable of that name",
        "set the variable, or use one that the operator sets",
        severity=severity,
    )


RULE = Rule("literal-variable", _check, severity="error", stage="run", authority="kubelet")
