"""Logs as sightings of messages: whose line it is, when it was written, and which message it has.

The formats are those of `kubectl logs` (with --prefix and --timestamps), stern, containerd, docker,
journald and JSON loggers; the times of torch, NCCL and klog; torchrun's root cause blocks and
--tee; the tables of `kubectl get`, `kubectl describe`, and objects as `kubectl get -o json` prints
them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnosis.messages import Finder, Message
from ptcompile.kubernetes.unstructured import (
    as_mapping,
    as_mappings,
    as_string,
    nested_map,
    nested_maps,
    nested_string,
    object_name,
)


class Sighting(NamedTuple):
    """A message in a log."""

    message: Message
    values: Mapping[str, str]
    """What the message names: a host, a port, a resource."""
    file: str
    line: int
    """From 1; 0 for a field of an object."""
    text: str
    pod: str = ""
    rank: str = ""
    time: str = ""
    """As the log has it."""
    seconds: float = 0
    """The time since the year began; 0 if the log does not tell."""


class LoggedPod(NamedTuple):
    """One pod in one file."""

    file: str
    pod: str
    last_line: int
    """The number of its last line with text."""
    address: str
    """Its address, where the log shows it."""


class Logs:
    """The sightings in all logs."""

    def __init__(self) -> None:
        self.sightings: list[Sighting] = []
        self.pods: list[LoggedPod] = []
        self.lines = 0
        self.finder = Finder()

    @property
    def is_cut(self) -> bool:
        """Whether a part of the logs was not looked at."""
        return self.finder.is_spent

    def read(self, file: str, content: str | bytes) -> None:
        """Read one log. Bytes that are no UTF-8 are replaced."""
        reader = _LogReader(self, file)
        objects = _objects(content)
        if objects is None:
            for text in _lines(content):
                reader.add(text)
        else:
            for pod, time, text in _states(objects):
                reader.add_state(pod, time, text)
        reader.end()


_CHUNK = 1 << 20


def _lines(content: str | bytes) -> Iterator[str]:
    """Yield the lines; never all of them at once, because a character outside of ASCII makes
    each of a text larger.
    """
    start = 0
    while start < len(content):
        end = start + _CHUNK
        if isinstance(content, bytes):
            end = content.find(b"\n", end) + 1 or len(content)
            part = content[start:end].decode(errors="replace")
        else:
            end = content.find("\n", end) + 1 or len(content)
            part = content[start:end]
        yield from part.removesuffix("\n").split("\n")
        start = end


_LONGEST = 8192
_HEAD = 6144
_SEEN = 3
"""Sightings of a message that are kept for each pod and file."""
_MOST_SIGHTINGS = 10_000
_MOST_PODS = 5_000
"""Pods of one log; lines of more are those of the log."""
_KEPT = 1_000
"""Characters of a line or a value that are kept."""
_prefix = re.compile(
    r"(?:\x1b\[[0-9;]{0,9}m)?"
    r"(?:\[pod/(?P<pod>[^\]/\s]{1,253})/[^\]\s]{1,253}\] )?"
    r"(?:(?P<time>\d{4}-\d\d-\d\dT[\d:.]{8,18}(?:Z|[+-]\d\d:\d\d)) )?"
    r"(?:std(?:out|err) [FP] )?"
    r"(?:\[(?!rank\d)[A-Za-z]\w{0,40}\d\]: ?)?"
).match
_time = re.compile(
    r"(?P<iso>\d{4}-(?P<month>\d\d)-(?P<day>\d\d)[T_ ](?P<clock>\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)Z?)"
    r"|\b[IWEF](?P<month2>\d\d)(?P<day2>\d\d) (?P<clock2>\d\d:\d\d:\d\d(?:\.\d{1,9})?)"
    r"|^(?P<name>[A-Z][a-z]{2}) {1,2}(?P<day3>\d{1,2}) (?P<clock3>\d\d:\d\d:\d\d)"
).search
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_rank = re.compile(r"\[[Rr]ank ?(?P<tagged>\d{1,7})\]|\brank {1,9}: (?P<listed>\d{1,7})").search
_object = re.compile(r"\b[Pp]od/(?P<pod>[a-z0-9][a-z0-9.-]{0,252})").search
_stern = re.compile(
    r"(?P<pod>[a-z0-9][a-z0-9.-]{0,252}-(?:[a-z0-9]{5}|\d{1,5})) [a-z][a-z0-9-]{0,62} "
).match
_address = re.compile(r"\baddr=\[(?:::ffff:)?(?P<address>[\da-f.:]{3,45})\]").search
_block = re.compile(r"\s*(?:time|host|rank) {1,9}: ").match
_BLOCK_LINES = 4
_START = 200
"""Characters of a line in which its time is searched."""
_FRAME = '  File "'
_TABLE_HEADS = ("NAME", "NAMESPACE", "LAST SEEN")


class _Pod:
    """The state of one pod while a log is read."""

    def __init__(self) -> None:
        self.last_line = 0
        self.address = ""
        self.counts: dict[str, int] = {}
        """How often each message was seen."""
        self.waiting: list[int] = []
        """Sightings that take the time of the next line that has one."""
        self.unclocked: list[int] = []
        """Sightings on lines without a time, since the last root cause block."""


class _LogReader:
    """Reads one log: its lines in order, with what the lines before them say."""

    def __init__(self, logs: Logs, file: str) -> None:
        self._logs = logs
        self._file = file
        self._number = 0
        self._before = ""
        name = os.path.basename(file)
        self._name = name.removesuffix(".log") if name.endswith(".log") else ""
        self._pods: dict[str, _Pod] = {}
        self._is_init = False
        self._columns: list[str] = []
        self._block = 0

    def add(self, line: str) -> None:
        """Read the next line."""
        self._number += 1
        self._logs.lines += 1
        if not line or line.isspace():
            return

        pod = self._pod(line[5 : line.find("/", 5)] if line.startswith("[pod/") else self._name)
        pod.last_line = self._number
        if "addr=[" in line and not pod.address and (address := _address(line)):
            pod.address = address["address"]
        self._notice_form(line)
        if self._block:
            self._add_block(pod, line)
        # a line of the program in a traceback may quote a message
        is_code = _FRAME in self._before
        if not is_code and (pod.waiting or self._logs.finder.may_match(line)):
            self._find(line)
        self._before = line

    def _pod(self, name: str) -> _Pod:
        """Return what is known of a pod; pods above the limit count as the one that the log is
        of.
        """
        if len(self._pods) >= _MOST_PODS and name not in self._pods:
            name = self._name
        return self._pods.setdefault(name, _Pod())

    def _notice_form(self, line: str) -> None:
        """Remember the object that `kubectl describe` describes, and the columns of a table."""
        if line.startswith("Name:"):
            self._name = line[5:].strip()
        elif line.startswith(_TABLE_HEADS):
            self._columns = line.replace("LAST SEEN", "LAST-SEEN").split()
        elif line.startswith(("Init Containers:", "Containers:")):
            self._is_init = line.startswith("Init")

    def _add_block(self, pod: _Pod, line: str) -> None:
        """Take time and rank of what failed first in the pod from the lines after "Root Cause"."""
        self._block -= 1
        if _block(line) is None:
            return

        time = _time(line)
        rank = _rank_of(line)
        for index in pod.unclocked:
            sighting = self._logs.sightings[index]
            if time is not None:
                sighting = _with_time(sighting, time)
            self._logs.sightings[index] = sighting._replace(rank=sighting.rank or rank)

        if rank:
            pod.unclocked.clear()

    def _find(self, line: str) -> None:
        """Look for messages in a line, and for the time of the lines before it that have none."""
        if len(line) > _LONGEST:
            line = f"{line[:_HEAD]} {line[_HEAD - _LONGEST :]}"
        text, name, stamp = _unwrap_line(line)
        stern = None if name else _stern(text)
        if stern is not None:
            name = stern["pod"]
            text = text[stern.end() :]
        pod = name or self._pod_of(text)
        time = _time(stamp or text[:_START])
        if time is not None:
            waiting = self._pod(pod).waiting
            for index in waiting:
                self._logs.sightings[index] = _with_time(self._logs.sightings[index], time)
            waiting.clear()

        self._keep(text, pod, time)

    def _pod_of(self, text: str) -> str:
        """Return the pod that an event or a row of a table names, else the one of the log."""
        if event := _object(text):
            return event["pod"]
        if "NAME" in self._columns and len(row := text.split()) > (
            column := self._columns.index("NAME")
        ):
            return row[column]
        return self._name

    def _keep(self, text: str, name: str, time: re.Match[str] | None) -> None:
        """Keep the messages of a text, unless the pod has repeated them often."""
        pod = self._pod(name)
        rank = _rank_of(text)
        for message, values in self._logs.finder.matches(text, self._before):
            if self._is_init and message.id == "exit-0-early":
                continue

            if message.id == "elastic-root-cause":
                self._block = _BLOCK_LINES
            pod.counts[message.id] = pod.counts.get(message.id, 0) + 1
            if pod.counts[message.id] > _SEEN or len(self._logs.sightings) >= _MOST_SIGHTINGS:
                continue

            kept = {key: value[:_KEPT].strip() for key, value in values.items()}
            sighting = Sighting(
                message, kept, self._file, self._number, text.strip()[:_KEPT], name, rank
            )
            if time is None:
                pod.waiting.append(len(self._logs.sightings))
                pod.unclocked.append(len(self._logs.sightings))
            self._logs.sightings.append(sighting if time is None else _with_time(sighting, time))

    def add_state(self, pod: str, time: str, text: str) -> None:
        """Read what an object says of a pod."""
        self._keep(text, pod, _time(time))

    def end(self) -> None:
        """Remember the pods of the log; one whose log is empty is silent too."""
        self._pod(self._name)
        self._logs.pods += [
            LoggedPod(self._file, name, pod.last_line, pod.address)
            for name, pod in self._pods.items()
            if name
        ]


def _rank_of(text: str) -> str:
    rank = _rank(text)
    return (rank["tagged"] or rank["listed"]) if rank is not None else ""


def _with_time(sighting: Sighting, time: re.Match[str]) -> Sighting:
    """Return a sighting with the time that a line has; times of different forms are compared
    within a year.
    """
    month = (
        time["month"]
        or time["month2"]
        or str(_MONTHS.index(time["name"]) + 1 if time["name"] in _MONTHS else 1)
    )
    day = time["day"] or time["day2"] or time["day3"]
    clock = time["clock"] or time["clock2"] or time["clock3"]
    hours, minutes, seconds = clock.replace(",", ".").split(":")
    total = (
        (int(month) * 31 + int(day)) * 86_400
        + int(hours) * 3_600
        + int(minutes) * 60
        + float(seconds)
    )

    return sighting._replace(time=clock, seconds=total)


def _unwrap_line(line: str) -> tuple[str, str, str]:
    """Return the text of a line without prefixes and JSON around it, and the pod and the time
    that these name.
    """
    match = _prefix(line)
    pod, stamp = (match["pod"] or "", match["time"] or "") if match else ("", "")
    text = line[match.end() :] if match else line
    if text.startswith("{") and text.rstrip().endswith("}"):
        logged = _json_of(text)
        texts = (nested_string(logged, key) for key in ("msg", "log", "message", "err", "error"))
        text = ": ".join(filter(None, texts)) or text
        pod = pod or nested_string(logged, "kubernetes", "pod_name")
        stamp = stamp or as_string(logged.get("time") or logged.get("ts"))

    return text.replace("\r", "\n"), pod, stamp


def _json_of(text: str) -> Mapping[str, Any]:
    try:
        return as_mapping(json.loads(text))
    except (ValueError, RecursionError):
        return {}


_MOST_JSON = 16 << 20


def _objects(content: str | bytes) -> list[Mapping[str, Any]] | None:
    """Return the objects of an output of `kubectl get -o json`, or None for anything else."""
    start = content[:200].lstrip()
    opening = b"{" if isinstance(start, bytes) else "{"
    if not start.startswith(opening) or len(content) > _MOST_JSON:  # type: ignore[arg-type]
        return None
    text = content.decode(errors="replace") if isinstance(content, bytes) else content
    data = _json_of(text)
    if "kind" not in data:
        return None
    return nested_maps(data, "items") if "items" in data else [data]


def _states(objects: list[Mapping[str, Any]]) -> Iterator[tuple[str, str, str]]:
    """Yield the pod, the time and the text of each state, condition and event of objects."""
    for item in objects:
        status = nested_map(item, "status")
        name = object_name(item)
        pod = name if item.get("kind") == "Pod" else ""
        if item.get("kind") == "Event":
            about = nested_map(item, "involvedObject") or nested_map(item, "regarding")
            time = as_string(item.get("lastTimestamp") or item.get("eventTime"))
            pod = nested_string(about, "name") if about.get("kind") == "Pod" else ""
            yield pod, time, f"{item.get('reason')} {item.get('message') or item.get('note')}"

        for state in (status, *nested_maps(status, "conditions")):
            time = nested_string(state, "lastTransitionTime")
            if state.get("reason") or state.get("message"):
                yield pod, time, f"{state.get('reason', '')}: {state.get('message', '')}"

        for container in nested_maps(status, "containerStatuses"):
            for key in ("lastState", "state"):
                for state in as_mappings([*nested_map(container, key).values()]):
                    code = f" exit code {state['exitCode']}" if "exitCode" in state else ""
                    text = f"{state.get('reason', '')}: {state.get('message', '')}{code}"
                    yield pod, nested_string(state, "finishedAt"), text
