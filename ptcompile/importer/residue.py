"""The differences that are left after compiling a draft again: patched, and the patch made small.

Below a pod template that is a variable that is not there (`env: {NAME: null}`) or a podTemplate patch, which every
target applies; elsewhere it is `manifest`, a patch for this target alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver.defaulting import is_default
from ptcompile.compiler.build import build
from ptcompile.compiler.checks.job import endings
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.frontend.parts import parts_of
from ptcompile.compiler.frontend.reader import decode_spec
from ptcompile.differ.normal import Keyed, normal, plain
from ptcompile.importer.draft import blocks, may_be_written
from ptcompile.ir.job import WAITS, Context
from ptcompile.kubernetes.pod_spec import OBJECT_KEYS
from ptcompile.kubernetes.unstructured import as_mapping, as_mappings, kind_of, nested_map
from ptcompile.registry.reading import MAIN, Read, ReadRole
from ptcompile.registry.targets import default_target, target_named

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.importer.draft import SpecData
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.spec.cluster_profile import ClusterProfile

    JsonDict = dict[str, Any]


def manifests(spec: JsonDict, cluster: ClusterProfile) -> tuple[JsonDict, ...] | None:
    """What the spec compiles to; None where it is rejected."""
    read, _ = decode_spec(spec)
    if read is None:
        return None
    parts = parts_of(read, cluster)
    if any(one.severity == "error" for one in endings(parts)):
        return None
    job = lower(read, cluster, parts)
    named = read.spec.target
    target = target_named(named) if named is not None else default_target(job, cluster)
    if any(one.severity == "error" for one in target.unsupported(job, cluster)):
        return None
    return build(read, job, Context(cluster, target)).named


Keys = tuple[str, ...]
"""A path as `diff` writes it: an item of a list by its name, in brackets."""

MISSING: Final = object()

_NOT_PATCHED = {("spec", "restartPolicy"), ("spec", "hostname"), ("spec", "subdomain")}
"""What a podTemplate may not say: a word of the spec's or the operator's own does."""

_OF_PODS = {("spec",), ("metadata",)}


class ImportGap(NamedTuple):
    """A place where the compiled object and the one that came in differ. Values are in the form that diff compares."""

    path: Keys
    ours: Any
    theirs: Any
    holder: int = 0
    """Of which object: 0 for the job's own, else one of `Read.objects`, from 1."""


class Closed(NamedTuple):
    """A spec with words for the gaps, and the gaps that no word closes."""

    spec: SpecData
    left: tuple[ImportGap, ...]


def all_gaps(made: Sequence[Json], manifest: Json, read: Read) -> list[ImportGap]:
    """Every difference between what compile wrote and the objects that were read, the job's own among both."""
    found = gaps(made[-1], manifest)
    for holder, other in enumerate(read.objects, 1):
        ours = next((one for one in made if kind_of(one) == kind_of(other)), {})
        found += [gap._replace(holder=holder) for gap in gaps(ours, other)]
    return found


def gaps(ours: Json, theirs: Json) -> list[ImportGap]:
    """Every difference between two objects, but for fields that are at their default."""
    if ours == theirs:
        return []
    one, other = normal(ours), normal(theirs)
    return list(_gaps(one, other, (), one, other))


def _gaps(one: Any, other: Any, path: Keys, ours: Json, theirs: Json) -> Iterator[ImportGap]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys((*other, *one)):
            part = f"[{key}]" if isinstance(one, Keyed) or isinstance(other, Keyed) else str(key)
            yield from _gaps(one.get(key, MISSING), other.get(key, MISSING), (*path, part), ours, theirs)
    elif one is MISSING or other is MISSING:
        there, side = (other, ours) if one is MISSING else (one, theirs)
        if isinstance(there, Keyed):
            for key, item in there.items():
                pair = (MISSING, item) if one is MISSING else (item, MISSING)
                yield ImportGap((*path, f"[{key}]"), *pair)
        elif path[-1].startswith("[") or not is_default(path, there, side):
            yield ImportGap(path, one, other)
    elif one != other:
        yield ImportGap(path, one, other)


def close(spec: SpecData, found: Sequence[ImportGap], manifest: Json, read: Read) -> Closed:
    """The spec with words for the gaps. Gaps that all roles that train have alike are one word of the job."""
    out = _copy(spec)
    theirs = normal(manifest) if found else manifest
    left: list[ImportGap] = []
    groups: dict[tuple[Keys, str], list[tuple[ReadRole, ImportGap, ImportGap]]] = {}
    for gap in found:
        pods, rest = _role(gap, manifest, read)
        if pods is None or (rest in _NOT_PATCHED and pods.path):
            left += _patched(out, gap, theirs, read)
        else:
            groups.setdefault((rest, repr(plain(gap.theirs))), []).append((pods, gap._replace(path=rest), gap))
    trainers = [pods for pods in read.pods if pods.trains]
    templates = {id(pods): _called(_template(manifest, pods), pods.main, _main(pods)) for pods in read.pods if groups}
    for group in groups.values():
        nodes = [one for one in group if one[0].trains]
        if nodes and len(nodes) == sum(1 + len(pods.also) for pods in trainers):  # all of them alike
            pods, gap, whole = nodes[0]
            left += () if _say(out["spec"], gap, pods, templates[id(pods)]) else (whole,)
            nodes = []
        for pods, gap, whole in nodes:
            if pods.also or not _say(
                _block(out["spec"], pods, alone=len(trainers) == 1), gap, pods, templates[id(pods)]
            ):
                left += _patched(out, whole, theirs, read)
        for pods, gap, whole in group:
            if not pods.trains and not _say(_block(out["spec"], pods, alone=False), gap, pods, templates[id(pods)]):
                left.append(whole)
    return Closed(out, tuple(left))


def _patched(spec: SpecData, gap: ImportGap, theirs: Json, read: Read) -> list[ImportGap]:
    """Put a gap into the patch of the job's own object (`theirs`, in its normal form); return it if that cannot be."""
    if gap.holder:
        return [gap]
    patch = spec["spec"].setdefault("manifest", {}).setdefault(read.target, {})
    return [] if _put(patch, gap.path, gap.theirs, theirs) else [gap]


def _block(job: SpecData, pods: ReadRole, *, alone: bool) -> SpecData:
    holder: SpecData = job if pods.trains else job.setdefault("roles", {})
    block: SpecData = job if alone and pods.trains else holder.setdefault(pods.role, {})
    return block


def _role(gap: ImportGap, manifest: Json, read: Read) -> tuple[ReadRole | None, Keys]:
    """The role whose pod template a gap is in, and the path below it."""
    for pods in read.pods:
        for path in (pods.path, *pods.also) if pods.holder == gap.holder else ():
            under = None if path is None else _named((manifest, *read.objects)[pods.holder], path)
            below = () if under is None else gap.path[len(under) :]
            of_object = not under and below[:1] != ("spec",)  # the metadata of a Pod is the object's
            if under is not None and gap.path[: len(under)] == under and below[:1] in _OF_PODS and not of_object:
                return pods, below
    return None, gap.path


def _named(manifest: Json, path: Sequence[str | int]) -> Keys | None:
    """A path of an object with its indexes as names of items; None where the object has nothing there."""
    out: list[str] = []
    value: Any = manifest
    for part in path:
        if isinstance(part, str):
            value = as_mapping(value).get(part)
            out.append(part)
        else:
            value = value[part]
            out.append(f"[{value.get('name')}]")
    return None if value is None else tuple(out)


def _say(block: SpecData, gap: ImportGap, pods: ReadRole, template: Json) -> bool:
    """Put one gap below a pod template into a block of the spec; return False if no spec field can express it.

    `template` is the pods' template in its normal form (`_called`).
    """
    container = ("spec", "containers", f"[{pods.main}]")
    if gap.path[:4] == (*container, "env") and len(gap.path) == 5 and (said := _variable(gap.theirs)) is not MISSING:
        block["env"] = _in_order({**(block.get("env") or {}), gap.path[4][1:-1]: said}, pods)
        return True
    path = (*container[:2], f"[{_main(pods)}]", *gap.path[3:]) if gap.path[:3] == container else gap.path
    return _put(block.setdefault("podTemplate", {}), path, gap.theirs, template)


def _main(pods: ReadRole) -> str:
    """Return the name that a patch has for the main container."""
    return MAIN if pods.trains else pods.role


def _called(template: Json, name: str, main: str) -> Json:
    """A pod template in its normal form, with another name for the container that trains."""
    whole: Json = normal({"template": template})["template"]
    containers = nested_map(whole, "spec").get("containers")
    if not isinstance(containers, Keyed) or name not in containers:
        return whole
    named = {
        main if key == name else key: {**one, "name": main} if key == name else one for key, one in containers.items()
    }
    return {**whole, "spec": {**nested_map(whole, "spec"), "containers": Keyed(named)}}


def _in_order(env: dict[str, Any], pods: ReadRole) -> dict[str, Any]:
    """Variables in the order of the manifest, since a value may refer to an earlier one."""
    containers = as_mappings(nested_map(pods.template, "spec").get("containers"))
    main = next((one for one in containers if one.get("name") == pods.main), {})
    order = {str(entry.get("name")): place for place, entry in enumerate(as_mappings(main.get("env")))}
    return {name: env[name] for name in sorted(env, key=lambda name: order.get(name, len(order)))}


def _variable(entry: Any) -> Any:
    """A variable as a spec says it; null for one that is not there, MISSING for what it has no form for."""
    if entry is MISSING:
        return None
    if not isinstance(entry, dict) or entry.keys() - {"name", "value", "valueFrom"}:
        return MISSING
    return plain(entry["valueFrom"]) if "valueFrom" in entry else entry.get("value", "")


def _template(manifest: Json, pods: ReadRole) -> Json:
    return pods.template if pods.path else {"spec": nested_map(manifest, "spec")}


def _put(patch: SpecData, path: Keys, value: Any, theirs: Any) -> bool:
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


KeyPath = tuple[str, ...]

_TRIED = (
    "target",
    "nodes",
    "masterPort",
    "names",
    "runPolicy",
    "elastic",
    "sharedMemory",
    "restartPolicy",
    "imagePullPolicy",
    "priority",
)
_FIRST = (
    "target", "runtimeRef", "image", "imagePullPolicy", "script", "module", "command", "args", "workingDir", "nodes",
    "elastic", "master", "worker", "roles", "masterPort", "resources", "sharedMemory", "env", "envFrom",
)  # fmt: skip
_LAST = ("restartPolicy", "runPolicy", "names", "podTemplate", "manifest")
_PLACES = {word: place for place, word in enumerate(_FIRST)} | {word: 100 + place for place, word in enumerate(_LAST)}
"""Where a word stands in a spec; those that are not here stand between the two, in the order of the manifest."""
_INSIDE = ("names", "runPolicy", "elastic")


def shrink(spec: SpecData, cluster: ClusterProfile) -> SpecData:
    """The smallest spec that compiles to the same bytes by leaving words out."""
    wanted = manifests(spec, cluster)
    for path in list(_places(spec)) if wanted is not None else ():
        tried = _without(spec, path)
        if _same(manifests(tried, cluster), wanted):
            spec = tried
    job = spec["spec"]
    return {**spec, "spec": {word: job[word] for word in sorted(job, key=lambda word: _PLACES.get(word, 99))}}


def _same(made: tuple[Json, ...] | None, wanted: tuple[Json, ...] | None) -> bool:
    """Whether manifests are the same but for fields at their defaults."""
    if made is None or wanted is None or len(made) != len(wanted):
        return False
    if made == wanted:
        return True
    ordered = "$(" in str(wanted)  # a variable may refer to one before it
    return not ordered and not any(gaps(one, other) for one, other in zip(made, wanted, strict=True))


def _places(spec: SpecData) -> Iterator[KeyPath]:
    job = spec["spec"]
    for path, block in blocks(job):
        yield from ((*path, "env", name) for name in block.get("env") or {} if may_be_written(name, job))
    for word in _TRIED:
        if _may_go(word, job):
            yield ("spec", word)
    for word in _INSIDE:
        for inner, value in (job.get(word) or {}).items():
            yield ("spec", word, inner)
            if isinstance(value, dict):
                yield from (("spec", word, inner, key) for key in value if inner != "rdzvConfigs" or key in WAITS)
    for role in ("master", "worker"):
        yield from (("spec", role, word) for word in _TRIED if _may_go(word, job.get(role) or {}))
    for role, block in job.get("roles", {}).items():
        yield from (("spec", "roles", role, word) for word in ("restartPolicy", "replicas") if word in block)


def _may_go(word: str, block: SpecData) -> bool:
    """Whether a word may be left out where this target writes the same.

    Other targets restart otherwise without restartPolicy; without `target` another is chosen, but over a runtime.
    """
    if word == "target":
        return "runtimeRef" in block
    return word in block and (word != "restartPolicy" or block[word] == "Never")


def _without(data: Any, path: KeyPath) -> Any:
    if not path or not isinstance(data, dict) or path[0] not in data:
        return data
    if len(path) == 1:
        return {key: value for key, value in data.items() if key != path[0]}
    inner = _without(data[path[0]], path[1:])
    left = {key: inner if key == path[0] else value for key, value in data.items()}
    return left if inner or path[0] in {"master", "worker", "spec"} else _without(left, path[:1])
