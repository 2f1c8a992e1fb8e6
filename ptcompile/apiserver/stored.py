"""The object as the server would keep it, with the writer of each value that the file does not
have.

Values that only a cluster can know stay absent: uid, times, versions, generated names, addresses
and ports.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.apiserver.admission.mutation import admitted, plugins_of, set_node_tolerations
from ptcompile.apiserver.admission.request import ClusterState
from ptcompile.apiserver.defaulting.built_in import CREATION_CHANGES
from ptcompile.apiserver.defaulting.decoding import (
    as_encoded,
    copy_without_nulls,
    with_built_in_defaults,
    with_crd_defaults,
    with_defaults,
)
from ptcompile.apiserver.kinds import is_built_in
from ptcompile.kubernetes.unstructured import Json, JsonDict, get, kind_of, placed_values
from ptcompile.kubernetes.versions import Version, Versions
from ptcompile.operators.table import KINDS, OPERATORS, operator_of, record_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.admission.mutation import MutatingPlugin
    from ptcompile.apiserver.crds import Definitions
    from ptcompile.diagnostics import Path

    WritingStage = tuple[str, Callable[[JsonDict], Json]]
    """A writer, and what it makes of an object. It may change the object in place."""

API_SERVER = "kube-apiserver"


class WrittenValue(NamedTuple):
    """A value of a stored object that the file does not have."""

    path: Path
    value: Any
    by: str
    """The writer: `kube-apiserver`, an admission plugin such as `Priority`, `jobset CRD`, or
    `jobset webhook`.
    """


class StoredObject(NamedTuple):
    """An object as the server would keep it."""

    manifest: JsonDict
    written: tuple[WrittenValue, ...]


def as_created(manifest: Json) -> JsonDict:
    """Return an object of a file as the API server creates it, without operators' webhooks.

    Accepts any data; never raises.
    """
    return admitted(manifest, ClusterState())


def as_updated(old: Json, merged: Json) -> JsonDict:
    """Return an object of a built-in kind after an update; `merged` is the old one with a file
    laid over it.
    """
    current = with_defaults(merged)
    if (
        kind_of(merged) != ("v1", "Pod")
        or set_node_tolerations(copy_without_nulls(old), ClusterState()) != old
    ):
        return current
    # a file with tolerations replaces the whole list, so admission adds its own again
    return set_node_tolerations(current, ClusterState())


def _mutate_object(manifest: JsonDict, mutate: MutatingPlugin, state: ClusterState) -> JsonDict:
    return mutate(manifest, state)


def _prepare_creation(manifest: JsonDict) -> JsonDict:
    CREATION_CHANGES[kind_of(manifest)](manifest)
    return manifest


def stored_object(
    manifest: Json,
    *,
    versions: Versions | None = None,
    others: Sequence[Json] = (),
    definitions: Definitions | None = None,
    webhooks: bool = True,
) -> StoredObject:
    """Return an object as the server would keep it after its creation, without a status.

    `others` are the objects that exist besides it: LimitRanges, priority and runtime classes,
    LocalQueues. `webhooks=False` leaves out what the operators write. Accepts any data; never
    raises.
    """
    releases = versions or Versions()
    if is_built_in(kind_of(manifest)):
        before = as_encoded(manifest)
    else:
        before = copy_without_nulls(manifest)

    before.pop("status", None)
    current = before
    writers: dict[Path, str] = {}
    for name, stage in _stages(kind_of(manifest), releases, others, definitions):
        if name.endswith(" webhook") and not webhooks:
            continue
        after = copy_without_nulls(stage(copy_without_nulls(current)))
        writers.update(dict.fromkeys(_new_paths(current, after, ()), name))
        current = after

    written = [
        WrittenValue(path, get(current, path), _writer(path, writers))
        for path in new_values(before, current)
    ]

    return StoredObject(current, tuple(written))


def _stages(
    kind: tuple[str, str],
    releases: Versions,
    others: Sequence[Json],
    definitions: Definitions | None,
) -> Iterator[WritingStage]:
    """Yield the writers in the order of a request: decoding, admission plugins, webhooks,
    decoding again.
    """
    operator = operator_of(kind) if kind in KINDS else None
    decoding: WritingStage = (API_SERVER, with_built_in_defaults)
    if not is_built_in(kind):
        name = "CRD" if operator is None else f"{operator.authority} CRD"
        decoding = (name, partial(with_crd_defaults, definitions=definitions))
    yield decoding
    if is_built_in(kind):
        if kind in CREATION_CHANGES:
            yield API_SERVER, _prepare_creation
        state = ClusterState(others, releases)
        for plugin, mutate in plugins_of(kind):
            yield plugin, partial(_mutate_object, mutate=mutate, state=state)

    if operator is not None:
        yield (
            f"{operator.authority} webhook",
            partial(_after_webhook, release=operator.release_in(releases)),
        )

    for operator in OPERATORS:
        if operator.foreign is not None and kind in operator.foreign.kinds:
            yield (
                f"{operator.authority} webhook",
                partial(operator.default_foreign, related=others, versions=releases),
            )

    yield decoding


def _after_webhook(manifest: JsonDict, release: Version) -> Json:
    """Return an object after its operator's mutating webhook; one in the fields of an older
    release is left alone.
    """
    operator_kind = record_of(manifest)
    if operator_kind.in_current_fields(manifest, release) is not manifest:
        return manifest
    return operator_kind.default(manifest)


def _new_paths(before: Any, after: Any, path: Path) -> Iterator[Path]:
    """Yield the paths of the values that are new or changed, without those below them."""
    if before is after:
        return
    if isinstance(before, list) and isinstance(after, list) and len(after) >= len(before):
        before, after = dict(enumerate(before)), dict(enumerate(after))
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in after.items():
            if key in before:
                yield from _new_paths(before[key], value, (*path, key))
            else:
                yield (*path, key)
    elif before != after:
        yield path


def new_values(before: Any, after: Any) -> Iterator[Path]:
    """Yield the paths of the new and changed values; a new mapping or list with content yields
    those inside it.
    """
    for new in _new_paths(before, after, ()):
        for path, value in placed_values(get(after, new), new):
            if not value or not isinstance(value, dict | list):
                yield path


def _writer(path: Path, writers: Mapping[Path, str]) -> str:
    """Return the last writer of a value: that of the longest recorded path that leads to it."""
    return next(writers[path[:end]] for end in range(len(path), -1, -1) if path[:end] in writers)
