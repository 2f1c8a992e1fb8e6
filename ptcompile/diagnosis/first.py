"""The first cause in the logs of many pods.

Each pod says that another one failed, and torchrun calls the first failure of each pod a root
cause. So what a message is decides before time does: the reason for a whole pod, a failure of a
process, a wait that ended, a consequence. Where only consequences are left, the pod that a message
names or the only silent one is to blame.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnosis.lines import LoggedPod, Logs, Sighting
from ptcompile.source.secrets.masking import masker_of
from ptcompile.source.secrets.names import MASK
from ptcompile.source.secrets.texts import secret_parts, without_parts


class FirstCause(NamedTuple):
    """The origin of a job's failure."""

    sighting: Sighting
    """The message that reports it."""
    file: str
    line: int
    pod: str
    is_silent: bool = False
    """Whether the pod is to blame because others name it, or because it alone does not have
    their message.
    """


_MOST_CONSEQUENCES = 200
_CLOCKS_DIFFER = 2.0
"""Seconds by which the clocks of two nodes may differ."""


def find_origin(logs: Logs, *, tolerates: bool) -> FirstCause | None:
    """Return where the failure began; None without a message that can be its cause or its
    consequence.

    `tolerates` is whether the job's pods tolerate taints.
    """
    ids = {sighting.message.id for sighting in logs.sightings}
    candidates = [
        sighting
        for sighting in logs.sightings
        if ids.isdisjoint(sighting.message.after) and not _is_harmless(sighting)
    ]
    if not candidates:
        return None

    nearest = min(sighting.message.tier for sighting in candidates)
    first = _earliest_sighting(
        [sighting for sighting in candidates if sighting.message.tier == nearest]
    )
    if first.message.filter:
        # one line of the scheduler lists several reasons, each of them a separate sighting
        place = (first.file, first.line)
        reasons = [
            sighting
            for sighting in candidates
            if sighting.message.filter and (sighting.file, sighting.line) == place
        ]
        first = _reason_for_node(reasons, tolerates)

    silent = _silent_pod(first, logs) if first.message.role == "secondary" else None

    if silent is not None:
        return FirstCause(first, silent.file, silent.last_line, silent.pod, is_silent=True)

    return FirstCause(first, first.file, first.line, first.pod)


def _is_harmless(sighting: Sighting) -> bool:
    """Return whether a message is a notice that no mistake in a manifest leads to."""
    message = sighting.message
    return message.role == "notice" and not any(cause.code for cause in message.causes)


def _earliest_sighting(sightings: Sequence[Sighting]) -> Sighting:
    """Return the first sighting in time, or in the order of the logs if times do not decide.

    A wait that ended began long before, so among waits that end together the clocks decide nothing.
    """
    timed = sorted(
        (sighting for sighting in sightings if sighting.seconds),
        key=lambda sighting: sighting.seconds,
    )
    if not timed:
        return _first_no_wait(sightings)

    earliest = timed[0]
    if not earliest.message.waits:
        return earliest

    return _first_no_wait(
        [
            other
            for other in sightings
            if other.seconds and other.seconds - earliest.seconds <= _CLOCKS_DIFFER
        ]
    )


def _first_no_wait(sightings: Sequence[Sighting]) -> Sighting:
    return next((sighting for sighting in sightings if not sighting.message.waits), sightings[0])


def _reason_for_node(reasons: Iterable[Sighting], tolerates: bool) -> Sighting:
    """Return the reason that keeps pods from the nodes that are nearest to fit.

    The scheduler counts each node under the first filter that it fails, so a node that fails a late
    filter has passed the others. But nodes without GPUs lack GPUs, and those with GPUs hide behind
    their taint.
    """
    by_filter = {sighting.message.filter: sighting for sighting in reasons}
    latest = by_filter[max(by_filter)]
    first = by_filter[min(by_filter)]

    is_extended = "/" in latest.values.get("resource", "")
    hides = first.message.id == "sched-taint" and _nodes_of(first) >= _nodes_of(latest)
    return first if is_extended and hides and not tolerates else latest


def _nodes_of(sighting: Sighting) -> int:
    return int(sighting.values.get("count", "0"))


def _silent_pod(first: Sighting, logs: Logs) -> LoggedPod | None:
    """Return the pod that the message names by its address, or the only one that does not have
    the message.
    """
    peer = first.values.get("peer") or first.values.get("peer2")
    others = [pod for pod in logs.pods if (pod.file, pod.pod) != (first.file, first.pod)]
    named = [pod for pod in others if peer and pod.address == peer]
    if named:
        return named[0]

    has_message = {
        (sighting.file, sighting.pod)
        for sighting in logs.sightings
        if sighting.message == first.message
    }
    silent = [pod for pod in others if (pod.file, pod.pod) not in has_message]

    return silent[0] if len(silent) == 1 else None


def consequences(logs: Logs, origin: FirstCause) -> list[Sighting]:
    """Return the other messages, each once a pod, without notices and summaries; what happened
    first comes first.
    """
    by_pod: dict[tuple[str, str, str], Sighting] = {}
    first = origin.sighting
    for sighting in logs.sightings:
        # the first cause itself, seen again on its line or in its pod
        is_same = (sighting.file, sighting.line) == (first.file, first.line) or (
            sighting.message.id == first.message.id and sighting.pod == first.pod
        )
        if not is_same and sighting.message.role not in ("notice", "summary"):
            by_pod.setdefault((sighting.file, sighting.pod, sighting.message.id), sighting)
    in_time = sorted(by_pod.values(), key=lambda sighting: sighting.seconds or float("inf"))
    return in_time[:_MOST_CONSEQUENCES]


def masked(origin: FirstCause, objects: Iterable[object]) -> FirstCause:
    """Return the origin without secrets, those of the job's objects too."""
    mask_known = masker_of(objects)

    def mask(text: str) -> str:
        text = without_parts(text, secret_parts(text), lambda _: MASK)
        return text if mask_known is None else mask_known(text)

    sighting = origin.sighting
    values = {name: mask(value) for name, value in sighting.values.items()}
    return origin._replace(sighting=sighting._replace(text=mask(sighting.text), values=values))
