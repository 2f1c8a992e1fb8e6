"""Findings for containers whose references expand beyond the limit (see `_internal.limits`)."""

from __future__ import annotations

from collections.abc import Iterable

from ptcompile.diagnostics import Path, Problem, Problems, own_problem
from ptcompile.kinds.templates import indexed_mappings
from ptcompile.kubernetes.unstructured import (
    Json,
    as_list,
    as_mapping,
    as_string,
    nested_map,
    nested_maps,
    nested_string,
    nested_value,
)
from ptcompile.operators.table import record_of

_CONTAINER_KEYS = ("initContainers", "containers")
_METADATA_KEYS = ("labels", "annotations")
_EnvFields = dict[str, dict[str, str]]
"""Labels and annotations of a template, which a field reference may copy into a variable."""


def oversized_parts(
    manifest: Json, templates: Iterable[tuple[Path, Json]] | None = None
) -> Problems:
    """Yield one finding for each part of a container that exceeds the limit: variables, command
    line or script.

    `templates` are the object's templates with their paths, if the caller already has them.
    Containers are read as written: the few hundred characters that an operator adds make no
    difference.
    """
    record = record_of(manifest)
    if (problem := record.too_wide(manifest)) is not None:
        yield problem
    if templates is None:
        templates = [
            (written.path, as_mapping(written.template)) for written in record.templates(manifest)
        ]

    for path, template in templates:
        for key in _CONTAINER_KEYS:
            for i, spec in indexed_mappings(nested_value(template, "spec", key)):
                if _may_exceed(spec, template):
                    yield from _check_container(
                        (*path, "spec", key, i), spec, _metadata_fields(template)
                    )


def _metadata_fields(template: Json) -> _EnvFields:
    return {
        key: {
            name: as_string(value) for name, value in nested_map(template, "metadata", key).items()
        }
        for key in _METADATA_KEYS
    }


def _may_exceed(spec: Json, template: Json) -> bool:
    """Return whether the container needs a full check: four references expand 4 KiB to at most 64
    KiB; most have fewer.
    """
    entries = nested_maps(spec, "env")
    written = [entry.get("value") for entry in entries]
    for key in ("command", "args"):
        written += as_list(spec.get(key))
    all_texts = "".join([text for text in written if isinstance(text, str)])
    references = all_texts.count("$") + len([entry for entry in entries if "valueFrom" in entry])
    if not 0 < references <= 4:
        return references > 4

    field_texts = [
        as_string(value)
        for key in _METADATA_KEYS
        for value in nested_map(template, "metadata", key).values()
    ]

    return len(all_texts) + len("".join(field_texts)) > 4096


def _check_container(path: Path, spec: Json, fields: _EnvFields) -> Problems:
    from ptcompile._internal.limits import Budget
    from ptcompile.kinds.pods import ContainerView, PodView
    from ptcompile.shell.script import read_script
    from ptcompile.simulator import kubelet

    container = ContainerView("", False, spec)
    pod = PodView("", "", 0, {}, labels=fields["labels"], annotations=fields["annotations"])
    env_budget = Budget()
    command_budget = Budget()
    env = kubelet.environment(container, pod, env_budget)
    command, args = kubelet.command_line(container, env, command_budget)
    script = read_script([*(command or ()), *(args or ())], env)
    if env_budget.refused is not None:
        yield _too_large((*path, *_env_path(spec, env_budget.refused)), "variables")
    if command_budget.refused is not None:
        yield _too_large((*path, *_token_path(spec, command_budget.refused)), "command line")
    if script is not None and script.refused is not None:
        yield _too_large((*path, *_token_path(spec, script.refused)), "script")


def _env_path(spec: Json, text: str) -> Path:
    for i, entry in indexed_mappings(spec.get("env")):
        if nested_string(entry, "value") == text:
            return "env", i, "value"
        if nested_value(entry, "valueFrom", "fieldRef", "fieldPath") == text:
            return "env", i, "valueFrom", "fieldRef", "fieldPath"
    return ("env",)


def _token_path(spec: Json, text: str) -> Path:
    """Return the path of a text in command and args: the argument that equals it, else one that
    contains it.
    """
    tokens = [
        (key, i, as_string(token))
        for key in ("command", "args")
        for i, token in enumerate(as_list(spec.get(key)))
    ]
    equal = ((key, i) for key, i, token in tokens if token == text)
    containing = ((key, i) for key, i, token in tokens if text in token)

    return (
        next(equal, None)
        or next(containing, None)
        or ("command" if spec.get("command") else "args",)
    )


def _too_large(path: Path, part: str) -> Problem:
    from ptcompile._internal.limits import EXPANDED

    return own_problem(
        "too-large",
        path,
        f"with its references replaced, the container's {part} exceeds {EXPANDED >> 10} KiB: "
        "from here on references are left as written",
        "mount long values as a file: Linux passes a program no value longer than "
        f"{EXPANDED >> 10} KiB",
        severity="warning",
        stage="run",
    )
