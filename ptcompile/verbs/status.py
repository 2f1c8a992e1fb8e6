"""The verb `status` as a function: the state of a job, from its live object."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.operators.common.status import Status, status_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def status(live: Mapping[str, Any]) -> Status:
    """The state of a job from its live object, as `kubectl get -o json` or a client's `to_dict` gives it.

    Pure: nothing is asked of a cluster. `live` is a Pod, a Job, a PyTorchJob, a Volcano Job, a JobSet or a TrainJob;
    the state is read as its controller writes it (Kubernetes 1.36, training-operator 1.9, Volcano 1.16, JobSet 0.12,
    Trainer 2.3). Raises TypeError for what is no mapping and ValueError for any other kind; nothing for a status that
    no controller has written.
    """
    if not isinstance(live, Mapping):
        raise TypeError(f"live: expected a decoded object, not {type(live).__name__}")
    return status_of(live)
