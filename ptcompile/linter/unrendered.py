"""Files that another tool must render first: Helm charts, templates of Jinja and ERB, placeholders
of envsubst and sed, bases and patches of kustomize; and documents that no API server accepts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from ptcompile._internal.schema_files import load_table
from ptcompile.apiserver import is_supported
from ptcompile.diagnostics import Path, Problem, Span, own_problem
from ptcompile.kubernetes.unstructured import Json, as_list, nested_map, nested_value, without_none
from ptcompile.source.documents import Source, read
from ptcompile.source.streams import is_ours
from ptcompile.source.templates import (
    TemplateMark,
    find_placeholder,
    mark_within,
    may_be_template,
    may_have_marks,
    template_mark,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_KEYS_OF_TOOLS = load_table("linter/unrendered.json")["keys of tools"]
_CHART_KEYS = frozenset({"apiVersion", "name", "version"})
"""Required keys of Chart.yaml (Helm 3); its apiVersion is Helm's own."""
_UNKNOWN = "a document without apiVersion and kind"
_SYNTAX_RULES = frozenset({"yaml-syntax", "unsupported-yaml", "not-a-mapping"})
"""Rules that report how YAML reads a template mark."""
_SHELL_RULES = frozenset({"shell-variable-without-shell", "shell-variable-in-env"})
_TEXT_KEYS = frozenset(
    {"command", "args", "env", "data", "stringData", "annotations", "binaryData", "script"}
)
"""Fields whose texts may contain such signs for other reasons."""
_SCHEMA = "openAPIV3Schema"
"""A field with descriptions of other fields, patterns and messages."""
_SCHEMA_KEYS = frozenset({"$ref", "$schema"})
"""Keys of JSON Schema, which a CustomResourceDefinition may contain by mistake."""


def unrendered_file(source: Source, role: str | None) -> tuple[int, Problem] | None:
    """Return the note on a file that is a template as a whole, with the index of its document, or
    None.

    A mark counts in a text that YAML rejects, or in a field whose value no controller fills in.
    Command lines, data of ConfigMaps and kinds of other projects, such as Argo's Workflow, have
    marks for other reasons.
    """
    if role == "template":
        message = "this file is a template of a Helm chart and is not checked"
        return 0, _note(message, "helm template CHART")._replace(span=Span(1, 1, 1, 1))
    if not may_have_marks(source.text):
        return None

    if any(problem.name in _SYNTAX_RULES for problem in source.problems):
        mark = template_mark(source.text)
        if mark is not None:
            span = source.span(mark.start, mark.start + 2)
            return 0, _mark_note(mark)._replace(span=span)

    for document in source.documents:
        if not foreign_kind(document.data) and (
            is_ours(document.data) or is_supported(document.data)
        ):
            for path, value, on_key in _texts(document.data, ()):
                mark = None if on_key else mark_within(value)
                if mark is not None:
                    return document.index, _mark_note(mark)._replace(path=path)

    return None


def _mark_note(mark: TemplateMark) -> Problem:
    message = (
        f"{mark.sign} is filled in by another tool, such as {mark.tools}: the file is not checked"
    )
    return _note(message, mark.command)


def _note(message: str, command: str) -> Problem:
    help = f"render it first: {command} | ptcompile lint -"
    return own_problem(
        "unrendered-template",
        (),
        message,
        help,
        severity="note",
        stage="style",
    )


def placeholder_notes(parsed: Source) -> dict[int, Problem]:
    """Return the note on the first placeholder of each document with one that no shell could
    replace, by its index.
    """
    if not may_be_template(parsed.text):
        return {}
    notes = {
        document.index: _placeholder_note(document.data)
        for document in parsed.documents
        if not foreign_kind(document.data)
    }
    return without_none(notes)


def _placeholder_note(data: Json) -> Problem | None:
    for path, text, on_key in _texts(data, ()):
        placeholder = None if text in _SCHEMA_KEYS else find_placeholder(text)
        if placeholder is not None and "image" not in path:  # a rule reports images
            message = (
                f"{placeholder} is filled in by another tool, such as envsubst or sed: its value "
                "is not checked"
            )
            return _note(message, "envsubst < FILE")._replace(path=path, on_key=on_key)
    return None


def placeholders_of(data: Json) -> list[str]:
    """Return the placeholders in the texts of an object, each once."""
    placeholders = (
        find_placeholder(text) for _, text, _ in _texts(data, ()) if text not in _SCHEMA_KEYS
    )
    return [*dict.fromkeys(text for text in placeholders if text is not None)]


def _texts(value: object, path: Path) -> Iterator[tuple[Path, str, bool]]:
    """Yield the texts of an object, except in fields that may have signs for other reasons: the
    path, the text, and whether it is the path's last key.
    """
    if isinstance(value, str):
        yield path, value, False
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key in _TEXT_KEYS or key == _SCHEMA:
                continue
            if isinstance(key, str):
                yield (*path, key), key, True
            yield from _texts(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _texts(item, (*path, i))


def without_placeholders(value: Any) -> Any:
    """Return an object without its fields, and with null for items of lists, that are
    placeholders.
    """
    if isinstance(value, Mapping):
        return {
            key: item if key in _TEXT_KEYS else without_placeholders(item)
            for key, item in value.items()
            if find_placeholder(item) is None
        }
    if isinstance(value, list):
        return [without_placeholders(item) for item in value]
    return None if find_placeholder(value) is not None else value


def without_verdicts_on_marks(
    problems: Sequence[Problem], manifest: Json, marked: bool
) -> Sequence[Problem]:
    """Return the problems except those about one value that has a mark. `marked`: the file may
    have marks.
    """
    if not marked:
        return problems
    return [
        problem
        for problem in problems
        if not _concerns(problem, manifest, mark_within, on_key=False)
    ]


def is_about_written_text(problem: Problem, manifest: Json) -> bool:
    """Return whether a finding in a template is about written text rather than a placeholder."""
    return problem.name not in _SHELL_RULES and not _concerns(
        problem, manifest, find_placeholder, on_key=True
    )


def _concerns(
    problem: Problem, manifest: Json, find: Callable[[object], object], *, on_key: bool
) -> bool:
    """Return whether the finding is about a value in which `find` finds something, or below such a
    key.

    `on_key`: whether a finding about a key is also one about its value.
    """
    value: object = manifest
    for key in problem.path:
        if key not in _SCHEMA_KEYS and find(key) is not None:
            return True
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            break

    return (on_key or not problem.on_key) and find(value) is not None


def kustomize_note(
    filename: str | None, kustomizations: Sequence[str]
) -> tuple[Problem, bool] | None:
    """Return the note on a file that kustomize completes, and whether it is a patch, which is no
    whole object; None for other files. `kustomizations` are the texts of those beside the file.
    """
    folder, name = os.path.split(filename or "")
    if not kustomizations:
        return None

    patches = [os.path.basename(patch) for text in kustomizations for patch in patches_in(text)]
    is_patch = name in patches
    if is_patch:
        message = "a patch of a kustomization: the file is not checked"
    else:
        message = "kustomize fills in the namespace"

    return _note(message, f"kustomize build {folder or '.'}")._replace(
        span=Span(1, 1, 1, 1)
    ), is_patch


def patches_in(kustomization: str) -> Iterator[str]:
    """Yield the paths of the patches that the text of a kustomization lists, as written there."""
    for document in read(kustomization).documents:
        for key in ("patches", "patchesStrategicMerge", "patchesJson6902", "components"):
            for patch in as_list(document.data.get(key)):
                path = patch.get("path") if isinstance(patch, dict) else patch
                if isinstance(path, str) and "\n" not in path:
                    yield path.removeprefix("./")


def foreign_kind(data: Json) -> str | None:
    """Return what a document is that has no apiVersion or kind, or that another tool completes;
    None for other documents.
    """
    if "kind" not in data and data.keys() >= _CHART_KEYS:
        return "a Helm chart"
    if any(isinstance(data.get(key), str) and data[key] for key in ("apiVersion", "kind")):
        return "a pod template" if _is_pod_template(data) else None
    if {"metadata", "spec"} <= data.keys():
        return None  # a Kubernetes object that lacks apiVersion and kind
    return next(
        (row["what"] for row in _KEYS_OF_TOOLS if data.keys() >= set(row["keys"])), _UNKNOWN
    )


def _is_pod_template(data: Json) -> bool:
    """Return whether this is a Pod that another program completes, such as Spark or Airflow: no
    name and no image.
    """
    if data.get("kind") != "Pod" or data.get("apiVersion") != "v1":
        return False

    metadata = nested_map(data, "metadata")
    is_named = metadata.get("name") or metadata.get("generateName")
    containers = as_list(nested_value(data, "spec", "containers"))
    is_complete = all(nested_value(container, "image") for container in containers)
    return not is_named and not (containers and is_complete)
