"""The state of a live object: what every kind's own reading of its status gives, and the words that they share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal  # noqa: TID253 - hints of a public type; no cold start reads it

from ptcompile.kubernetes.untyped import at, items, text
from ptcompile.operators import all as operators
from ptcompile.operators.record import Kind
from ptcompile.typed import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json

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


def status_of(live: Mapping[str, Any]) -> Status:
    """The state of a live object of one of the kinds that ptcompile writes. Raises ValueError for another kind."""
    found = operators.kind_named((text(live.get("apiVersion")), text(live.get("kind")))).status(live)
    if found is None:
        kinds = ", ".join(sorted({f"{version}/{kind}" for version, kind in operators.kinds_with(Kind.status)}))
        raise ValueError(f"status: not a job, but {live.get('apiVersion')}/{live.get('kind')}; a job is one of {kinds}")
    return found


def true_conditions(live: Json) -> dict[str, Json]:
    """The conditions whose status is the text "True", by type. The last one of a list is not the state."""
    conditions = items(at(live, "status").get("conditions"))
    return {text(one.get("type")): one for one in conditions if one.get("status") == "True"}


def by_condition(state: State, condition: Json) -> Status:
    """A state that a condition says, with its reason and message."""
    return Status(state, text(condition.get("reason")) or None, text(condition.get("message")) or None)


def queued(live: Json, condition: Json | None) -> Status:
    """A job that is suspended: by its condition, or by its spec before the controller has written one."""
    found = by_condition("queued", condition) if condition is not None else Status("queued", "Suspended")
    labels, uid = at(live, "metadata", "labels"), text(at(live, "metadata").get("uid"))
    if queue := text(labels.get(QUEUE)):
        where = f"label kueue.x-k8s.io/job-uid={uid}" if uid else "label kueue.x-k8s.io/job-uid"
        return found._replace(message=f"waits for Kueue's queue {queue}; its Workload ({where}) says for what")
    return found
