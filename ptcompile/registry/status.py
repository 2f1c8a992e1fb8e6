"""The state of a live object, and the conditions to wait for."""

from __future__ import annotations

from typing import Any, Final, Literal  # noqa: TID253 - hints of a public type; no cold start reads it

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.unstructured import as_mappings, as_string, nested_map

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json


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


State = Literal["created", "queued", "running", "restarting", "succeeded", "failed"]
"""created: the object is there, and its pods are not there yet or wait for a node or an image. queued: it waits for
a queue, a gang or a gate, or is suspended. running: its pods run, or end; those of a JobSet or a TrainJob may still
wait for a node, which these kinds do not tell. restarting: it ran, failed, and starts again. succeeded and failed
are final."""


class Status(NamedTuple):
    """What a live object says of the job."""

    state: State
    reason: str | None = None
    """The controller's own word, such as BackoffLimitExceeded."""
    message: str | None = None
    """The controller's own sentence, or where to look for one."""

    @property
    def done(self) -> bool:
        """Whether the job is over, one way or the other."""
        return self.state in ("succeeded", "failed")

    @property
    def why(self) -> str | None:
        """Reason and message in one text."""
        return ": ".join(one for one in (self.reason, self.message) if one) or None

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {"state": self.state, "done": self.done, "reason": self.reason, "message": self.message}


QUEUE: Final = "kueue.x-k8s.io/queue-name"


def true_conditions(live: Json) -> dict[str, Json]:
    """The conditions whose status is the text "True", by type. The last one of a list is not the state."""
    conditions = as_mappings(nested_map(live, "status").get("conditions"))
    return {as_string(one.get("type")): one for one in conditions if one.get("status") == "True"}


def by_condition(state: State, condition: Json) -> Status:
    """A state that a condition says, with its reason and message."""
    return Status(state, as_string(condition.get("reason")) or None, as_string(condition.get("message")) or None)


def queued(live: Json, condition: Json | None) -> Status:
    """A job that is suspended: by its condition, or by its spec before the controller has written one."""
    found = by_condition("queued", condition) if condition is not None else Status("queued", "Suspended")
    labels, uid = nested_map(live, "metadata", "labels"), as_string(nested_map(live, "metadata").get("uid"))
    if queue := as_string(labels.get(QUEUE)):
        where = f"label kueue.x-k8s.io/job-uid={uid}" if uid else "label kueue.x-k8s.io/job-uid"
        return found._replace(message=f"waits for Kueue's queue {queue}; its Workload ({where}) says for what")
    return found
