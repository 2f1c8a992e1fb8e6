"""What the compiler knows of a pod: its template, the container that trains, and the amounts that it asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ptcompile.kubernetes.names import never_shared
from ptcompile.typed import NamedTuple, cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Json = Mapping[str, Any]
    """A Kubernetes object or a part of one, as plain data. Never changed in place."""

NOTHING: Json = {}

_FIRST = {"cpu": "\0", "memory": "\1", "ephemeral-storage": "\2"}
"""Resources that stand in front of the others, as what they are sorted by."""


class Resources(NamedTuple):
    """Requests and limits by resource name; quantities as text. The name `gpu` stands for the profile's GPU."""

    requests: Mapping[str, str] = NOTHING
    limits: Mapping[str, str] = NOTHING
    nulls: frozenset[tuple[str, str]] = frozenset()
    """What stays empty whatever the levels below say: ("limits", "cpu")."""

    def over(self, below: Resources) -> Resources:
        """These amounts where they name a resource, and `below`'s elsewhere.

        A level that gives an amount names the resource whole: nothing of the level below is mixed in. A missing request
        is the limit, as the API server has it. A missing limit stays missing, except where Kubernetes demands that both
        are equal. In the order cpu, memory, scratch disk, then the others by name.
        """
        own = {**self.requests, **self.limits}
        nulls = self.nulls
        if below.nulls:
            nulls |= {one for one in below.nulls if one[1] not in own}
        requests: dict[str, str] = {}
        limits: dict[str, str] = {}
        for name in sorted({**own, **below.requests, **below.limits}, key=lambda name: _FIRST.get(name, name)):
            level = self if name in own else below
            limit = None if nulls and ("limits", name) in nulls else level.limits.get(name)
            request = None if nulls and ("requests", name) in nulls else level.requests.get(name, limit)
            if limit is None and request is not None and (name == "gpu" or never_shared(name)):
                limit = request
            if request is not None:
                requests[name] = request
            if limit is not None:
                limits[name] = limit
        return Resources(requests, limits, nulls)


def resources(requests: Mapping[str, str | None], limits: Mapping[str, str | None]) -> Resources:
    """Amounts as people give them, where null keeps a half empty."""
    if None not in requests.values() and None not in limits.values():
        return Resources(cast("Mapping[str, str]", requests), cast("Mapping[str, str]", limits))
    halves = {"requests": requests, "limits": limits}
    nulls = frozenset((half, name) for half, amounts in halves.items() for name in amounts if amounts[name] is None)
    given = {half: {k: v for k, v in amounts.items() if v is not None} for half, amounts in halves.items()}
    return Resources(given["requests"], given["limits"], nulls)


class Container(NamedTuple):
    """The container that trains. `extra` keeps every container field that has no place of its own here."""

    name: str
    image: str | None = None
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] | None = None
    env: tuple[Json, ...] = ()
    resources: Resources = Resources()
    mounts: tuple[Json, ...] = ()
    extra: Json = NOTHING

    def with_env(self, env: Iterable[Json]) -> Container:
        """The same with these variables."""
        extra, mounts = self.extra, self.mounts  # each by its place: half of what _replace costs
        return Container(self.name, self.image, self.command, self.args, tuple(env), self.resources, mounts, extra)


class PodTemplate(NamedTuple):
    """A pod template: the fields that passes look at, and in `extra` and `metadata` all the others as they are."""

    main: Container
    sidecars: tuple[Json, ...] = ()
    labels: Mapping[str, str] = NOTHING
    annotations: Mapping[str, str] = NOTHING
    volumes: tuple[Json, ...] = ()
    tolerations: tuple[Json, ...] = ()
    node_selector: Mapping[str, str] = NOTHING
    affinity: Json = NOTHING
    metadata: Json = NOTHING
    extra: Json = NOTHING
    nulls: Json = NOTHING
    """What is removed from the finished template, whatever wrote it: a tree of the fields' names, with an item of
    a list by what names it, and as its leaves the places of the spec that say so."""

    def with_main(self, main: Container) -> PodTemplate:
        """The same with another container that trains."""
        return PodTemplate(main, *self[1:])

    def with_env(self, env: Iterable[Json]) -> PodTemplate:
        """The same with these variables of the container that trains."""
        return PodTemplate(self.main.with_env(env), *self[1:])
