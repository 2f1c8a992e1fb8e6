"""What may be written as a value: closed lists, names of the profile and the workspace, host names of pods."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.untyped import kind_of
from ptcompile.server.document import Open
from ptcompile.server.place import Place
from ptcompile.server.references import in_profile, is_mount, kinds_named
from ptcompile.server.shapes import OURS, Node, choices

_MOST: Final = 200
"""Names that are offered at once."""
_PROBE: Final = "ptcompile-probe"
_supported = re.compile(r"supported values: (.*)")
_LINES: Final = frozenset({"args", "command", "env", "value"})
"""Keys below which a value may be the address of a pod."""


class Value(NamedTuple):
    """Something that may be written, and what it is."""

    text: str
    detail: str = ""
    kind: str = "value"
    """`value`, `name` (of an object or an entry of the profile) or `host`."""


def values(opened: Open, place: Place, kind: tuple[str, str], nodes: Sequence[Node]) -> list[Value]:
    """What may be written at a place, the likeliest first, each once."""
    found: dict[str, Value] = {}
    ours = kind[1] in OURS and (kind[0].startswith("ptcompile/") or not kind[0])
    for one in _all(opened, place, kind, nodes, ours=ours):
        found.setdefault(one.text, one)
        if len(found) >= _MOST:
            break
    return list(found.values())


def _all(opened: Open, place: Place, kind: tuple[str, str], nodes: Sequence[Node], *, ours: bool) -> Iterator[Value]:
    path = place.path
    if len(path) == 1 and path[0] in ("apiVersion", "kind"):
        yield from _kinds(path[0] == "kind", kind)
        return
    if ours:
        yield from _of_spec(opened, path)
    yield from (Value(one) for one in choices(nodes))
    if is_mount(path):
        yield from (Value(name, "volume", "name") for name in _volume_names(place))
    kinds = kinds_named(path)
    yield from (Value(one.name, one.kind, "name") for one in (*opened.own, *opened.elsewhere) if one.kind in kinds)
    if not ours and not choices(nodes):
        yield from (Value(one) for one in _supported_at(opened, place, kind))
    if any(part in _LINES for part in path):
        yield from _hosts(opened, place)


def _kinds(is_kind: bool, kind: tuple[str, str]) -> Iterator[Value]:
    """Every apiVersion with a kind that is known here."""
    from ptcompile.validate.kinds import known_kinds

    ours = [("ptcompile/v1", name) for name in OURS]
    for version, name in (*ours, *known_kinds()):
        if not is_kind:
            if kind[1] in ("", name):
                yield Value(version, name if kind[1] else "")
        elif kind[0] in ("", version):
            yield Value(name, version)


def _of_spec(opened: Open, path: Path) -> Iterator[Value]:
    """The names that a spec takes from the targets, the catalogue and the profile."""
    profile = opened.profile.spec
    if path == ("spec", "target"):
        from ptcompile.operators.targets import TARGETS, target_named

        yield from (Value(name, target_named(name).title) for name in TARGETS)
    elif path == ("spec", "accelerator"):
        from ptcompile.catalogue import accelerators

        yield from (Value(name, "of the profile", "name") for name in profile.accelerators)
        yield from (Value(name, "built in") for name in accelerators.names(profile.cloud or ""))
    elif path == ("spec", "fabric"):
        from ptcompile.catalogue.fabrics import FABRICS

        yield from (Value(name, "of the profile", "name") for name in profile.fabrics)
        yield from (Value(name, "built in") for name in FABRICS)
    elif in_profile(path) == ("topology", "levels"):
        yield from (Value(name, "level of the profile", "name") for name in profile.topology.levels)
    elif in_profile(path) == ("priorities",):
        yield from (Value(name, f"priority {value} of the profile", "name") for name, value in _pairs(profile))
    elif path == ("spec", "queue") and profile.defaults.queue:
        yield Value(profile.defaults.queue, "the profile's default queue", "name")


def _pairs(profile: Any) -> Iterable[tuple[str, int]]:
    priorities: Mapping[str, int] = profile.priorities
    return priorities.items()


def _volume_names(place: Place) -> Iterator[str]:
    """The volumes of the pod, by the document's outline."""
    for end in range(len(place.path) - 3, -1, -1):
        yield from place.document.values((*place.path[:end], "volumes"), "name")


def _supported_at(opened: Open, place: Place, kind: tuple[str, str]) -> Iterator[str]:
    """The closed list that an API server or a webhook would quote: asked by a value that is in none."""
    from ptcompile.documents import source
    from ptcompile.validate import validate

    before, after = opened.text[place.begin : place.start], opened.text[place.end :]
    rest = after[after.find("\n") :] if "\n" in after else ""
    closing = place.quote + ("" if not place.flow else after.partition("\n")[0].removeprefix(place.quote))
    blank = " " if place.glued else ""
    read = source.read(f"{before}{blank}{_PROBE}{closing}{rest}")
    for document in read.documents[:1]:
        if kind_of(document.data) == kind:
            for problem in validate(document.data, versions=opened.versions):
                found = _supported.search(problem.message)
                if found and problem.path == place.path:
                    yield from re.findall(r'"([^"]*)"', found[1])


def _hosts(opened: Open, place: Place) -> Iterator[Value]:
    """The names under which the pods of this text's jobs find each other, as it was when it last could be read."""
    sound = opened.last_sound()
    seen = 0
    for jobs in sound.jobs.values() if sound is not None else ():
        for job in jobs:
            for role in job.roles:
                for index in range(min(role.count, 8)):
                    pod = job.pod(role, index)
                    if pod.dns and seen < _MOST:
                        seen += 1
                        yield Value(_short(pod.dns, pod.view.namespace), f"pod {pod.shown}", "host")


def _short(dns: str, namespace: str) -> str:
    """A pod's name within its namespace."""
    return dns.removesuffix(f".{namespace}.svc.cluster.local").removesuffix(f".{namespace}.svc")
