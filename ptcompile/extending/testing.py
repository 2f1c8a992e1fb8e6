"""Checks of a plugin's passes, for its own tests: the contract that the compiler relies on and
does not check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import zip_longest

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.schema_files import load_table
from ptcompile.extending import Context, Job, Pass
from ptcompile.kubernetes.unstructured import Json

SPECS: tuple[Json, ...] = tuple(load_table("extending/specs.json")["specs"])
"""Specs that passes are tried on, for every target."""
_USERS = {"labels", "annotations", "env", "nodeSelector", "node_selector"}
"""Tables of texts that users write, by key."""
_OF_USER = "written-by-the-user"


def check_pass(run: Pass, specs: Iterable[Json] = SPECS, cluster: Any = None) -> None:
    """Check that a pass changes nothing when it runs again, and keeps what a user writes in the
    place of what it adds: labels, annotations and variables.

    The pass runs on each spec for every target; `cluster` is a ClusterProfile in any form. Raises
    AssertionError with the place, and ValueError for a spec that does not compile.
    """
    for spec in specs:
        for job, context in _jobs(spec, cluster):
            after = run(job, context)
            if not isinstance(after, Job):
                raise AssertionError(f"it returns a {type(after).__name__}, not a Job")

            place = _first_difference(after, run(after, context), "job")
            if place is not None:
                raise AssertionError(f"it is not idempotent: a second run changes {place}")

            written = _with_texts_of_user(job, after)
            place = _first_difference(written, run(written, context), "job")
            if place is not None:
                raise AssertionError(f"it overwrites what the user wrote at {place}")


def _jobs(spec: Json, cluster: Any) -> list[tuple[Job, Context]]:
    """Return the job of a spec after the built-in passes for each target that can express it."""
    from ptcompile.compiler.pipeline import compile_document
    from ptcompile.compiler.reader import load_profile
    from ptcompile.operators.targets import TARGETS

    profile, mistakes = load_profile(cluster)
    if profile is None:
        raise ValueError(mistakes[0].message)

    compiled = [compile_document(spec, profile, target) for target in TARGETS]
    built = [each.built for each in compiled if each.built is not None and each.manifests]
    if not built:
        raise ValueError(f"the spec does not compile: {compiled[0].problems[0].message}")

    return [(each.job, each.context) for each in built]


def _first_difference(a: Any, b: Any, place: str) -> str | None:
    """Return the place of the first part in which two values differ, or None if they are equal."""
    if a == b:
        return None
    if type(a) is not type(b):
        return place

    if isinstance(a, Mapping):
        parts = [(a.get(key), b.get(key), f"{place}[{key}]") for key in {**a, **b}]
    elif hasattr(a, "_fields"):
        parts = [(getattr(a, field), getattr(b, field), f"{place}.{field}") for field in a._fields]
    elif isinstance(a, list | tuple):
        parts = [(*pair, f"{place}[{index}]") for index, pair in enumerate(zip_longest(a, b))]
    else:
        return place

    inner = (_first_difference(*part) for part in parts)
    return next((part for part in inner if part is not None), place)


def _with_texts_of_user(before: Any, after: Any, key: str = "", *, is_users: bool = False) -> Any:
    """Return the job after a pass, with a user's text in place of each text that the pass added.

    `is_users` means that a user may write a text here: a label, an annotation, a variable's value.
    """
    if before == after:
        return after
    if is_users and isinstance(after, str):
        return _OF_USER
    if isinstance(after, Mapping):
        earlier = before if isinstance(before, Mapping) else {}
        return {
            name: _with_texts_of_user(
                earlier.get(name), value, name, is_users=key in _USERS or name == "value"
            )
            for name, value in after.items()
        }
    if hasattr(after, "_fields"):
        fields = {
            field: _with_texts_of_user(getattr(before, field, None), getattr(after, field), field)
            for field in after._fields
        }
        return after._replace(**fields)
    if isinstance(after, list | tuple):
        items = before if isinstance(before, list | tuple) else ()
        return type(after)(
            _with_texts_of_user(*pair, key) for pair in zip_longest(items[: len(after)], after)
        )
    return after
