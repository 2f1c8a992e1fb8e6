"""Differences that remain after compiling a draft again: patched into the spec, which is then made
small.

Inside a pod template, a gap becomes an unset variable (`env: {NAME: null}`) or a podTemplate patch,
which every target applies. Elsewhere it goes to `manifest`, a patch for this target only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.schema_files import load_table
from ptcompile.apiserver.defaulting.meaning import is_default
from ptcompile.diagnostics import Path
from ptcompile.differ.normal import (
    Keyed,
    NormalFields,
    normalize,
    normalize_value,
    to_plain_data,
    unfold,
    without_server_fields,
)
from ptcompile.importer.candidate import Candidate, compile_candidate
from ptcompile.importer.draft import blocks, may_be_compiled
from ptcompile.importer.pod_template import main_of
from ptcompile.ir.job import WAITS
from ptcompile.kinds.reading import MAIN_CONTAINER, Read, ReadRole
from ptcompile.kubernetes.pod_spec import OBJECT_KEYS
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_mapping,
    kind_of,
    nested_map,
    nested_maps,
    nested_value,
    without_path,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.importer.candidate import Manifests
    from ptcompile.importer.draft import SpecData
    from ptcompile.spec.cluster_profile import ClusterProfile


NamedPath = tuple[str, ...]
"""A path as `diff` writes it: list items by name, in brackets."""

MISSING = object()

_UNPATCHABLE = {("spec", "restartPolicy"), ("spec", "hostname"), ("spec", "subdomain")}
"""Fields that a podTemplate may not set, because a spec field or the operator sets them."""

_TEMPLATE_PARTS = {("spec",), ("metadata",)}


class ImportGap(NamedTuple):
    """A path at which the compiled object and the original differ. The values are in normal form
    (`differ.normal`).
    """

    path: NamedPath
    ours: Any
    theirs: Any
    holder: int = 0
    """Index of the object: 0 for the job itself, else the position in `Read.objects`, counted
    from 1.
    """


def all_gaps(compiled: Sequence[Json], manifest: Json, read: Read) -> Iterator[ImportGap]:
    """Yield all differences between the compiled objects and the original ones."""
    yield from gaps(compiled[-1], manifest)
    for holder, theirs in enumerate(read.objects, 1):
        ours = next((obj for obj in compiled if kind_of(obj) == kind_of(theirs)), {})
        yield from (gap._replace(holder=holder) for gap in gaps(ours, theirs))


def gaps(ours: Json, theirs: Json) -> Iterator[ImportGap]:
    """Yield all differences between two objects, ignoring fields at their defaults.

    Only what differs is brought to normal form.
    """
    sides = without_server_fields(ours), without_server_fields(theirs)
    return _iter_gaps(*sides, (), *map(NormalFields, sides))


def _iter_gaps(a: Any, b: Any, path: NamedPath, ours: Json, theirs: Json) -> Iterator[ImportGap]:
    """Yield the differences between two values at a path: `a` of our object, `b` of theirs."""
    if a == b:
        return
    if a is MISSING or b is MISSING:
        present = normalize_value(b if a is MISSING else a, path)
        if isinstance(present, Keyed):
            for key, item in present.items():
                yield ImportGap(
                    (*path, f"[{key}]"), *((MISSING, item) if a is MISSING else (item, MISSING))
                )
        elif path[-1].startswith("[") or not is_default(
            path, present, ours if a is MISSING else theirs
        ):
            yield ImportGap(path, *((MISSING, present) if a is MISSING else (present, MISSING)))

        return

    x = unfold(a, path)
    y = unfold(b, path)
    if isinstance(x, dict) and isinstance(y, dict):
        for key in dict.fromkeys((*y, *x)):
            part = f"[{key}]" if isinstance(x, Keyed) or isinstance(y, Keyed) else str(key)
            yield from _iter_gaps(
                x.get(key, MISSING), y.get(key, MISSING), (*path, part), ours, theirs
            )
    elif (x := normalize_value(a, path)) != (y := normalize_value(b, path)):
        yield ImportGap(path, x, y)


def close_gaps(spec: SpecData, gaps: Sequence[ImportGap], manifest: Json, read: Read) -> SpecData:
    """Return the spec with fields for the gaps, as far as fields can close them. A gap that all
    training roles share becomes one job field.
    """
    out: SpecData = to_plain_data(spec)
    theirs = normalize(manifest) if gaps else manifest
    groups: dict[tuple[NamedPath, str], list[tuple[ReadRole, ImportGap, ImportGap]]] = {}
    for gap in gaps:
        pods, rest = _locate_role(gap, manifest, read)
        if pods is None or (rest in _UNPATCHABLE and pods.path):
            _patch_object(out, gap, theirs, read)
        else:
            groups.setdefault((rest, repr(to_plain_data(gap.theirs))), []).append(
                (pods, gap._replace(path=rest), gap)
            )

    training = [pods for pods in read.pods if pods.trains]
    templates = {
        id(pods): _with_main_named(_template_of(manifest, pods), pods.main, _patch_name(pods))
        for pods in read.pods
        if groups
    }
    for group in groups.values():
        nodes = [(pods, gap, whole) for pods, gap, whole in group if pods.trains]
        # every training role has this gap, so it is closed once for the job
        if nodes and len(nodes) == sum(1 + len(pods.other_paths) for pods in training):
            pods, gap, _ = nodes[0]
            _close_in_block(out["spec"], gap, pods, templates[id(pods)])
            nodes = []

        for pods, gap, whole in nodes:
            if pods.other_paths or not _close_in_block(
                _block_of(out["spec"], pods, alone=len(training) == 1),
                gap,
                pods,
                templates[id(pods)],
            ):
                _patch_object(out, whole, theirs, read)

        for pods, gap, _ in group:
            if not pods.trains:
                block = _block_of(out["spec"], pods, alone=False)
                _close_in_block(block, gap, pods, templates[id(pods)])

    return out


def _patch_object(spec: SpecData, gap: ImportGap, theirs: Json, read: Read) -> None:
    """Put a gap into the patch of the job's object (`theirs`, in normal form) or of an object
    beside it, unless it cannot be patched.
    """
    key = read.target
    if gap.holder:
        key = f"{read.target}/{kind_of(read.objects[gap.holder - 1]).name}"
        theirs = normalize(read.objects[gap.holder - 1])
    patch = spec["spec"].setdefault("manifest", {}).setdefault(key, {})
    _put_in_patch(patch, gap.path, gap.theirs, theirs)


def _block_of(job: SpecData, pods: ReadRole, *, alone: bool) -> SpecData:
    holder: SpecData = job if pods.trains else job.setdefault("roles", {})
    block: SpecData = job if alone and pods.trains else holder.setdefault(pods.role, {})
    return block


def _locate_role(gap: ImportGap, manifest: Json, read: Read) -> tuple[ReadRole | None, NamedPath]:
    """Return the role whose pod template contains the gap, and the path below the template."""
    for pods in read.pods:
        if pods.holder != gap.holder:
            continue

        for path in (pods.path, *pods.other_paths):
            if path is None:
                continue
            under = _with_item_names((manifest, *read.objects)[pods.holder], path)
            if under is None or gap.path[: len(under)] != under:
                continue

            below = gap.path[len(under) :]
            # a Pod's metadata is that of the object
            of_object = not under and below[:1] != ("spec",)
            if below[:1] in _TEMPLATE_PARTS and not of_object:
                return pods, below

    return None, gap.path


def _with_item_names(manifest: Json, path: Sequence[str | int]) -> NamedPath | None:
    """Return the path with indexes replaced by item names, or None if the object has no value
    there.
    """
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


def _close_in_block(block: SpecData, gap: ImportGap, pods: ReadRole, template: Json) -> bool:
    """Put a gap of a pod template into a spec block. Return False if no spec field can express it.

    `template` is the pods' template in normal form (see `_with_main_named`).
    """
    container = ("spec", "containers", f"[{pods.main}]")
    if (
        gap.path[:4] == (*container, "env")
        and len(gap.path) == 5
        and (value := _env_value(gap.theirs)) is not MISSING
    ):
        block["env"] = _sort_env({**(block.get("env") or {}), gap.path[4][1:-1]: value}, pods)
        return True

    if gap.path[:3] == container:
        path = (*container[:2], f"[{_patch_name(pods)}]", *gap.path[3:])
    else:
        path = gap.path

    return _put_in_patch(block.setdefault("podTemplate", {}), path, gap.theirs, template)


def _patch_name(pods: ReadRole) -> str:
    """Return the name that a patch has for the main container."""
    return MAIN_CONTAINER if pods.trains else pods.role


def _with_main_named(template: Json, name: str, main: str) -> Json:
    """Return a pod template in normal form with the main container renamed."""
    normalized: Json = normalize({"template": template})["template"]
    containers = nested_value(normalized, "spec", "containers")
    if not isinstance(containers, Keyed) or name not in containers:
        return normalized
    named = {
        main if key == name else key: {**item, "name": main} if key == name else item
        for key, item in containers.items()
    }
    return {**normalized, "spec": {**nested_map(normalized, "spec"), "containers": Keyed(named)}}


def _sort_env(env: JsonDict, pods: ReadRole) -> JsonDict:
    """Return the variables in the manifest's order, since a value may refer to an earlier
    variable.
    """
    entries = nested_maps(main_of(pods), "env")
    order = {str(entry.get("name")): index for index, entry in enumerate(entries)}
    return {name: env[name] for name in sorted(env, key=lambda name: order.get(name, len(order)))}


def _env_value(entry: Any) -> Any:
    """Return a variable's value in spec form, None for an absent variable, or MISSING if a spec
    cannot express it.
    """
    if entry is MISSING:
        return None
    if not isinstance(entry, dict) or entry.keys() - {"name", "value", "valueFrom"}:
        return MISSING
    if "valueFrom" in entry:
        return to_plain_data(entry["valueFrom"])
    return entry.get("value", "")


def _template_of(manifest: Json, pods: ReadRole) -> Json:
    if pods.path:
        return pods.template
    return {"spec": nested_map(manifest, "spec")}


def _put_in_patch(patch: SpecData, path: NamedPath, value: Any, theirs: Any) -> bool:
    """Set a value at a path of a patch. A list of unnamed items is replaced as a whole. Return
    False for a value that no patch can remove.
    """
    *parents, last = path
    target: Any = patch
    for index, part in enumerate(parents):
        after = path[index + 1]
        theirs = nested_value(theirs, part.strip("[]") if part.startswith("[") else part)
        if after.startswith("[") and part not in OBJECT_KEYS:
            target[part] = None if theirs is None else to_plain_data(theirs)
            return theirs is not None or value is MISSING

        if after.startswith("["):
            target = target.setdefault(part, [])
            target = _patch_item(
                target, OBJECT_KEYS[part], after, theirs, whole=index + 2 == len(path)
            )
            if target is None:
                return value is not MISSING
        elif not part.startswith("["):
            target = target.setdefault(part, {})

    target[last] = None if value is MISSING else to_plain_data(value)
    return True


def _patch_item(items: list[Any], key: str, part: str, theirs: Any, *, whole: bool) -> Any:
    """Return the item of a patch's list to descend into, or None if the item is complete."""
    original = nested_map(theirs, part[1:-1])
    if not original:
        return None

    item = next((candidate for candidate in items if candidate.get(key) == original.get(key)), None)
    if whole:
        if item is None:
            items.append(to_plain_data(original))
        return None

    if item is None:
        item = {key: original.get(key)}
        items.append(item)

    return item


KeyPath = tuple[str, ...]

_TABLE = load_table("importer/fields.json")
_FIELD_ORDER = {field: index for index, field in enumerate(_TABLE["first"])} | {
    field: 100 + i for i, field in enumerate(_TABLE["last"])
}
"""Order of the fields in a spec. Other fields come between the two groups, in the order of the
manifest.
"""
_NESTED = ("names", "runPolicy", "elastic")


def shrink_spec(candidate: Candidate, cluster: ClusterProfile) -> Candidate:
    """Return the smallest spec that compiles to the same objects, by leaving fields out."""
    expected = candidate.manifests
    if expected is None:
        return candidate

    rejected = None
    has_references = "$(" in str(expected)  # a variable may refer to an earlier one
    for group in _removable_paths(candidate.spec):
        for paths in _trials(candidate, group, cluster) if len(group) > 1 else (group,):
            spec = without_fields(candidate.spec, paths)
            # without the only field of a block, the spec may equal one that was already tried
            if spec in (candidate.spec, rejected):
                continue

            smaller = compile_candidate(spec, cluster, candidate)
            if are_equivalent(smaller.manifests, expected, is_exact=has_references):
                candidate = smaller
            else:
                rejected = spec

    return candidate


def _trials(
    candidate: Candidate, group: Sequence[KeyPath], cluster: ClusterProfile
) -> Iterator[Sequence[KeyPath]]:
    """Yield the sets of fields to leave out of a group, none of which changes what compile writes
    for another: all fields that the objects do not need, then each of these alone.

    All are left out at once to see which the objects need: one by one, a job of n roles would be
    compiled n times.
    """
    bare = compile_candidate(without_fields(candidate.spec, group), cluster).manifests
    needless = group
    if (
        bare is not None
        and candidate.manifests is not None
        and len(bare) == len(candidate.manifests)
    ):
        pairs = zip(bare, candidate.manifests, strict=True)
        differing = [set(gap.path) for ours, theirs in pairs for gap in gaps(ours, theirs)]
        needless = [path for path in group if not any(map(_marks_of(path).issubset, differing))]
        yield needless

    yield from ((path,) for path in needless)


def _marks_of(path: KeyPath) -> set[str]:
    """Return the parts that the path of a gap has if a role's field or a variable is the cause."""
    marks = {f"[{path[2]}]"} if path[1] == "roles" else set()
    if path[-2] != "env":
        return marks
    return marks | {"env", f"[{path[-1]}]"}


def without_fields(spec: SpecData, paths: Iterable[Path]) -> SpecData:
    """Return the spec without the values at these paths, and without blocks that become empty."""
    for path in paths:
        spec = without_path(spec, path, kept=("master", "worker", "spec"))
    return spec


def sort_fields(spec: SpecData) -> SpecData:
    """Return the spec with the fields of the job in the usual order."""
    job = spec["spec"]
    return {
        **spec,
        "spec": {
            field: job[field]
            for field in sorted(job, key=lambda field: _FIELD_ORDER.get(field, 99))
        },
    }


def are_equivalent(compiled: Manifests, expected: Manifests, *, is_exact: bool) -> bool:
    """Return whether the manifests are equal, ignoring fields at their defaults unless
    `is_exact`.
    """
    if compiled is None or expected is None or len(compiled) != len(expected):
        return False
    if compiled == expected:
        return True
    return not is_exact and not any(
        any(gaps(ours, theirs)) for ours, theirs in zip(compiled, expected, strict=True)
    )


def _removable_paths(spec: SpecData) -> Iterator[Sequence[KeyPath]]:
    """Yield groups of fields that may be left out; the fields of one group can be tried
    together.
    """
    job = spec["spec"]
    roles = job.get("roles", {})
    variables = [(path, name) for path, block in blocks(job) for name in block.get("env") or {}]
    removable = [(*path, "env", name) for path, name in variables if may_be_compiled(name, job)]
    yield [path for path in removable if path[1] == "env"]
    yield [path for path in removable if path[1] == "roles"]
    yield from ([path] for path in removable if path[1] not in ("env", "roles"))
    for field in _TABLE["removable"]:
        if _is_removable(field, job):
            yield [("spec", field)]
    for field in _NESTED:
        for inner, value in (job.get(field) or {}).items():
            yield [("spec", field, inner)]
            if isinstance(value, dict):
                yield from ([("spec", field, inner, key)] for key in value if key in WAITS)

    for role in ("master", "worker"):
        yield from (
            [("spec", role, field)]
            for field in _TABLE["removable"]
            if _is_removable(field, job.get(role) or {})
        )

    for field in ("restartPolicy", "replicas"):
        yield [("spec", "roles", role, field) for role, block in roles.items() if field in block]


def _is_removable(field: str, block: SpecData) -> bool:
    """Return whether a field may be left out if this target writes the same without it.

    Without restartPolicy, other targets restart differently. Without `target`, another target may
    be chosen, except if the spec names a runtime.
    """
    if field == "target":
        return "runtimeRef" in block
    return field in block and (field != "restartPolicy" or block[field] == "Never")
