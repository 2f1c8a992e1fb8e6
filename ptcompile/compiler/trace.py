"""Trace values to the spec fields that they come from and to the pass that wrote them.

Computed on request, for findings that need a line and for `explain`; other compilations cost
nothing extra. Each value of the spec carries its path, and each value that a pass adds carries the
pass's name.

Lowering, passes and targets hand traced values on like any others and need not know about traces.
Sums of traced numbers and strings joined with `+` are traced too; f-strings and parsed numbers are
not. Traced data equals the plain data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.compiler.build import Built, build
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.diagnostics import Path
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import Job, Role
from ptcompile.kubernetes.unstructured import Json, JsonDict
from ptcompile.spec.objects import SpecFields, yaml_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.training_job import Spec


class Origin(NamedTuple):
    """The spec paths and the writer that a value comes from."""

    paths: tuple[Path, ...] = ()
    """The spec paths that the value is made of."""
    is_exact: bool = True
    """Whether the value is exactly the one at its spec path, rather than derived from it."""
    writer: str = ""
    """The pass, or "spec", that wrote it to a pod template or the job's metadata; empty for
    values of a target.
    """
    role: str = ""
    """The role whose pod template contains it."""


NO_ORIGIN = Origin()


class TracedStr(str):
    """A string with its origin."""

    origin: Origin

    def __add__(self, other: str) -> Any:
        return _traced(str.__add__(self, other), self, other)

    def __radd__(self, other: str) -> Any:
        return _traced(str.__add__(other, self), other, self)


class TracedInt(int):
    """An integer or boolean with its origin."""

    origin: Origin

    def __str__(self) -> str:
        traced = TracedStr(int.__repr__(self))
        traced.origin = self.origin
        return traced

    def __add__(self, other: int) -> Any:
        return _traced(int.__add__(self, other), self, other)

    def __sub__(self, other: int) -> Any:
        return _traced(int.__sub__(self, other), self, other)

    def __mul__(self, other: int) -> Any:
        return _traced(int.__mul__(self, other), self, other)

    __radd__ = __add__
    __rmul__ = __mul__


def _traced(value: str | int, *parts: object) -> Any:
    """Return a text or a number that is made of these parts, with their paths."""
    paths = dict.fromkeys(path for part in parts for path in origin_of(part).paths)
    return with_origin(value, Origin(tuple(paths), is_exact=False))


def origin_of(value: Any) -> Origin:
    """Return the origin of a value or key."""
    origin: Origin = getattr(value, "origin", NO_ORIGIN)
    return origin


def with_origin(value: Any, origin: Origin) -> Any:
    """Return a scalar with an origin; values that cannot carry one, such as null or a float, are
    returned unchanged.
    """
    if isinstance(value, str):
        traced: Any = TracedStr(value)
    elif isinstance(value, int):
        traced = TracedInt(value)
    else:
        return value
    traced.origin = origin
    return traced


def with_writer(value: Any, writer: str, role: str = "") -> Any:
    """Return the same data with `writer` recorded on each scalar that has no writer yet.

    It is recorded on the key of values that cannot carry an origin, such as an empty mapping.
    """
    if isinstance(value, Mapping):
        written: dict[Any, Any] = {}
        for key, item in value.items():
            carries_origin = item or isinstance(item, str | int)
            key_with_writer = key if carries_origin else _scalar_with_writer(key, writer, role)
            written[key_with_writer] = with_writer(item, writer, role)
        return written
    if isinstance(value, list | tuple):
        items = [with_writer(item, writer, role) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return _scalar_with_writer(value, writer, role)


def _scalar_with_writer(value: Any, writer: str, role: str) -> Any:
    origin = origin_of(value)
    if origin.writer:
        return value
    return with_origin(value, Origin(origin.paths, origin.is_exact, writer, role))


def source_path(value: Any) -> Path | None:
    """Return the single spec path that sets a value, a mapping or a list, or None if several
    paths or none do.
    """
    if isinstance(value, Mapping):
        parents = [origin_of(key).paths[0][:-1] for key in value if origin_of(key).paths]
        if parents:
            return _common_prefix(parents)
        paths = [path for item in value.values() if (path := source_path(item)) is not None]
        path = _common_prefix(paths)
        is_only_source = len(value) == 1 or len(paths) < len(value)
        if path and is_only_source and path in paths:
            return path[:-1]
        return path
    if isinstance(value, list | tuple):
        path = _common_prefix([path for item in value if (path := source_path(item)) is not None])
        while path and isinstance(path[-1], int):
            path = path[:-1]
        return path

    return next(iter(origin_of(value).paths), None)


def _common_prefix(paths: Sequence[Path]) -> Path | None:
    """Return the longest common prefix of the paths, or None without paths."""
    if not paths:
        return None
    first = min(paths, key=_sort_key)
    last = max(paths, key=_sort_key)
    size = next(
        (i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b),
        min(len(first), len(last)),
    )
    return first[:size]


def _sort_key(path: Path) -> tuple[tuple[bool, str | int], ...]:
    return tuple((isinstance(part, str), part) for part in path)


def scalars(value: Any) -> Iterator[Any]:
    """Yield all keys and scalars of nested data."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield from scalars(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from scalars(item)
    else:
        yield value


_UNTRACED = frozenset({"accelerator", "fabric", "target", "generate_name"})
"""Names that are only looked up and appear in no manifest."""


class Trace(NamedTuple):
    """A job after its passes and its manifests, made of traced values."""

    job: Job
    manifests: tuple[Json, ...]

    def spec_path(self, manifest: int, path: Path) -> Path | None:
        """Return the spec path that a manifest path comes from, or None if no spec field sets it.

        A missing value belongs to its would-be parent.
        """
        return source_path_in(self.manifests[manifest], path)

    def line(self, role: str, path: Path, data: Json) -> Path | None:
        """Return the path in the spec document `data` that a path in a role's pod template comes
        from, or None.
        """
        template = next(item.template for item in self.job.roles if item.name == role)
        source = source_path_in(pod_template.write(template), path)
        return existing_prefix(source or (), data) or None

    def role(self, manifest: int, path: Path) -> str:
        """Return the role that a path is about: the role of all traced values at the path or at
        its closest parent.
        """
        for _, value in reversed(_trail(self.manifests[manifest], path)[1:]):
            if roles := {origin_of(item).role for item in scalars(value)} - {""}:
                return _single_item(roles)
        return ""

    def writer(self, manifest: int, path: Path) -> str:
        """Return the pass that wrote all of a value; empty if several did, or if the target
        wrote it.
        """
        return _single_item(
            {
                origin_of(item).writer
                for item in scalars(_trail(self.manifests[manifest], path)[-1][1])
            }
            - {""}
        )


def leaf_origins(value: Any, key: Any = None) -> Iterator[Origin]:
    """Yield the origin of each scalar, empty mapping and empty list, with the paths of its key if
    it has none. `key` is the key of the value itself.
    """
    # most are texts: that these are no mappings would take longest to find
    if not isinstance(value, str) and isinstance(value, Mapping) and value:
        for inner_key, inner in value.items():
            yield from leaf_origins(inner, inner_key)
    elif isinstance(value, list | tuple) and value:
        for inner in value:
            yield from leaf_origins(inner, None)
    else:
        origin = origin_of(value)
        key_origin = origin_of(key)
        if origin is NO_ORIGIN:
            yield key_origin
        else:
            yield origin if origin.paths else origin._replace(paths=key_origin.paths)


def _single_item(items: set[str]) -> str:
    return next(iter(items)) if len(items) == 1 else ""


def source_path_in(data: Any, path: Path) -> Path | None:
    """Return the spec path that a path in traced data comes from, or None if no spec field sets
    it.
    """
    trail = _trail(data, path)
    key, value = trail[-1]
    source = source_path(value)
    if source is None and len(trail) > len(path):
        source = next(iter(origin_of(key).paths), None)
    if source is not None and source[-2:] == ("resources", "devices"):
        source = source[:-1]
    if source is None:
        return None

    # a whole block or patch is too imprecise for a finding
    depth = _BLOCK_DEPTH.get(source[1:2], 1)
    is_too_wide = source[depth:] in {(), ("elastic",), ("podTemplate",), ("podTemplate", "spec")}
    return None if is_too_wide else source


def existing_prefix(path: Path, data: Any) -> Path:
    """Return the part of a path that exists in a document, since Python callers may write
    snake_case.
    """
    for depth, part in enumerate(path):
        fits = isinstance(data, Mapping) if isinstance(part, str) else isinstance(data, list)
        if not fits or (part not in data if isinstance(part, str) else int(part) >= len(data)):
            return path[:depth] if depth > 1 else ()
        data = data[part]
    return path


_BLOCK_DEPTH: dict[Path, int] = {("roles",): 3, ("master",): 2, ("worker",): 2}
"""Number of keys that lead to a block of a role, by the second of them; 1 for the fields of the
spec itself.
"""


def _trail(data: Any, path: Path) -> list[tuple[Any, Any]]:
    """Return the keys and values along a path, as far as they exist."""
    trail = [(None, data)]
    for part in path:
        if isinstance(data, Mapping) and part in data:
            key = next(candidate for candidate in data if candidate == part)
            data = data[part]
        elif isinstance(data, list | tuple) and isinstance(part, int) and part < len(data):
            key = part
            data = data[part]
        else:
            break
        trail.append((key, data))

    return trail


def trace_of(plain: Built) -> Trace:
    """Build again with traced values. The manifests equal those of the plain build."""
    spec = traced_block(plain.spec, ())
    lowered = _record_pod_writer(
        _trace_node_counts(lower(spec, plain.context.cluster), plain.spec), "spec"
    )
    built = build(spec, lowered, plain.context, plain.passes, _record_writer, shared=True)
    return Trace(built.job, built.manifests)


def _record_writer(name: str, before: Job, after: Job) -> Job:
    """Return the job with the pass as the writer of everything that it added."""
    if after is before:
        return after
    return _record_pod_writer(_record_job_writer(after, before, name), name, before)


def traced_block(fields: Any, path: Path) -> Any:
    """Return a block of a spec whose values carry their paths. `path` is the block's."""
    names = fields.model_fields_set - _UNTRACED
    if getattr(fields, "generate_name", None) is not None:
        names = names - {"name"}  # with generateName, `name` holds a placeholder
    return fields.replace(
        **{
            name: _trace_value(getattr(fields, name), (*path, yaml_name(name)))
            for name in sorted(names)
        }
    )


def _trace_value(value: Any, path: Path) -> Any:
    if isinstance(value, SpecFields):
        return traced_block(value, path)
    if isinstance(value, Mapping):
        pairs = ((key, (*path, str(key)), item) for key, item in value.items())
        return {
            with_origin(key, Origin((item_path,))): _trace_value(item, item_path)
            for key, item_path, item in pairs
        }
    if isinstance(value, list):
        return [_trace_value(item, (*path, i)) for i, item in enumerate(value)]
    if value is False:
        return value
    return with_origin(value, Origin((path,)))


def _trace_node_counts(job: Job, spec: Spec) -> Job:
    """Return the job with origins on its numbers of nodes, which lowering computes."""
    job_spec = spec.spec
    path: Path
    if job_spec.worker is not None:
        path = ("spec", "worker", "replicas")
    elif job_spec.master is not None:
        path = ("spec", "master")
    elif job_spec.elastic is not None and job_spec.elastic.nnodes is not None:
        path = ("spec", "elastic", "nnodes")
    elif job_spec.nodes is not None:
        path = ("spec", "nodes")
    else:
        return job

    origin = Origin((path,), is_exact=False)
    roles = [
        role._replace(replicas=_traced_int(role.replicas, origin)) if role.trains else role
        for role in job.roles
    ]
    most = None if job.max_nodes is None else _traced_int(job.max_nodes, origin)

    return job._replace(
        roles=tuple(roles), min_nodes=_traced_int(job.min_nodes, origin), max_nodes=most
    )


def _traced_int(number: int, origin: Origin) -> int:
    traced: int = number if isinstance(number, TracedInt) else with_origin(number, origin)
    return traced


def _record_pod_writer(job: Job, writer: str, before: Job | None = None) -> Job:
    """Return the job with `writer` recorded on everything that a step added to its pod templates
    since `before`.
    """
    earlier = {role.name: role for role in before.roles} if before is not None else {}
    return job._replace(
        roles=tuple(
            [_record_role_writer(role, writer, earlier.get(role.name)) for role in job.roles]
        )
    )


def _record_job_writer(job: Job, before: Job, writer: str) -> Job:
    """Return the job with `writer` on what a pass set outside pod templates: metadata, queue,
    processes per node.
    """
    launch = job.launch
    if (
        launch is not None
        and before.launch is not None
        and launch.nproc_per_node != before.launch.nproc_per_node
    ):
        launch = launch._replace(nproc_per_node=with_writer(launch.nproc_per_node, writer))

    labels, annotations = (
        {key: _with_writer_if_new(value, writer) for key, value in metadata.items()}
        for metadata in (job.labels, job.annotations)
    )

    return job._replace(
        labels=labels,
        annotations=annotations,
        queue=_with_writer_if_new(job.queue, writer),
        launch=launch,
    )


def _with_writer_if_new(value: Any, writer: str) -> Any:
    if origin_of(value).paths:
        return value
    return with_writer(value, writer)


def _record_role_writer(role: Role, writer: str, before: Role | None) -> Role:
    """Return a role with `writer` on its new values. `resources` rewrites the frontend's
    amounts.
    """
    template = role.template
    main = template.main
    amounts = main.resources
    if writer != "spec":
        amounts = amounts._replace(
            requests=with_writer(amounts.requests, writer, role.name),
            limits=with_writer(amounts.limits, writer, role.name),
        )

    main_fields = _new_fields(main, before and before.template.main, ("name", "resources"))
    template_fields = _new_fields(template, before and before.template, ("main", "nulls"))
    main_fields, template_fields = (
        {key: with_writer(value, writer, role.name) for key, value in fields.items()}
        for fields in (main_fields, template_fields)
    )

    return role._replace(
        template=template._replace(
            main=main._replace(**main_fields, resources=amounts), **template_fields
        )
    )


def _new_fields(part: Any, before: Any, excluded: tuple[str, ...]) -> JsonDict:
    """Return the fields of a template or container that a step replaced; the others have their
    writers.
    """
    return {
        key: value
        for key, value in part._asdict().items()
        if key not in excluded and (before is None or value is not getattr(before, key))
    }
