"""A variable is referenced where the kubelet does not know it, and stays as written.

PTC434 literal-variable: error at run (fails), by kubelet.
Needs: $

What: a word of the command, or an env value, has $(X), and the container has no variable X; or an
env value has $(X), and X comes after it in the list, where operators also put theirs. An error
where the launcher reads the text, such as in an address or a rank, and where the variable is an
operator's; else a warning.

Why: the kubelet replaces $(X) in an env value only if X comes before it in the list. The program
gets the text $(RANK), not a number. In command and args all variables of the container are known,
but none of the image's.

Example: jobset.yaml with

      command:
        - torchrun
        - --nnodes=2
        - --node-rank=$(JOB_COMPLETION_INDEX)
        - --master-addr=train-node-0-0.train
        - train.py
    - env:
    -   - {name: MY_RANK, value: $(JOB_COMPLETION_INDEX)}  # <--

Fix: set the variable before it is referenced, use it in command or args, or read the pod's field
with valueFrom.

Source: Kubernetes 1.36, dependent environment variables; training-operator 1.9, Volcano 1.16 and
the Job controller, which append their variables.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import Edit, Fix, Path, Severity
from ptcompile.kubernetes.commands import SHELLS, basename, unwrap
from ptcompile.kubernetes.index import SERVICE
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_map,
    nested_maps,
    nested_string,
    nested_strings,
)
from ptcompile.linter.rule import Finding, Findings, Subject, found_at
from ptcompile.simulator.kubelet import imported_names

_find_references = Pattern(r"(?<!\$)\$\(([A-Z][A-Z0-9_]*)\)").findall
_LAUNCH_VARIABLE = Pattern(
    r"RANK|NODE_RANK|LOCAL_RANK|WORLD_SIZE|MASTER_ADDR|MASTER_PORT|JOB_COMPLETION_INDEX|PET_[A-Z_]+|V[CK]_[A-Z0-9_]+"
)
_match_service_variable = Pattern(
    r"(?P<service>\w+)_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP)\w*)?)"
).fullmatch
_INDEX_FIELD = "metadata.annotations['batch.kubernetes.io/job-completion-index']"


def check(subject: Subject) -> Findings:
    specs = [container.spec for container in subject.containers]
    references = {id(spec): texts for spec in specs if any(texts := _references(spec))}
    if not references:
        return

    for path, written, view, pod in subject.views():
        values, words = references.get(id(written), ((), ()))
        stream_names = imported_names(view.spec, pod.job.find) if values or words else None
        if stream_names is None:
            continue  # no reference, or envFrom names an object that the stream does not have

        env = view.env
        entries = nested_maps(written, "env")
        # the first entry of each name
        first_indexes = {
            nested_string(entry, "name"): index for index, entry in reversed([*enumerate(env)])
        }
        known_names = first_indexes.keys() | stream_names
        indexes = {id(entry): index for index, entry in enumerate(env)} if values else {}
        for i, value in values:
            names = _unknown_names(subject, value, stream_names)
            entry = entries[i]
            if not names:
                continue

            position = indexes[id(entry)] if id(entry) in indexes else _index_of(env, entry)
            late = [name for name in names if first_indexes.get(name, position) >= position]
            if not late:
                continue

            written_names = {nested_string(item, "name") for item in entries}
            yield _late_reference(
                subject,
                (*path, "env", i, "value"),
                late,
                entry,
                is_known=known_names >= set(late),
                is_written=written_names >= set(late),
            )

        for key, i, word in words:
            missing = _unknown_names(subject, word, known_names)
            severity = _severity(subject, missing) if missing else None
            # $(X) may be a command of the shell
            if missing and not (severity and _in_shell(written)):
                yield _missing_variable((*path, key, i), missing, severity)


def _in_shell(container: Json) -> bool:
    """Return whether a shell reads the command."""
    argv = [*nested_strings(container, "command"), *nested_strings(container, "args")]
    start = unwrap(argv).start
    return start < len(argv) and basename(argv[start]) in SHELLS


def _index_of(env: tuple[Json, ...], entry: Json) -> int:
    return next((i for i, item in enumerate(env) if item is entry or item == entry), len(env))


def _referring_texts(values: Sequence[object]) -> list[tuple[int, str]]:
    """Return the texts that may contain a reference, each with its index."""
    return [
        (i, value) for i, value in enumerate(values) if isinstance(value, str) and "$(" in value
    ]


def _references(container: Json) -> tuple[list[tuple[int, str]], list[tuple[str, int, str]]]:
    """Return the values of variables that may contain a reference, each with its index, and such
    words of the command line, each with its field and its index.
    """
    values = _referring_texts([entry.get("value") for entry in nested_maps(container, "env")])
    return values, [
        (key, i, word)
        for key in ("command", "args")
        if isinstance(words := container.get(key), list)
        for i, word in _referring_texts(words)
    ]


def _unknown_names(subject: Subject, value: str, known: Collection[str]) -> list[str]:
    """Return the variables that the text references and that are not among `known`."""
    names = dict.fromkeys(_find_references(value))
    return [
        name for name in names if name not in known and not _may_be_service_variable(subject, name)
    ]


def _may_be_service_variable(subject: Subject, name: str) -> bool:
    """Return whether the kubelet may set the variable for a Service of the namespace."""
    match = _match_service_variable(name)
    if match is None or _LAUNCH_VARIABLE.fullmatch(name):
        return False
    service = match["service"].lower().replace("_", "-")
    return (
        "_SERVICE_" in name
        or service == "kubernetes"
        or bool(subject.objects.by_name(SERVICE, service))
    )


def _severity(subject: Subject, names: list[str]) -> Severity | None:
    """Return None, for the rule's own severity, if the launcher reads a reference; else
    "warning".
    """
    if any(_LAUNCH_VARIABLE.fullmatch(name) for name in names):
        return None

    read = [
        value
        for role in subject.training_roles
        for value in (role.rendezvous.endpoint, *role.rendezvous.options.values())
    ]
    if any(f"$({name})" in value for name in names for value in read):
        return None

    return "warning"


def _late_reference(
    subject: Subject, path: Path, late: list[str], entry: Json, *, is_known: bool, is_written: bool
) -> Finding:
    references = ", ".join(f"$({name})" for name in late)
    if not is_known:
        reason = "the container has no variable of that name"
        help = "set it before, or remove it"
    elif not is_written and any(_LAUNCH_VARIABLE.fullmatch(name) for name in late):
        reason = "the operator's variables come after those of the manifest"
        help = "use it in command or args, or take the pod's field with valueFrom"
    else:
        reason = "it is set further down"
        help = f"set {late[0]} before"

    fix = None
    if entry.get("value") == "$(JOB_COMPLETION_INDEX)" and not nested_map(entry, "valueFrom"):
        source = {"fieldRef": {"fieldPath": _INDEX_FIELD}}
        edits = (Edit("set", (*path[:-1], "valueFrom"), source), Edit("remove", path))
        fix = Fix("read the index from the pod's annotation", edits)

    return found_at(
        path,
        f"the kubelet does not replace {references}: {reason}",
        help,
        fix,
        severity=_severity(subject, late),
    )


def _missing_variable(path: Path, missing: list[str], severity: Severity | None) -> Finding:
    references = ", ".join(f"$({name})" for name in missing)
    return found_at(
        path,
        f"the kubelet does not replace {references}: the container has no variable of that name",
        "set the variable, or use one that the operator sets",
        severity=severity,
    )
