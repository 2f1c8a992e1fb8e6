"""Keywords of a task besides task_config: Flyte's own (flytekit 1.16 `@task`), and those that
ptcompile adds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypedDict, cast

from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Path
from ptcompile.flyte import resources as amounts
from ptcompile.flyte.problems import CallProblems, is_not_integer
from ptcompile.flyte.resources import Amounts
from ptcompile.kubernetes.unstructured import Json, JsonDict

if TYPE_CHECKING:
    from ptcompile.flyte.platforms import Platform


class Knobs(TypedDict, total=False):
    """All keywords of a task. Objects may be ours or flytekit's, or plain text and mappings."""

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
    # not Flyte's: the images of `{{.image.NAME}}`; `image` is the default one
    images: Mapping[str, str] | None
    # not Flyte's: the function's inputs, its module in the image, and whether to embed the runner
    inputs: Mapping[str, Any] | None
    module: str | None
    embed: bool | None
    # not Flyte's: the file in the pod that gets the return value
    result: str | None
    # not Flyte's: a program to start instead of the function
    script: str | None
    command: Sequence[str] | None
    args: Sequence[str] | None
    # not Flyte's: placement of the job, and roles of an elastic job
    namespace: str | None
    target: str | None
    platform: Platform | None
    master: Any
    worker: Any


ENGINE_KEYWORDS: Sequence[str] = load_table("flyte/tables.json")["engine_keywords"]
"""Keywords for Flyte's engine, which manages results and versions; a manifest has neither."""

_KEYWORDS = frozenset(Knobs.__annotations__)


def check_names(knobs: Mapping[str, Any]) -> None:
    """Check that a task has these keywords.

    Raises:
        TypeError: as Python does for a function without the keyword.
    """
    for name in knobs:
        if name not in _KEYWORDS:
            raise TypeError(f"a Flyte task has no keyword {name!r}")


_LIST = "a list"
_TEXT = "text"
_MAPPING = "a mapping"
_TYPES: dict[str, tuple[str, tuple[type, ...]]] = {
    **dict.fromkeys(
        ("environment", "labels", "annotations", "images", "inputs"), (_MAPPING, (Mapping,))
    ),
    **dict.fromkeys(("command", "args", "secret_requests"), (_LIST, (list, tuple))),
    **dict.fromkeys(
        ("script", "module", "namespace", "result", "target", "pod_template_name"), (_TEXT, (str,))
    ),
    **dict.fromkeys(("interruptible", "embed"), ("yes or no", (bool,))),
    "shared_memory": ("a size or a boolean", (bool, str)),
}


def drop_mistyped(knobs: Knobs, problems: CallProblems) -> Knobs:
    """Return the keywords whose values have the right type; the others are reported and dropped."""
    out: JsonDict = {}
    for name, value in knobs.items():
        expected, types = _TYPES.get(name, ("", (object,)))
        if value is None or isinstance(value, types):
            out[name] = value
        else:
            problems.error("spec-wrong-type", (name,), f"{value!r} is not {expected}")
    return cast("Knobs", out)


def named_images(knobs: Knobs) -> dict[str, str]:
    """Return the images that templates may name."""
    images = dict(knobs.get("images") or {})
    default = knobs.get("image")
    if isinstance(default, str):
        images["default"] = default
    return images


def task_resources(knobs: Knobs, problems: CallProblems) -> Amounts:
    """Return the task's own resources. `resources` replaces `requests` and `limits`, as in
    flytekit 1.16.
    """
    for name in ENGINE_KEYWORDS:
        if knobs.get(name):
            message = "configures Flyte's engine and has no counterpart in a manifest"
            problems.warning((name,), message, "remove it")
    resources = knobs.get("resources")
    requests = knobs.get("requests")
    limits = knobs.get("limits")
    if resources is not None:
        for name, value in (("requests", requests), ("limits", limits)):
            if value is not None:
                problems.error(
                    "spec-conflict",
                    (name,),
                    "resources already sets it",
                    f"remove {name} or resources",
                )

        return amounts.read_pairs(resources, ("resources",), problems)

    return amounts.read_resources(requests, limits, (), problems)


def with_retries_and_timeout(policy: Json, knobs: Knobs, problems: CallProblems) -> JsonDict:
    """Return the run policy with the task's `retries` and `timeout`.

    In Flyte, both belong to the engine, which restarts or ends the job. Here, `retries` is the
    backoff limit unless the run policy sets one, and `timeout` is the active deadline if it is the
    shorter one.
    """
    out = dict(policy)
    retries = knobs.get("retries", 0)
    if is_not_integer(retries) or retries < 0:
        problems.error(
            "spec-invalid-value",
            ("retries",),
            f"{retries!r} is not a number of retries",
            "use 0 or more",
        )
    elif retries and out.get("backoffLimit") is not None:
        problems.warning(
            ("retries",), "run_policy.backoff_limit already sets it, and wins", "remove one of them"
        )
    elif retries:
        out["backoffLimit"] = retries
        message = (
            "counts failed pods here, as the job's backoff limit; Flyte starts the whole task again"
        )
        problems.note("unlike-flyte", ("retries",), message)

    seconds = _timeout_seconds(knobs.get("timeout"), ("timeout",), problems)
    if seconds:
        deadline = out.get("activeDeadlineSeconds")
        out["activeDeadlineSeconds"] = (
            min(seconds, deadline)
            if isinstance(deadline, int) and deadline > 0
            else deadline or seconds
        )

    return out


def policy_origins(policy: Json, finished: Json) -> tuple[tuple[Path, Path], ...]:
    """Return the spec paths that `retries` and `timeout` set, each with its call path."""
    names = {"backoffLimit": "retries", "activeDeadlineSeconds": "timeout"}
    return tuple(
        (("spec", "runPolicy", field), (name,))
        for field, name in names.items()
        if finished.get(field) != policy.get(field)
    )


def _timeout_seconds(value: timedelta | int | None, path: Path, problems: CallProblems) -> int:
    """Return a timeout in whole seconds, rounded up; 0 means none."""
    if value is None:
        return 0

    if isinstance(value, timedelta):
        seconds = -(-value // timedelta(seconds=1))
    elif is_not_integer(value):
        problems.error(
            "spec-wrong-type", path, f"{value!r} is not a time", "use a timedelta, or seconds"
        )
        return 0
    else:
        seconds = value
    if seconds < 0:
        problems.error("spec-invalid-value", path, f"{value!r} is negative", "0 means no timeout")
        return 0
    return seconds
