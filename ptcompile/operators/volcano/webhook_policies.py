"""Volcano's lifecycle policies: events, exit codes and actions (Volcano 1.16 webhook)."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.kubernetes.untyped import items, text, texts
from ptcompile.kubernetes.versions import Version
from ptcompile.operators.common.verdict import hint, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json

_say = refusal("volcano")
_ANY = "*"
EVENTS = (_ANY, "PodFailed", "PodEvicted", "PodPending", "Unknown", "TaskCompleted", "TaskFailed", "JobUpdated")
ACTIONS = (
    "AbortJob", "RestartJob", "RestartTask", "RestartPod", "RestartPartition", "TerminateJob", "CompleteJob",
    "ResumeJob",
)  # fmt: skip


_SINCE = {"PodPending": (1, 12), "RestartPod": (1, 12), "RestartPartition": (1, 14)}


def policies(value: Any, path: Path, version: Version) -> Iterator[Problem]:
    """The first mistake of a list of policies, as the webhook stops there, and `*` beside other events."""
    events: set[str] = set()
    codes: set[int] = set()
    for i, policy in enumerate(items(value)):
        problem = _policy(policy, (*path, i), events, codes, version)
        if problem:
            yield problem
            break
    if _ANY in events and len(events) > 1:
        yield _say(path, "if there's * here, no other policy should be here", "keep `*` alone, or name the events")


def _policy(policy: Json, path: Path, events: set[str], codes: set[int], version: Version) -> Problem | None:
    one, code = text(policy.get("event")), policy.get("exitCode")
    listed = list(dict.fromkeys([*texts(policy.get("events")), *([one] if one else [])]))
    if listed and code is not None:
        return _say(path, "must not specify event and exitCode simultaneously", "split it into two policies")
    if listed:
        return _events(listed, text(policy.get("action")), path, events, version)
    if code is None:
        return _say(path, "either event and exitCode should be specified", "set the event that triggers the action")
    if code == 0:
        return _say((*path, "exitCode"), "Invalid value: 0 is not a valid error code", "use a code other than 0")
    if isinstance(code, int) and code in codes:
        return _say((*path, "exitCode"), f"Duplicate value: duplicate exitCode {code}", "keep one of the policies")
    codes.add(code if isinstance(code, int) else -1)
    return None


def _events(listed: list[str], action: str, path: Path, events: set[str], version: Version) -> Problem | None:
    for event in listed:
        if event not in EVENTS or not _there(event, version):
            text_ = f'Invalid value: "{event}": invalid policy event'
            return _say((*path, "event"), text_, hint(event, EVENTS))
        if action not in ACTIONS or not _there(action, version):
            text_ = f'Invalid value: "{action}": invalid policy action'
            return _say((*path, "action"), text_, hint(action, ACTIONS))
        if event in events:
            return _say(path, f"Duplicate value: duplicate event {event} across different policy", "keep one policy")
        events.add(event)
    return None


def _there(word: str, version: Version) -> bool:
    """Whether this release of Volcano knows an event or action."""
    return version >= _SINCE.get(word, version)
