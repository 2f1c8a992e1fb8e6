"""How to follow a job of one kind from outside: its names in the API, its pods' labels, and when it is over."""

from __future__ import annotations

from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, Literal


class Condition(NamedTuple):
    """One thing to wait for, in the forms that others take."""

    jsonpath: str
    """kubectl's JSONPath."""
    values: tuple[str, ...]
    """What it gives then: one of these."""
    cel: str
    """An expression over `object`, false for an object without a status."""
    kubectl: tuple[str, ...]
    """Arguments of `kubectl wait`, which waits for one of them at a time."""
    argo: str
    """The successCondition or failureCondition of an Argo Workflows resource template."""


class Following(NamedTuple):
    """What one kind is called and how it says what it does."""

    plural: str
    succeeded: Condition
    failed: Condition
    running: str
    """CEL over `object`: its pods run."""
    suspended: str | None = None
    """CEL over `object`, where the kind has a word for it."""
    pods_label: str = ""
    """Label whose value is the job's name; empty where the job is the pod."""
    role_label: str = ""
    """Label whose value is the name of a pod's role; empty where all pods are of one."""
    index_label: str = ""
    """Label with a pod's number in its role."""
    alone_label: str = ""
    """The same where each pod of a role is a child Job of its own."""
    suspend: tuple[str, ...] = ()
    """The way to the field that suspends and resumes; empty where there is none."""
    propagation: Literal["Background", "Foreground"] = "Background"
    """How to delete it so that its pods go too."""
    resumed_first: Condition | None = None
    """What succeeded is for Argo's sake where the job is created suspended: its conditions begin with another."""


ARGO_FAILED: Final = ", ".join(f"status.conditions.{i}.type == Failed" for i in range(6))
"""Argo Workflows takes a comma for "or", and reads lists by index alone: Failed is not always the first."""


def by_type(kind: str, argo: str) -> Condition:
    """A condition of the list `status.conditions`, by its type."""
    return Condition(
        jsonpath=f'{{.status.conditions[?(@.type=="{kind}")].status}}',
        values=("True",),
        cel=is_true(kind),
        kubectl=(f"--for=condition={kind}",),
        argo=argo,
    )


def by_field(path: str, *values: str) -> Condition:
    """A field of the status that has one of some values, such as `status.phase`."""
    words = path.split(".")
    there = " && ".join(f"has(object.{'.'.join(words[: i + 1])})" for i in range(len(words)))
    wanted = f"== '{values[0]}'" if len(values) == 1 else f"in {list(values)}"
    return Condition(
        jsonpath=f"{{.{path}}}",
        values=values,
        cel=f"{there} && object.{path} {wanted}",
        kubectl=tuple(f"--for=jsonpath={{.{path}}}={one}" for one in values),
        argo=f"{path} == {values[0]}" if len(values) == 1 else f"{path} in ({', '.join(values)})",
    )


def is_true(kind: str) -> str:
    """CEL: a condition of this type is true."""
    where = "has(object.status) && has(object.status.conditions)"
    return f"{where} && object.status.conditions.exists(c, c.type == '{kind}' && c.status == 'True')"


def patch(path: tuple[str, ...], value: bool) -> dict[str, Any] | None:
    """The JSON merge patch that gives a field a value; None where there is no field."""
    if not path:
        return None
    made: Any = value
    for key in reversed(path):
        made = {key: made}
    found: dict[str, Any] = made
    return found
