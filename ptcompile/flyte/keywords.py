"""What a task says beside its task_config: Flyte's own words (flytekit 1.16 `@task`), and where we need more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypedDict, cast

from ptcompile.diagnostics import Path, Problem
from ptcompile.flyte import resources as amounts
from ptcompile.flyte.problems import call_error, call_warning, not_whole
from ptcompile.flyte.resources import Amounts

if TYPE_CHECKING:
    from ptcompile.flyte.platforms import Platform


class Knobs(TypedDict, total=False):
    """Every keyword of a task. Objects may be ours or flytekit's, or plain text and mappings."""

    container_image: Any
    image: Any
    requests: Any
    limits: Any
    resources: Any
    environment: Mapping[str, str] | None
    secret_requests: Sequence[Any] | None
    interruptible: bool | None
    shared_memory: bool | str | None
    accelerator: Any
    labels: Mapping[str, str] | None
    annotations: Mapping[str, str] | None
    pod_template: Any
    pod_template_name: str | None
    retries: int
    timeout: timedelta | int | None
    cache: Any
    cache_version: str
    cache_serialize: bool
    deprecated: str
    cls: Any
    docs: Any
    disable_deck: bool | None
    enable_deck: bool | None
    deck_fields: Any
    execution_mode: Any
    node_dependency_hints: Any
    task_resolver: Any
    pickle_untyped: bool
    # not Flyte's: what `{{.image.NAME}}` means; `image` is the default one
    images: Mapping[str, str] | None
    # not Flyte's: the function's inputs, its module as the image has it, and whether the runner comes along
    inputs: Mapping[str, Any] | None
    module: str | None
    embed: bool | None
    # not Flyte's: a program that starts instead of the function
    script: str | None
    command: Sequence[str] | None
    args: Sequence[str] | None
    # not Flyte's: where the job goes, and roles of an elastic job
    namespace: str | None
    target: str | None
    platform: Platform | None
    master: Any
    worker: Any


ENGINE = (
    "cache", "cache_version", "cache_serialize", "deprecated", "cls", "docs", "disable_deck", "enable_deck",
    "deck_fields", "execution_mode", "node_dependency_hints", "task_resolver", "pickle_untyped",
)  # fmt: skip
"""Words for Flyte's engine, which knows results and versions; a manifest has neither."""

_KNOWN = frozenset(Knobs.__annotations__)


def check_names(knobs: Mapping[str, Any]) -> None:
    """Refuse a keyword that no task has.

    Raises:
        TypeError: as Python does for a function without the keyword.
    """
    for name in knobs:
        if name not in _KNOWN:
            raise TypeError(f"a Flyte task has no keyword {name!r}")


_LIST, _TEXT, _MAPPING = "a list", "text", "a mapping"
_TYPES: dict[str, tuple[str, tuple[type, ...]]] = {
    **dict.fromkeys(("environment", "labels", "annotations", "images", "inputs"), (_MAPPING, (Mapping,))),
    **dict.fromkeys(("command", "args", "secret_requests"), (_LIST, (list, tuple))),
    **dict.fromkeys(("script", "module", "namespace", "target", "pod_template_name"), (_TEXT, (str,))),
    **dict.fromkeys(("interruptible", "embed"), ("yes or no", (bool,))),
    "shared_memory": ("size, and not True", (bool, str)),
}


def sound(knobs: Knobs, found: list[Problem]) -> Knobs:
    """The keywords whose values have their type; the others are problems and as if they were not there."""
    out: dict[str, Any] = {}
    for name, value in knobs.items():
        what, types = _TYPES.get(name, ("", (object,)))
        if value is None or isinstance(value, types):
            out[name] = value
        else:
            found.append(call_error("spec-wrong-type", (name,), f"{value!r} is not {what}"))
    return cast("Knobs", out)


def named(knobs: Knobs) -> dict[str, str]:
    """The images that templates may name."""
    default = knobs.get("image")
    return {**(knobs.get("images") or {}), **({"default": default} if isinstance(default, str) else {})}


def task_amounts(knobs: Knobs, found: list[Problem]) -> Amounts:
    """The task's own resources. `resources` is instead of the two others, as in flytekit 1.16."""
    found += [
        call_warning((name,), "it is for Flyte's engine and has no counterpart in a manifest", "drop it")
        for name in ENGINE
        if knobs.get(name)
    ]
    resources, requests, limits = knobs.get("resources"), knobs.get("requests"), knobs.get("limits")
    if resources is not None:
        for name, value in (("requests", requests), ("limits", limits)):
            if value is not None:
                found.append(
                    call_error("spec-conflict", (name,), "resources already sets it", f"remove {name} or resources")
                )
        return amounts.read_pairs(resources, ("resources",), found)
    return amounts.read(requests, limits, (), found)


def deadline(policy: Mapping[str, Any], knobs: Knobs, found: list[Problem]) -> dict[str, Any]:
    """The run policy, with what `retries` and `timeout` add to it.

    In Flyte both belong to the engine, which starts the job again or ends it. Here `retries` is the backoff limit,
    where the run policy has none, and `timeout` the active deadline, where it is the shorter one.
    """
    out = dict(policy)
    retries = knobs.get("retries", 0)
    if not_whole(retries) or retries < 0:
        found.append(
            call_error("spec-invalid-value", ("retries",), f"{retries!r} is not a number of retries", "0 or more")
        )
    elif retries and out.get("backoffLimit") is not None:
        found.append(
            call_warning(("retries",), "run_policy.backoff_limit already sets it, and wins", "remove one of them")
        )
    elif retries:
        out["backoffLimit"] = retries
    seconds = _seconds(knobs.get("timeout"), ("timeout",), found)
    if seconds:
        said = out.get("activeDeadlineSeconds")
        out["activeDeadlineSeconds"] = min(seconds, said) if isinstance(said, int) and said > 0 else said or seconds
    return out


def _seconds(value: timedelta | int | None, path: Path, found: list[Problem]) -> int:
    """A timeout in whole seconds, rounded up; 0 is none."""
    if value is None:
        return 0
    if isinstance(value, timedelta):
        seconds = -(-value // timedelta(seconds=1))
    elif not_whole(value):
        found.append(call_error("spec-wrong-type", path, f"{value!r} is not a time", "a timedelta, or seconds"))
        return 0
    else:
        seconds = value
    if seconds < 0:
        found.append(call_error("spec-invalid-value", path, f"{value!r} is negative", "0 means no timeout"))
        return 0
    return seconds
