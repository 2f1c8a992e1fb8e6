"""Values that know which words of the spec they came from and which pass wrote them.

Made on request, for findings that need a line and for `explain`; a compilation without such a question pays nothing.
The spec's values are marked with their places, each step's new values with its name.

Lowering, passes and targets hand the marked values on as they hand on any other, so nothing of theirs has to know of
marks. A sum of marked numbers and a text put together with `+` are
marked too; a text made with an f-string is new, and so is a number that was parsed. Marked data equals the data itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.compiler.build import Built, build
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.diagnostics import Path
from ptcompile.ir import pods as pod_template
from ptcompile.ir.job import Job, Role
from ptcompile.spec.objects import SpecFields, yaml_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.spec.training_job import Spec

    Json = Mapping[str, Any]


class Origin(NamedTuple):
    """Where a value came from."""

    words: tuple[Path, ...] = ()
    """The places of the spec that it is made of."""
    whole: bool = True
    """Whether it is what stands at the one place, not made of it."""
    by: str = ""
    """Who put it into a pod template or the job's metadata: "spec" or a pass; nothing for what a target wrote."""
    role: str = ""
    """The role in whose pod template it stands."""


NOTHING = Origin()


class TracedStr(str):
    """A marked text."""

    mark: Origin

    def __add__(self, other: str) -> TracedStr:
        return _text(str.__add__(self, other), self, other)

    def __radd__(self, other: str) -> TracedStr:
        return _text(str.__add__(other, self), other, self)


class Number(int):
    """A marked number or, for what is True or False, a marked switch."""

    mark: Origin

    def __str__(self) -> str:
        made = TracedStr(int.__repr__(self))
        made.mark = self.mark
        return made

    def __add__(self, other: int) -> Number:
        return _number(int.__add__(self, other), self, other)

    def __sub__(self, other: int) -> Number:
        return _number(int.__sub__(self, other), self, other)

    def __mul__(self, other: int) -> Number:
        return _number(int.__mul__(self, other), self, other)

    __radd__, __rmul__ = __add__, __mul__


def _text(value: str, *parts: object) -> TracedStr:
    made = TracedStr(value)
    made.mark = _of_parts(parts)
    return made


def _number(value: int, *parts: object) -> Number:
    made = Number(value)
    made.mark = _of_parts(parts)
    return made


def _of_parts(parts: Iterable[object]) -> Origin:
    return Origin(tuple(dict.fromkeys(word for part in parts for word in mark_of(part).words)), whole=False)


def mark_of(value: Any) -> Origin:
    """The mark of a value, or of a key."""
    return value.mark if isinstance(value, TracedStr | Number) else NOTHING


def marked(value: Any, mark: Origin) -> Any:
    """A scalar with a mark; what can carry none, such as null or a fraction, as it is."""
    if not isinstance(value, str | int):
        return value
    made = TracedStr(value) if isinstance(value, str) else Number(value)
    made.mark = mark
    return made


def stamped(value: Any, by: str, role: str = "") -> Any:
    """The same data, where each scalar without an author now names its author.

    So does the key of what can carry no mark, such as an empty mapping.
    """
    if isinstance(value, Mapping):
        return {
            key if one or isinstance(one, str | int) else _stamped(key, by, role): stamped(one, by, role)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [stamped(one, by, role) for one in value]
    if isinstance(value, tuple):
        return tuple([stamped(one, by, role) for one in value])
    return _stamped(value, by, role)


def _stamped(value: Any, by: str, role: str) -> Any:
    mark = mark_of(value)
    return value if mark.by else marked(value, mark._replace(by=by, role=role))


def place_of(value: Any) -> Path | None:
    """The one place of the spec that says a value, a mapping or a list; None where several do, or none."""
    if isinstance(value, Mapping):
        held = [mark_of(key).words[0][:-1] for key in value if mark_of(key).words]
        if held:
            return _shared(held)
        found = [place for one in value.values() if (place := place_of(one)) is not None]
        place = _shared(found)
        alone = len(value) == 1 or len(found) < len(value)
        return place[:-1] if place and alone and place in found else place
    if isinstance(value, list | tuple):
        place = _shared([place for one in value if (place := place_of(one)) is not None])
        while place and isinstance(place[-1], int):
            place = place[:-1]
        return place
    words = mark_of(value).words
    return words[0] if words else None


def _shared(places: Sequence[Path]) -> Path | None:
    """What all places begin with."""
    if not places:
        return None
    first, last = min(places, key=_sortable), max(places, key=_sortable)
    size = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:size]


def _sortable(path: Path) -> tuple[tuple[bool, str | int], ...]:
    return tuple((isinstance(part, str), part) for part in path)


def scalars(value: Any) -> Iterator[Any]:
    """All scalars and keys of some data."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield key
            yield from scalars(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from scalars(one)
    else:
        yield value


_UNMARKED = frozenset({"accelerator", "fabric", "target", "generate_name"})
"""Names by which something is looked up, and which stand in no manifest."""


class Trace(NamedTuple):
    """A job after its passes and its manifests, made of marked values."""

    job: Job
    manifests: tuple[Json, ...]

    def place(self, manifest: int, path: Path) -> Path | None:
        """The place of the spec that a place of a manifest comes from; None where no word of the spec gives it.

        What is not there belongs to what would hold it.
        """
        return place_in(self.manifests[manifest], path)

    def line(self, role: str, path: Path, data: Mapping[str, Any]) -> Path | None:
        """The place of a spec, whose document is given, that a place in a role's pod template comes from."""
        template = next(one.template for one in self.job.roles if one.name == role)
        place = place_in(pod_template.write_shared(template), path)
        return (existing_prefix(place, data) or None) if place is not None else None

    def mark(self, manifest: int, path: Path) -> Origin:
        """The mark of a value, with the words of the key that holds it where it has none."""
        key, value = _trail(self.manifests[manifest], path)[-1]
        own, held = mark_of(value), mark_of(key)
        return held if own is NOTHING else own if own.words else own._replace(words=held.words)

    def role(self, manifest: int, path: Path) -> str:
        """The role whose pods a place is about: what holds the place, or something around it, is all of one role."""
        for _, value in reversed(_trail(self.manifests[manifest], path)[1:]):
            if roles := {mark.role for one in scalars(value) if (mark := mark_of(one)).role}:
                return _one(roles)
        return ""

    def by(self, manifest: int, path: Path) -> str:
        """Who put all of a value into a pod template; nothing where several did, or where it is a target's own."""
        return _one({mark_of(one).by for one in scalars(_trail(self.manifests[manifest], path)[-1][1])} - {""})


def _one(found: set[str]) -> str:
    return next(iter(found)) if len(found) == 1 else ""


def place_in(data: Any, path: Path) -> Path | None:
    """As `Trace.place`, in any marked data."""
    trail = _trail(data, path)
    key, value = trail[-1]
    found = place_of(value)
    if found is None and len(trail) > len(path) and mark_of(key).words:
        found = mark_of(key).words[0]
    if found is not None and found[-2:] == ("resources", "devices"):
        found = found[:-1]
    return found if found is not None and not _too_wide(found) else None


def existing_prefix(place: Path, data: Any) -> Path:
    """The part of a place that a document has: Python callers may write snake_case."""
    for depth, part in enumerate(place):
        fits = isinstance(data, Mapping) if isinstance(part, str) else isinstance(data, list)
        if not fits or (part not in data if isinstance(part, str) else int(part) >= len(data)):
            return place[:depth] if depth > 1 else ()
        data = data[part]
    return place


def _too_wide(place: Path) -> bool:
    """Whether a place is a whole block or patch, of which a finding is not."""
    depth = 3 if place[1:2] == ("roles",) else 2 if place[1:2] in {("master",), ("worker",)} else 1
    return place[depth:] in {(), ("elastic",), ("podTemplate",), ("podTemplate", "spec")}


def _trail(data: Any, path: Path) -> list[tuple[Any, Any]]:
    """The keys and values on the way to a place, as far as there are any."""
    trail: list[tuple[Any, Any]] = [(None, data)]
    for part in path:
        if isinstance(data, Mapping) and part in data:
            key = next(one for one in data if one == part)
            data = data[part]
        elif isinstance(data, list | tuple) and isinstance(part, int) and part < len(data):
            key, data = part, data[part]
        else:
            break
        trail.append((key, data))
    return trail


def trace_of(plain: Built) -> Trace:
    """Build once more, of marked values. The manifests equal those of the plain build."""
    spec = _marked(plain.spec, ())
    lowered = _placed(_counted(lower(spec, plain.context.cluster), plain.spec), "spec")
    built = build(spec, lowered, plain.context, plain.passes, _stamp)
    return Trace(built.job, built.manifests)


def _stamp(name: str, before: Job, after: Job) -> Job:
    """Return the job with the pass as the author of all that it wrote."""
    return _placed(_decided(after, before, name), name)


def marked_block(fields: SpecFields, path: Path) -> Any:
    """A part of a spec whose values are marked with their places. `path` is its own."""
    return _marked(fields, path)


def _marked(fields: Any, path: Path) -> Any:
    names = fields.model_fields_set - _UNMARKED
    if getattr(fields, "generate_name", None) is not None:
        names = names - {"name"}  # one that stands in
    return fields.replace(**{name: _value(getattr(fields, name), (*path, yaml_name(name))) for name in sorted(names)})


def _value(value: Any, path: Path) -> Any:
    if isinstance(value, SpecFields):
        return _marked(value, path)
    if isinstance(value, Mapping):
        pairs = ((key, (*path, str(key)), one) for key, one in value.items())
        return {marked(key, Origin((at,))): _value(one, at) for key, at, one in pairs}
    if isinstance(value, list):
        return [_value(one, (*path, i)) for i, one in enumerate(value)]
    return value if value is False else marked(value, Origin((path,)))


def _counted(job: Job, spec: Spec) -> Job:
    """The job with marks on its numbers of nodes, which lowering counts."""
    said = spec.spec
    if said.master is not None or said.worker is not None:
        word: Path = ("spec", "worker", "replicas") if said.worker is not None else ("spec", "master")
    elif said.nodes is not None and (said.elastic is None or said.elastic.nnodes is None):
        word = ("spec", "nodes")
    elif said.elastic is not None and said.elastic.nnodes is not None:
        word = ("spec", "elastic", "nnodes")
    else:
        return job
    mark = Origin((word,), whole=False)
    roles = [one._replace(replicas=_marked_number(one.replicas, mark)) if one.trains else one for one in job.roles]
    most = None if job.max_nodes is None else _marked_number(job.max_nodes, mark)
    return job._replace(roles=tuple(roles), min_nodes=_marked_number(job.min_nodes, mark), max_nodes=most)


def _marked_number(number: int, mark: Origin) -> int:
    made: int = number if isinstance(number, Number) else marked(number, mark)
    return made


def _placed(job: Job, by: str) -> Job:
    """The job with a stamp on all that a step put into its pod templates."""
    return job._replace(roles=tuple([_placed_role(role, by) for role in job.roles]))


def _decided(job: Job, before: Job, by: str) -> Job:
    """The job with a stamp on what a pass decided beside the pod templates: metadata, queue, processes of a node."""
    launch = job.launch
    if launch is not None and before.launch is not None and launch.nproc_per_node != before.launch.nproc_per_node:
        launch = launch._replace(nproc_per_node=stamped(launch.nproc_per_node, by))
    labels, annotations = ({key: _if_new(one, by) for key, one in own.items()} for own in (job.labels, job.annotations))
    return job._replace(labels=labels, annotations=annotations, queue=_if_new(job.queue, by), launch=launch)


def _if_new(value: Any, by: str) -> Any:
    return value if mark_of(value).words else stamped(value, by)


def _placed_role(role: Role, by: str) -> Role:
    """A role whose new values say who wrote them. The front end's amounts are what `resources` makes the pods' of."""
    template, main = role.template, role.template.main
    amounts = main.resources
    if by != "spec":
        amounts = amounts._replace(
            requests=stamped(amounts.requests, by, role.name), limits=stamped(amounts.limits, by, role.name)
        )
    fields = main._asdict() | {"name": main.name, "resources": amounts}
    placed = {key: stamped(one, by, role.name) for key, one in fields.items() if key not in {"name", "resources"}}
    parts = {
        key: stamped(one, by, role.name) for key, one in template._asdict().items() if key not in {"main", "nulls"}
    }
    return role._replace(template=template._replace(main=main._replace(**placed, resources=amounts), **parts))
