"""The progress line of a rehearsal: who runs and has met, what happened last, and the first
error with its meaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from ptcompile.diagnosis.first import find_origin
from ptcompile.diagnosis.lines import Logs
from ptcompile.report.layout import shorten

_SHOWN = 80
"""Characters of an error that a line has, before what it means."""
_FAULT_NEWS = {
    "kill": "pod {} is killed",
    "drain": "pod {} is drained",
    "fail-process": "a process of pod {} fails",
}


class ProgressLine:
    """The text of the progress line: the numbers of pods, the latest event and the latest error."""

    def __init__(self) -> None:
        self._news = ""
        """What happened last, until all pods train again."""
        self._overcome: set[str] = set()
        """Errors after which all pods trained again."""

    def add_event(self, text: str) -> None:
        """Show what the operator has done."""
        self._news = text

    def add_fault(self, kind: str, pod: int) -> None:
        """Show that a fault is injected."""
        self._news = _FAULT_NEWS[kind].format(pod)

    def settle(self, errors: Sequence[str | None]) -> None:
        """Clear the news, because all pods train again. `errors` are those that the pods had until
        now: the line no longer explains them.
        """
        self._news = ""
        self._overcome.update(filter(None, errors))

    def text(
        self, running: int, worlds: Mapping[int, int] | None, errors: Sequence[str | None]
    ) -> str:
        """Return the line. `worlds` are the sizes of the worlds that running pods have met, or None
        if that is not seen; `errors` are those of each pod that does not train, or None.
        """
        state = f"{running} of {len(errors)} pods run"
        if worlds is not None:
            state += f", {len(worlds)} have met, world {max(worlds.values(), default=0)}"
        present = tuple(None if error in self._overcome else error for error in errors)
        return "; ".join(filter(None, (state, self._news, explain(present))))


@cache
def explain(errors: tuple[str | None, ...]) -> str:
    """Return the error where the failure of the pods began, with what it means, or an empty
    string without errors.
    """
    present = {pod: error for pod, error in enumerate(errors) if error}
    if not present:
        return ""

    logs = Logs()
    for pod, error in present.items():
        logs.read(f"pod{pod}.log", error.encode())
    origin = find_origin(logs, tolerates=False)

    if origin is None:
        pod = min(present)
        return f"pod {pod}: {present[pod]}"

    sighting = origin.sighting
    return (
        f"pod {origin.pod.removeprefix('pod')}: {shorten(sighting.text, _SHOWN)}: "
        f"{sighting.message.meaning}"
    )
