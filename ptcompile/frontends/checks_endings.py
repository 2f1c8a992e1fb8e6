"""What a spec says of restarts, against itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.frontends.amounts import Part, Parts
from ptcompile.frontends.errors import conflict, problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.vocabulary.pod_fields import RestartPolicy

_POLICY: Path = ("spec", "runPolicy")


def endings(parts: Parts) -> Iterator[Problem]:
    """Yield every contradiction about restarts.

    onPodFailure is for the pods that train; those of other roles restart in place beside it.
    """
    policy = parts.job.run_policy
    if not policy.model_fields_set:
        return
    restarts = _in_place(part for part in parts.every if not part.beside)
    if policy.on_pod_failure is not None and restarts is not None:
        message = f"restartPolicy {restarts} restarts a failed container in its pod, so no pod ever fails"
        yield conflict((*_POLICY, "onPodFailure"), message, "set only one of the two")
    if policy.on_pod_failure == "FailJob" and policy.backoff_limit:
        message = f"FailJob retries nothing, but backoffLimit allows {policy.backoff_limit}"
        yield conflict((*_POLICY, "onPodFailure"), message, "use RestartPod or RestartJob, or remove backoffLimit")
    anywhere = _in_place(parts.every)
    asks = policy.on_pod_failure if policy.on_pod_failure in {"RestartPod", "RestartJob"} else anywhere
    if policy.backoff_limit == 0 and asks is not None and asks != "Always":
        yield problem(
            "no-retries-left",
            (*_POLICY, "backoffLimit"),
            f"0 allows no restart, but {asks} needs them: the first failure ends the job",
            "use a number above 0, or remove it",
            severity="warning",
            stage="run",
        )


def _in_place(parts: Iterable[Part]) -> RestartPolicy | None:
    """The first restart policy by which the kubelet starts a failed container again."""
    said = (part.fields.restart_policy for part in parts)
    return next((one for one in said if one not in {None, "Never"}), None)
