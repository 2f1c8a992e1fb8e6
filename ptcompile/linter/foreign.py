"""Documents that are none of an API server's business, and templates that something else fills in first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import Path, Problem, field_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

_KEYS_OF_TOOLS: Final[tuple[tuple[str, frozenset[str]], ...]] = (
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
_CHART_KEYS: Final = frozenset({"apiVersion", "name", "version"})
"""What Chart.yaml must have (Helm 3); its apiVersion is Helm's own."""
_UNKNOWN: Final = "a document without apiVersion and kind"


def foreign_kind(data: Mapping[str, Any]) -> str | None:
    """What a document is that says neither apiVersion nor kind, or is a template of another tool; None for others."""
    if "kind" not in data and data.keys() >= _CHART_KEYS:
        return "a Helm chart"
    if any(isinstance(data.get(key), str) and data[key] for key in ("apiVersion", "kind")):
        return "a pod template" if _is_pod_template(data) else None
    if {"metadata", "spec"} <= data.keys():
        return None  # an object of Kubernetes, and the two lines are missing
    return next((name for name, keys in _KEYS_OF_TOOLS if keys <= data.keys()), _UNKNOWN)


def _is_pod_template(data: Mapping[str, Any]) -> bool:
    """A Pod that another program completes, such as Spark or Airflow: without a name, and without an image."""
    if data.get("kind") != "Pod" or data.get("apiVersion") != "v1":
        return False
    metadata, spec = data.get("metadata"), data.get("spec")
    named = isinstance(metadata, Mapping) and (metadata.get("name") or metadata.get("generateName"))
    containers = spec.get("containers") if isinstance(spec, Mapping) else None
    whole = isinstance(containers, list) and all(isinstance(one, Mapping) and one.get("image") for one in containers)
    return not named and not (containers and whole)


_PLACEHOLDER = Pattern(
    r"\$\{[A-Za-z_]\w*(?::?[-=?+][^{}]*)?\}|(?<![\w$])__[A-Z][A-Z0-9_]*__(?!\w)|<[A-Za-z][\w.-]*>|\{\{[^{}]*\}\}"
)
_whole_variable = Pattern(r"\$[A-Za-z_]\w*").fullmatch
UNCHECKED_KEYS: Final = frozenset(
    {"command", "args", "env", "data", "stringData", "annotations", "binaryData", "script"}
)
"""Where a text may have such signs for a reason of its own."""
_SCHEMA_KEYS: Final = frozenset({"$ref", "$schema"})
"""Keys of JSON Schema, which a CustomResourceDefinition may have by mistake."""
_SIGNS: Final = ("$", "__", "<", "{{")
_begins = Pattern(r"\$[{A-Za-z_]|__[A-Z]|<[A-Za-z]").search
"""How a placeholder begins in the text of a file, besides `{{`."""


def find_placeholder(value: object) -> str | None:
    """The first placeholder of envsubst or sed in a text: `${X}`, `__X__`, `<x>`, or a text that is `$X` alone."""
    if not isinstance(value, str) or not any(sign in value for sign in _SIGNS):
        return None
    match = _PLACEHOLDER.search(value) or _whole_variable(value)
    return match[0] if match is not None else None


def may_be_template(text: str) -> bool:
    """Whether a file may have a placeholder. `$(X)` of the kubelet is none, and most files have no other sign."""
    # A backslash may stand for any of the signs.
    signed = "$" in text or "__" in text or "<" in text
    return signed and ("{{" in text or "\\" in text or _begins(text) is not None)


def placeholder_note(data: Mapping[str, Any]) -> Problem | None:
    """What is said of a template: one placeholder where no shell could replace it; None for what is none."""
    found = next(_placeholders(data, ()), None)
    if found is None:
        return None
    path, name, on_key = found
    return Problem(
        "unrendered-template",
        path,
        f"{field_path(path)}: {name} is filled in by another tool, such as envsubst or sed: its value is not judged",
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
        for key, one in value.items():
            if key in UNCHECKED_KEYS or key == "image":  # of an image a rule speaks
                continue
            name = find_placeholder(key)
            if name is not None and key not in _SCHEMA_KEYS:
                yield (*path, key), name, True
            yield from _placeholders(one, (*path, key))
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from _placeholders(one, (*path, i))


_SHELL_RULES: Final = frozenset({"shell-variable-without-shell", "shell-variable-in-env"})


def is_about_written_text(problem: Problem, data: object) -> bool:
    """Whether a finding in a template is about what is written, and not about a placeholder."""
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
