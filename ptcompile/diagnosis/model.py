"""`Diagnosis`: what the logs say and the manifest proves, as text and as JSON
(schemas/diagnosis.schema.json).
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnosis.causes import WeighedCause
from ptcompile.diagnosis.first import FirstCause
from ptcompile.diagnosis.lines import Sighting
from ptcompile.diagnosis.messages import Message
from ptcompile.diagnostics import Diagnostic
from ptcompile.report.layout import join_escaped, shorten, with_label

VERSION = 1
_MAX_CONSEQUENCES = 8
_QUOTED = 400
"""Characters of a line of a log that are quoted."""


class Diagnosis(NamedTuple):
    """The first cause in the logs of a job, and what led to it."""

    first: FirstCause | None
    """Where the failure began; None if no known message tells it."""
    causes: tuple[WeighedCause, ...] = ()
    """What may have led to it, the likeliest first; without those that the manifest rules out."""
    compared: tuple[str, ...] = ()
    """How what the message names differs from the pods of the manifest."""
    consequences: tuple[Sighting, ...] = ()
    """The other messages, each once a pod."""
    nearest: tuple[Message, ...] = ()
    """Without a known message: the most similar ones."""
    files: tuple[str, ...] = ()
    """The logs that were read."""
    lines: int = 0
    """Number of lines that were read."""
    is_cut: bool = False
    """Whether the logs are too long, so that a part of them was not looked at."""
    source_name: str = ""
    """The name of the manifest or spec; empty without one."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """Mistakes in the text of the manifest and in the profile."""

    @property
    def ok(self) -> bool:
        """Whether the logs have no message that tells of a failure."""
        return self.first is None

    def text(self) -> str:
        """Return the diagnosis as text: where it began, the causes, what to do, and what only
        followed.
        """
        return join_escaped(self._lines())

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form. Lines count from 1; null means that no line shows it."""
        return {
            "version": VERSION,
            "first": None if self.first is None else origin_to_dict(self.first),
            "causes": [self._cause_to_dict(weighed) for weighed in self.causes],
            "compared": list(self.compared),
            "consequences": [_sighting_to_dict(sighting) for sighting in self.consequences],
            "nearest": [
                {"message": message.id, "meaning": message.meaning} for message in self.nearest
            ],
            "looked": {"files": list(self.files), "lines": self.lines, "cut": self.is_cut},
            "diagnostics": [diagnostic.to_dict() for diagnostic in self.diagnostics],
        }

    def _cause_to_dict(self, weighed: WeighedCause) -> dict[str, Any]:
        finding = weighed.finding
        return {
            "text": weighed.cause.text if finding is None else finding.message,
            "code": weighed.cause.code or None,
            "proven": finding is not None,
            "help": None if finding is None else finding.help,
            "file": self.source_name if weighed.line else None,
            "line": weighed.line or None,
        }

    def _lines(self) -> Iterator[str]:
        if self.first is None:
            yield "no known message of a failure"
            yield from with_label("looked at", [self._extent_text()])
            yield from with_label(
                "nearest", [f"{message.id}: {message.meaning}" for message in self.nearest]
            )
            return

        message = self.first.sighting.message
        yield from _origin_lines(self.first)
        yield from with_label("the job", self.compared)
        yield ""
        yield from self._cause_lines()
        yield from with_label("do", [message.do])
        yield from with_label("look next at", [message.next] if message.next else [])
        sightings = [_sighting_text(sighting) for sighting in self.consequences[:_MAX_CONSEQUENCES]]
        more = len(self.consequences) - len(sightings)
        if more > 0:
            sightings.append(f"and {more} more")
        yield from with_label("followed by", sightings)
        yield from with_label("looked at", [self._extent_text()])

    def _cause_lines(self) -> Iterator[str]:
        """Yield the causes with their places."""
        if not self.causes:
            if self.source_name:
                text = f"{self.source_name} shows none of those that are known"
            else:
                text = "not known"
            yield from with_label("causes", [text])
        for number, weighed in enumerate(self.causes, 1):
            yield from with_label(f"cause {number}", self._one_cause(weighed))

    def _one_cause(self, weighed: WeighedCause) -> list[str]:
        place = f"{self.source_name}:{weighed.line}" if weighed.line else ""
        if weighed.finding is None:
            code = f" ({weighed.cause.code})" if weighed.cause.code else ""
            return [f"{weighed.cause.text}{code}", *([f"see {place}"] if place else ())]
        help = weighed.finding.help
        return [
            f"{weighed.finding.code} at {place}: {weighed.finding.message}",
            *([f"fix: {help}"] if help else ()),
        ]

    def _extent_text(self) -> str:
        rest = "; the rest is too long and was not looked at" if self.is_cut else ""
        return f"{self.lines} lines of {', '.join(self.files) or 'nothing'}{rest}"


def place_of(origin: FirstCause) -> str:
    """Return where the failure began: the line of a log, pod, rank and time, as far as known."""
    sighting = origin.sighting
    where = f"{origin.file}:{origin.line}" if origin.line else origin.file
    facts = [
        origin.pod and f"pod {origin.pod}",
        sighting.rank and f"rank {sighting.rank}",
        sighting.time,
    ]
    return ", ".join(filter(None, [where, *facts[: 1 if origin.is_silent else None]]))


def _origin_lines(origin: FirstCause) -> Iterator[str]:
    sighting = origin.sighting
    yield f"{sighting.message.id} ({sighting.message.group})"
    yield from with_label("began", [place_of(origin)])
    if origin.is_silent:
        yield from with_label(
            "", [f"it is silent; {sighting.file}:{sighting.line} has the message that names it"]
        )

    yield from with_label("message", [shorten(sighting.text, _QUOTED)])
    values = ", ".join(f"{name} {value}" for name, value in sighting.values.items())
    yield from with_label("values", [values] if values else [])
    yield from with_label("meaning", [sighting.message.meaning])


def _sighting_text(sighting: Sighting) -> str:
    pod = f" pod {sighting.pod}" if sighting.pod else ""
    return (
        f"{sighting.file}:{sighting.line}{pod} {sighting.time}".rstrip()
        + f"  {sighting.message.id}"
    )


def origin_to_dict(origin: FirstCause) -> dict[str, Any]:
    """Return the JSON form of where it began."""
    sighting = origin.sighting
    return {
        **_sighting_to_dict(sighting),
        "file": origin.file,
        "line": origin.line or None,
        "pod": origin.pod or None,
        "silent": origin.is_silent,
        "text": sighting.text[:_QUOTED],
        "values": dict(sighting.values),
        "meaning": sighting.message.meaning,
        "do": sighting.message.do,
        "next": sighting.message.next or None,
        "source": sighting.message.source,
    }


def _sighting_to_dict(sighting: Sighting) -> dict[str, Any]:
    return {
        "message": sighting.message.id,
        "secondary": sighting.message.role == "secondary",
        "file": sighting.file,
        "line": sighting.line or None,
        "pod": sighting.pod or None,
        "rank": sighting.rank or None,
        "time": sighting.time or None,
    }
