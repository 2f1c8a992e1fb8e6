"""Settings of an operator that a conversion to another operator may leave out."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics import Path

_NO_RESTART = {
    "failurePolicy": {
        "rules": [
            {"name": "podFailurePolicy", "action": "FailJobSet", "onJobFailureReasons": ["PodFailurePolicy"]},
        ]
    }
}
"""JobSet 0.12, failurePolicy: the first rule whose reason is that of the failed Job decides."""


class LeftBehind(NamedTuple):
    """A setting without which a job trains the same."""

    effect: str
    """What is different without it."""
    help: str
    word: str = ""
    """A word of the values that are meant; others have no effect."""


class JobTemplates(NamedTuple):
    """Where an operator's object has the batch/v1 Jobs of its pods: items of `replicatedJobs` with the name node."""

    patch: str
    """The key of a spec's `manifest` that patches the object."""
    path: tuple[str, ...]
    """Path in the object of the mapping with `replicatedJobs`."""
    container: str = ""
    """The name of the training container, if the operator prescribes one."""
    without_restart: Mapping[str, Any] = _NO_RESTART
    """Fields beside `replicatedJobs` by which a Job that its podFailurePolicy fails is not started again."""


class Conversion(NamedTuple):
    """Settings that only this operator has, by path in its object, where a conversion need not fail over them."""

    left_behind: Mapping[Path, LeftBehind] = {}  # never changed
    """Settings without which a job trains the same."""
    endings: tuple[Path, ...] = ()
    """Settings of how a job ends. The endings of both jobs are compared, and each difference is reported."""
    without_effect: tuple[Path, ...] = ()
    """Settings that the operator overwrites, or without which it does the same."""
    successor: str = ""
    """The target that takes over the operator's jobs, if the operator has a successor."""
    port_name: str = ""
    """Name of the rendezvous port that it adds to the container; its Services then require a name for each port."""
    job_templates: JobTemplates | None = None
    """Where settings of a batch/v1 Job go that its own Jobs have too."""
    admitted_by: frozenset[str] = frozenset({"kueue", "kai"})
    """Queue systems other than the operator's own that admit its objects."""
