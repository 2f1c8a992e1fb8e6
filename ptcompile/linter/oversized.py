"""Containers whose references stand for more than is written out, as findings (`_internal.limits` has the limit)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, as_string, kind_of, nested_map
from ptcompile.registry.table import kind_named, templates_of
from ptcompile.registry.templates import indexed_mappings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json

_CONTAINER_KEYS = ("initContainers", "containers")
_METADATA_KEYS = ("labels", "annotations")
_EnvFields = dict[str, dict[str, str]]
"""Labels and annotations of a template: a field reference may put one into a variable."""


def oversized_parts(manifest: Json, templates: Iterable[tuple[Path, Json]] | None = None) -> Iterator[Problem]:
    """One finding for each part of a container, env, command line or script, that exceeds the budget.

    `templates` are those of the object with their paths, for a caller that has them already. Containers are read as
    they are written: the few hundred characters that an operator adds decide nothing.
    """
    if (problem := kind_named(kind_of(manifest)).too_wide(manifest)) is not None:
        yield problem
    if templates is None:
        templates = [(one.path, as_mapping(one.template)) for one in templates_of(kind_of(manifest), manifest)]
    for path, template in templates:
        for key in _CONTAINER_KEYS:
            for i, spec in indexed_mappings(nested_map(template, "spec").get(key)):
                if _may_exceed(spec, template):
                    yield from _check_container((*path, "spec", key, i), spec, _metadata_fields(template))


def _metadata_fields(template: Json) -> _EnvFields:
    return {
        key: {name: as_string(value) for name, value in nested_map(template, "metadata", key).items()}
        for key in _METADATA_KEYS
    }


def _may_exceed(spec: Json, template: Json) -> bool:
    """Whether it is worth a look: four references double 4 KiB to no more than 64 KiB; most have less."""
    entries = as_mappings(spec.get("env"))
    written = [entry.get("value") for entry in entries]
    for key in ("command", "args"):
        written += _as_list(spec.get(key))
    all_texts = "".join([one for one in written if isinstance(one, str)])
    references = all_texts.count("$") + len([entry for entry in entries if "valueFrom" in entry])
    if not 0 < references <= 4:
        return references > 4
    of_fields = [as_string(value) for key in _METADATA_KEYS for value in nested_map(template, "metadata", key).values()]
    return len(all_texts) + len("".join(of_fields)) > 4096


def _check_container(path: Path, spec: Json, fields: _EnvFields) -> Iterator[Problem]:
    from ptcompile._internal.limits import Budget
    from ptcompile.registry.pods import ContainerView, PodView
    from ptcompile.simulator import kubelet
    from ptcompile.simulator.launchers.command import container_invocation

    container = ContainerView("", False, spec)
    pod = PodView("", "", 0, {}, labels=fields["labels"], annotations=fields["annotations"])
    of_env, of_words, of_script = Budget(), Budget(), Budget()
    env = kubelet.environment(container, pod, of_env)
    command, args = kubelet.command_line(container, env, of_words)
    container_invocation(command or (), args or (), env, of_script)
    if of_env.refused is not None:
        yield _too_large((*path, *_env_path(spec, of_env.refused)), "variables")
    if of_words.refused is not None:
        yield _too_large((*path, *_token_path(spec, of_words.refused)), "command line")
    if of_script.refused is not None:
        yield _too_large((*path, *_token_path(spec, of_script.refused)), "script")


def _env_path(spec: Json, refused: str) -> Path:
    for i, one in indexed_mappings(spec.get("env")):
        if as_string(one.get("value")) == refused:
            return "env", i, "value"
        if nested_map(one, "valueFrom", "fieldRef").get("fieldPath") == refused:
            return "env", i, "valueFrom", "fieldRef", "fieldPath"
    return ("env",)


def _token_path(spec: Json, refused: str) -> Path:
    """Where a text stands in command and args: as a word of its own, or else within one."""
    words = [(key, i, as_string(word)) for key in ("command", "args") for i, word in enumerate(_as_list(spec.get(key)))]
    same = ((key, i) for key, i, word in words if word == refused)
    inside = ((key, i) for key, i, word in words if refused in word)
    return next(same, None) or next(inside, None) or ("command" if spec.get("command") else "args",)


def _as_list(value: object) -> Sequence[object]:
    return value if isinstance(value, list) else ()


def _too_large(path: Path, what: str) -> Problem:
    from ptcompile._internal.limits import EXPANDED

    return Problem(
        "too-large",
        path,
        f"{field_path(path)}: with its references replaced, the container's {what} exceeds {EXPANDED >> 10} KiB: "
        "from here on references are left as written",
        f"mount long values as a file: Linux passes a program no value longer than {EXPANDED >> 10} KiB",
        severity="warning",
        stage="run",
        authority="ptcompile",
    )
