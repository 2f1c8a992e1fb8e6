"""The state of a live object, and the conditions to wait for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal  # noqa: TID253 - hints of a public type; no cold start reads it

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.unstructured import Json, JsonDict, nested_maps, nested_string


class Condition(NamedTuple):
    """One condition to wait for, in the forms of several tools."""

    jsonpath: str
    """kubectl's JSONPath."""
    values: tuple[str, ...]
    """Values that the JSONPath returns then."""
    cel: str
    """An expression over `object`, false for an object without a status."""
    kubectl: tuple[str, ...]
    """Arguments of `kubectl wait`, one per command: of several in one command kubectl obeys only
    the last.
    """
    argo: str
    """The successCondition or failureCondition of an Argo Workflows resource template."""


ARGO_FAILED = ", ".join(f"status.conditions.{i}.type == Failed" for i in range(6))
"""Argo Workflows reads a comma as "or" and accesses lists only by index; Failed is not always
the first condition.
"""


def type_condition(kind: str, argo: str) -> Condition:
    """Return a condition of the list `status.conditions`, by its type."""
    return Condition(
        jsonpath=f'{{.status.conditions[?(@.type=="{kind}")].status}}',
        values=("True",),
        cel=condition_is_true(kind),
        kubectl=(f"--for=condition={kind}",),
        argo=argo,
    )


def field_condition(path: str, *values: str) -> Condition:
    """Return a condition on a status field with one of some values, such as `status.phase`."""
    keys = path.split(".")
    exists = " && ".join(f"has(object.{'.'.join(keys[: i + 1])})" for i in range(len(keys)))
    if len(values) == 1:
        (value,) = values
        cel = f"== '{value}'"
        argo = f"== {value}"
    else:
        cel = f"in {list(values)}"
        argo = f"in ({', '.join(values)})"

    return Condition(
        jsonpath=f"{{.{path}}}",
        values=values,
        cel=f"{exists} && object.{path} {cel}",
        kubectl=tuple(f"--for=jsonpath={{.{path}}}={value}" for value in values),
        argo=f"{path} {argo}",
    )


def condition_is_true(kind: str) -> str:
    """Return the CEL expression that a condition of this type is true."""
    where = "has(object.status) && has(object.status.conditions)"
    return (
        f"{where} && object.status.conditions.exists(c, c.type == '{kind}' && c.status == 'True')"
    )


def merge_patch_for(path: tuple[str, ...], value: bool) -> JsonDict | None:
    """Return the JSON merge patch that sets a field, or None for an empty path."""
    if not path:
        return None
    body: Any = value
    for key in reversed(path):
        body = {key: body}
    merge_patch: JsonDict = body
    return merge_patch


State = Literal["created", "queued", "running", "restarting", "succeeded", "failed"]
"""created: the object exists, but its pods do not exist yet or wait for a node or an image. queued:
it waits for a queue, a gang or a gate, or is suspended. running: its pods run or are ending; those
of a Job, JobSet or TrainJob may still wait for a node or an image, which these kinds do not report.
restarting: it ran, ended, and starts again. succeeded and failed are final.
"""


class Status(NamedTuple):
    """The job's state, as reported by a live object."""

    state: State
    """How far the job is; `done` tells whether that is its end."""
    reason: str | None = None
    """The controller's reason, such as BackoffLimitExceeded."""
    message: str | None = None
    """The controller's message, or where to find one."""

    @property
    def done(self) -> bool:
        """Whether the job has ended, successfully or not."""
        return self.state in ("succeeded", "failed")

    @property
    def why(self) -> str | None:
        """Reason and message in one text."""
        return ": ".join(part for part in (self.reason, self.message) if part) or None

    def to_dict(self) -> JsonDict:
        """Return the JSON form."""
        return {
            "state": self.state,
            "done": self.done,
            "reason": self.reason,
            "message": self.message,
        }


class Following(NamedTuple):
    """The names of a kind, and how its objects report their state."""

    plural: str
    succeeded: Condition
    failed: Condition
    running: str
    """CEL over `object`: the pods run."""
    status: Callable[[Json], Status]
    """Returns the state of a live job."""
    suspended: str | None = None
    """CEL over `object`, if the kind can be suspended."""
    pods_label: str = ""
    """Label whose value is the job's name; empty if the job is the pod."""
    role_label: str = ""
    """Label whose value is the name of a pod's role; empty if there is only one role."""
    index_label: str = ""
    """Label with a pod's number in its role."""
    child_job_label: str = ""
    """The same label, if each pod of a role is a separate child Job."""
    suspend: tuple[str, ...] = ()
    """Path of the field that suspends and resumes; empty if the kind has none."""
    propagation: Literal["Background", "Foreground"] = "Background"
    """propagationPolicy that also deletes the pods."""
    succeeded_after_resume: Condition | None = None
    """Success condition for Argo if the job is created suspended, because its conditions then
    begin with another.
    """


def true_conditions(live: Json) -> dict[str, Json]:
    """Return the conditions whose status is "True", keyed by type. The last one of the list is
    not the state.
    """
    conditions = nested_maps(live, "status", "conditions")
    return {
        nested_string(condition, "type"): condition
        for condition in conditions
        if condition.get("status") == "True"
    }


def status_from_condition(state: State, condition: Json) -> Status:
    """Return a state with the reason and message of a condition."""
    return Status(
        state,
        nested_string(condition, "reason") or None,
        nested_string(condition, "message") or None,
    )


def status_from_counts(counts: Sequence[Json]) -> Status | None:
    """Return `running` if the counts of a Job or of child Jobs show that pods exist or existed,
    else None.

    `active` counts pending pods too, and it stays until the controller has counted a pod that
    ended. So the counts of pods that start and of pods that have just ended can be equal.
    """
    if not any(count.get(field) for count in counts for field in _SHOW_PODS):
        return None
    has_unready = any(count.get("active") for count in counts) and not any(
        count.get("ready") for count in counts
    )
    return Status("running", None, _NOT_READY if has_unready else None)


_SHOW_PODS = ("active", "ready", "terminating", "uncountedTerminatedPods", "succeeded", "failed")
_NOT_READY = "not all pods are ready: they may wait for a node or an image"
