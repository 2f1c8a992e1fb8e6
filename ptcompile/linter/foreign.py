"""Documents that no API server accepts, and templates that another tool fills in first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import Path, Problem, problem_at
from ptcompile.kubernetes.unstructured import Json

_KEYS_OF_TOOLS: tuple[tuple[str, frozenset[str]], ...] = (
    ("a CloudFormation template", frozenset({"AWSTemplateFormatVersion"})),
    ("a CloudFormation template", frozenset({"Resources", "Outputs"})),
    ("a kustomization", frozenset({"resources"})),
    ("a kustomization", frozenset({"bases"})),
    ("a kustomization", frozenset({"patches"})),
    ("a kustomization", frozenset({"configMapGenerator"})),
    ("a compose file", frozenset({"services"})),
    ("a pre-commit configuration", frozenset({"repos"})),
    ("a workflow", frozenset({"jobs", "on"})),
)
_CHART_KEYS = frozenset({"apiVersion", "name", "version"})
"""Required keys of Chart.yaml (Helm 3); its apiVersion is Helm's own."""
_UNKNOWN = "a document without apiVersion and kind"


def foreign_kind(data: Json) -> str | None:
    """Return what a document is that has no apiVersion or kind, or that another tool completes; None for other
    documents.
    """
    if "kind" not in data and data.keys() >= _CHART_KEYS:
        return "a Helm chart"
    if any(isinstance(data.get(key), str) and data[key] for key in ("apiVersion", "kind")):
        return "a pod template" if _is_pod_template(data) else None
    if {"metadata", "spec"} <= data.keys():
        return None  # a Kubernetes object that lacks apiVersion and kind
    return next((name for name, keys in _KEYS_OF_TOOLS if keys <= data.keys()), _UNKNOWN)


def _is_pod_template(data: Json) -> bool:
    """Return whether this is a Pod that another program completes, such as Spark or Airflow: no name and no image."""
    if data.get("kind") != "Pod" or data.get("apiVersion") != "v1":
        return False
    metadata = data.get("metadata")
    spec = data.get("spec")
    is_named = isinstance(metadata, Mapping) and (metadata.get("name") or metadata.get("generateName"))
    containers = spec.get("containers") if isinstance(spec, Mapping) else None
    is_complete = isinstance(containers, list) and all(
        isinstance(container, Mapping) and container.get("image") for container in containers
    )
    return not is_named and not (containers and is_complete)


_PLACEHOLDER = Pattern(
    r"\$\{[A-Za-z_]\w*(?::?[-=?+][^{}]*)?\}|(?<![\w$])__[A-Z][A-Z0-9_]*__(?!\w)|<[A-Za-z][\w.-]*>|\{\{[^{}]*\}\}"
)
_whole_variable = Pattern(r"\$[A-Za-z_]\w*").fullmatch
UNCHECKED_KEYS = frozenset({"command", "args", "env", "data", "stringData", "annotations", "binaryData", "script"})
"""Fields whose texts may contain such signs for other reasons."""
_SCHEMA_KEYS = frozenset({"$ref", "$schema"})
"""Keys of JSON Schema, which a CustomResourceDefinition may contain by mistake."""
_SIGNS = ("$", "__", "<", "{{")
_BEGINNINGS = {"$": Pattern(r"\$[{A-Za-z_]"), "__": Pattern("__[A-Z]"), "<": Pattern("<[A-Za-z]")}
"""How a placeholder begins in the text of a file, by its sign, except `{{`."""


def find_placeholder(value: object) -> str | None:
    """Return the first placeholder of envsubst or sed in a text: `${X}`, `__X__`, `<x>`, or a text that is only
    `$X`.
    """
    if not isinstance(value, str) or not any(sign in value for sign in _SIGNS):
        return None
    match = _PLACEHOLDER.search(value) or _whole_variable(value)
    return match[0] if match is not None else None


def may_be_template(text: str) -> bool:
    """Return whether a file may have a placeholder. The kubelet's `$(X)` is not one; most files have no other sign."""
    begins = [pattern for sign, pattern in _BEGINNINGS.items() if sign in text]
    if begins and ("{{" in text or "\\" in text):  # a backslash may escape any of the signs
        return True
    return any(pattern.search(text) for pattern in begins)


def placeholder_note(data: Json) -> Problem | None:
    """Return a note about the first placeholder that no shell could replace, or None."""
    first = next(_placeholders(data, ()), None)
    if first is None:
        return None
    path, name, on_key = first
    return problem_at(
        "unrendered-template",
        path,
        f"{name} is filled in by another tool, such as envsubst or sed: its value is not checked",
        "render it first: envsubst < FILE | ptcompile lint -",
        severity="note",
        stage="style",
        authority="ptcompile",
        on_key=on_key,
    )


def _placeholders(value: object, path: Path) -> Iterator[tuple[Path, str, bool]]:
    if isinstance(value, str):
        name = find_placeholder(value)
        if name is not None:
            yield path, name, False
    elif isinstance(value, Mapping):
        for key, item in value.items():
            if key in UNCHECKED_KEYS or key == "image":  # a rule reports images
                continue
            name = find_placeholder(key)
            if name is not None and key not in _SCHEMA_KEYS:
                yield (*path, key), name, True
            yield from _placeholders(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _placeholders(item, (*path, i))


_SHELL_RULES = frozenset({"shell-variable-without-shell", "shell-variable-in-env"})


def is_about_written_text(problem: Problem, data: object) -> bool:
    """Return whether a finding in a template is about written text rather than a placeholder."""
    if problem.name in _SHELL_RULES:
        return False
    for key in problem.path:
        if find_placeholder(key) is not None and key not in _SCHEMA_KEYS:
            return False
        if isinstance(data, Mapping):
            data = data.get(key)
        elif isinstance(data, list) and isinstance(key, int) and key < len(data):
            data = data[key]
        else:
            break
    return find_placeholder(data) is None
