"""What is left between the object that a spec compiles to and the one that came in, and the words that close the gap.

Below a pod template that is a variable that is not there (`env: {NAME: null}`) or a podTemplate patch, which every
target applies; elsewhere it is `manifest`, a patch for this target alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ptcompile.diffing.defaults import is_default
from ptcompile.diffing.normal import Keyed, normal, plain
from ptcompile.importing.draft import Spec
from ptcompile.operators.common.read import MAIN, Pods, Read
from ptcompile.plain import Json, at
from ptcompile.podtemplate import OBJECT_KEYS

Keys = tuple[str, ...]
"""A path as `diff` writes it: an item of a list by its name, in brackets."""

MISSING: Final = object()


class Gap(NamedTuple):
    """A place where the compiled object and the one that came in differ. Values are in the form that diff compares."""

    path: Keys
    ours: Any
    theirs: Any


class Closed(NamedTuple):
    """A spec with words for the gaps, and the gaps that no word closes."""

    spec: Spec
    left: tuple[Gap, ...]


def gaps(ours: Json, theirs: Json) -> list[Gap]:
    """Every difference between two objects, but for fields that are at their default."""
    one, other = normal(ours), normal(theirs)
    return list(_gaps(one, other, (), one, other))


def _gaps(one: Any, other: Any, path: Keys, ours: Json, theirs: Json) -> Iterator[Gap]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*other, *one)):
            part = f"[{key}]" if isinstance(one, Keyed) or isinstance(other, Keyed) else str(key)
            yield from _gaps(one.get(key, MISSING), other.get(key, MISSING), (*path, part), ours, theirs)
    elif one is MISSING or other is MISSING:
        there, side = (other, ours) if one is MISSING else (one, theirs)
        if isinstance(there, Keyed):
            for key, item in there.items():
                pair = (MISSING, item) if one is MISSING else (item, MISSING)
                yield Gap((*path, f"[{key}]"), *pair)
        elif path[-1].startswith("[") or not is_default(path, there, side):
            yield Gap(path, one, other)
    elif one != other:
        yield Gap(path, one, other)


def close(spec: Spec, found: Sequence[Gap], manifest: Json, read: Read) -> Closed:
    """The spec with words for the gaps. Gaps that all roles that train have alike are one word of the job."""
    out = _copy(spec)
    job: Spec = out["spec"]
    left: list[Gap] = []
    of_roles: dict[tuple[Keys, str], list[tuple[Pods, Gap]]] = {}
    theirs = normal(manifest)
    for gap in found:
        pods, rest = _role(gap.path, manifest, read)
        if pods is None or rest == ("spec", "restartPolicy"):
            patch = job.setdefault("manifest", {}).setdefault(read.target, {})
            if not _put(patch, gap.path, gap.theirs, theirs):
                left.append(gap)
        else:
            of_roles.setdefault((rest, repr(plain(gap.theirs))), []).append((pods, gap._replace(path=rest)))
    trainers = [pods for pods in read.pods if pods.trains]
    for group in of_roles.values():
        common = len([pods for pods, _ in group if pods.trains]) == len(trainers)
        for at_role, gap in group[:1] if common else group:
            block = job if common and at_role.trains else _block(job, at_role, alone=len(trainers) == 1)
            if not _say(block, gap, at_role, manifest):
                left.append(gap)
        for at_role, gap in group[1:] if common else ():
            if not at_role.trains and not _say(_block(job, at_role, alone=False), gap, at_role, manifest):
                left.append(gap)
    return Closed(out, tuple(left))


def _block(job: Spec, pods: Pods, *, alone: bool) -> Spec:
    if not pods.trains:
        return job.setdefault("roles", {}).setdefault(pods.role, {})
    return job if alone else job.setdefault(pods.role, {})


def _role(path: Keys, manifest: Json, read: Read) -> tuple[Pods | None, Keys]:
    """The role whose pod template a path leads into, and the path below it."""
    for pods in read.pods:
        if pods.path is None:
            continue
        under = _named(manifest, pods.path)
        below = path[len(under) :]
        if path[: len(under)] == under and below[:1] in {("spec",), ("metadata",)}:
            if under or below[0] == "spec":  # the metadata of a Pod is the object's
                return pods, below
    return None, path


def _named(manifest: Json, path: Sequence[str | int]) -> Keys:
    """A path of an object with its indexes as names of items."""
    out: list[str] = []
    value: Any = manifest
    for part in path:
        value = value[part]
        out.append(f"[{value.get('name')}]" if isinstance(part, int) else part)
    return tuple(out)


def _say(block: Spec, gap: Gap, pods: Pods, manifest: Json) -> bool:
    """Put one gap below a pod template into a block of the spec; False where it has no word."""
    container = ("spec", "containers", f"[{pods.main}]")
    if gap.path[:4] == (*container, "env") and len(gap.path) == 5 and gap.theirs is MISSING:
        block.setdefault("env", {})[gap.path[4][1:-1]] = None
        return True
    template = normal({"template": _template(manifest, pods)})["template"]
    path = tuple(f"[{MAIN}]" if part == container[-1] and at == 2 else part for at, part in enumerate(gap.path))
    return _put(block.setdefault("podTemplate", {}), path, gap.theirs, template)


def _template(manifest: Json, pods: Pods) -> Json:
    return pods.template if pods.path else {"spec": at(manifest, "spec")}


def _put(patch: Spec, path: Keys, value: Any, theirs: Any) -> bool:
    """Lay a value at a path of a patch. A list whose items have no names is replaced as a whole."""
    *way, last = path
    here: Any = patch
    for index, part in enumerate(way):
        after = path[index + 1]
        theirs = theirs.get(part.strip("[]") if part.startswith("[") else part) if isinstance(theirs, dict) else None
        if after.startswith("[") and part not in OBJECT_KEYS:
            here[part] = None if theirs is None else plain(theirs)
            return theirs is not None or value is MISSING
        if after.startswith("["):
            here = here.setdefault(part, [])
            here = _item(here, OBJECT_KEYS[part], after, theirs, whole=index + 2 == len(path))
            if here is None:
                return value is not MISSING
        elif not part.startswith("["):
            here = here.setdefault(part, {})
    if last.startswith("["):
        return value is not MISSING
    here[last] = None if value is MISSING else plain(value)
    return True


def _item(items: list[Any], key: str, part: str, theirs: Any, *, whole: bool) -> Any:
    """The item of a patch's list to go on in; None where all of it is said already."""
    other = theirs.get(part[1:-1]) if isinstance(theirs, dict) else None
    name = other.get(key) if isinstance(other, dict) else part[1:-1]
    found = next((one for one in items if one.get(key) == name), None)
    if whole:
        if isinstance(other, dict) and found is None:
            items.append(plain(other))
        return None
    if found is None:
        found = {key: name}
        items.append(found)
    return found


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list) else value
