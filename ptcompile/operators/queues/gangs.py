"""The gangs that pods name: PodGroups of every gang scheduler, as they are in the files."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics.field_errors import as_field_int
from ptcompile.kubernetes.unstructured import Json, nested_map, nested_maps, nested_value
from ptcompile.operators.table import GROUP_MARKS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kinds.model import GroupMark
    from ptcompile.kubernetes.index import Objects


class NamedGroup(NamedTuple):
    """A gang that a pod names."""

    name: str
    scheduler: str
    """The scheduler that reads it."""
    path: tuple[str, ...]
    """Path of the name in the pod."""
    kind: str
    """Kind of the object."""
    manifest: Json | None
    """The object, or None if no file has it."""
    size: int | None
    """The number of pods for which the scheduler waits, or None if it waits for none, or if no
    file says it.
    """
    member: str = ""
    """Name of the item in an object that holds several groups; empty if it holds one."""
    lacks_member: bool = False
    """Whether the object has no item of this name."""
    counts_resources: bool = True
    """Whether the object sums up the resources of its pods."""


def named_groups(pod: Json, objects: Objects) -> Iterator[NamedGroup]:
    """Yield the gangs that a pod's metadata and spec name, one per scheduler. `objects` has
    those of the namespace.
    """
    paths: dict[tuple[str, ...], NamedGroup] = {}
    for (api_version, kind), mark in GROUP_MARKS.items():
        name = _text_at(pod, mark.pod_path)
        if not name:
            continue
        match = next(iter(objects.by_name((api_version, kind), name)), None)
        if mark.pod_path not in paths or match is not None:
            paths[mark.pod_path] = _group(name, kind, mark, match, _text_at(pod, mark.member_path))

    yield from paths.values()


def needed_groups(spec: Json) -> Iterator[tuple[str, str]]:
    """Yield kind and name of the groups that a pod's spec names."""
    paths = {
        mark.pod_path[1:]: kind
        for (_, kind), mark in GROUP_MARKS.items()
        if mark.pod_path[0] == "spec"
    }
    for path, kind in paths.items():
        if name := _text_at(spec, path):
            yield kind, name


def _group(name: str, kind: str, mark: GroupMark, manifest: Json | None, member: str) -> NamedGroup:
    """Return a group that pods name, with its size if the files have its object."""
    group = NamedGroup(name, mark.scheduler, mark.pod_path, kind, manifest, None, member)
    group = group._replace(counts_resources=mark.size_path == ("minMember",))
    if manifest is None:
        return group

    spec = nested_map(manifest, "spec")
    if mark.member_path:
        items = [item for item in nested_maps(spec, "podGroups") if item.get("name") == member]
        if not items:
            return group._replace(lacks_member=True)
        spec, *_ = items

    return group._replace(size=as_field_int(nested_value(spec, *mark.size_path)))


def _text_at(data: Json, path: tuple[str, ...]) -> str:
    value = nested_value(data, *path) if path else None
    return value if type(value) is str else ""
