"""Overrides applied to a document before it is compiled, and the override that caused a problem."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile._internal.spelling import is_short_number
from ptcompile.diagnostics import Diagnostic, Path, Problem, own_problem
from ptcompile.kubernetes.unstructured import (
    as_mapping,
    has,
    nested_map,
    nested_value,
    without_keys,
)
from ptcompile.source import documents as source, streams
from ptcompile.source.documents import Document

_ITEM_NAME_KEYS = ("name", "mountPath", "devicePath", "containerPort", "ip", "topologyKey", "key")
"""Keys that name an item of a list."""


class Overrides(NamedTuple):
    """Overrides with valid paths, and the problems of the others."""

    values: tuple[tuple[int, Path, Any], ...]
    """Index of each override in the input, its path and its value."""
    diagnostics: tuple[Diagnostic, ...] = ()
    variants: tuple[str, ...] = ()
    """Names of the variants to look at; all if there are none."""
    target: str | None = None
    """The target of specs that name none, which the configuration sets."""

    @property
    def run_name(self) -> str | None:
        """The name of the run, which only one job can have, or None."""
        return next((value for number, _, value in self.values if number == RUN_NAME_INDEX), None)


NO_OVERRIDES = Overrides(())


class VariantJob(NamedTuple):
    """One job of a document that stands for several."""

    name: str
    """The names of its variants, joined by hyphens, which follow the document's own name."""
    data: Any
    """The document of the job alone."""
    choices: tuple[Path, ...]
    """The places of its variants in the document."""
    places: Mapping[Path, Path]
    """Where its variants write what the document does not share: by the path in the job, the
    path in the document.
    """

    def written_path(self, path: Path) -> Path:
        """Return the path in the whole document of a path in the job."""
        end = next((end for end in range(len(path), 0, -1) if path[:end] in self.places), 0)
        return (*self.places[path[:end]], *path[end:]) if end else path

    def is_at(self, path: Path) -> bool:
        """Return whether a path of the document belongs to this job: it is in one of the job's
        variants, or outside `variants`.
        """
        return path[:1] != ("variants",) or any(
            path[: len(choice)] == choice for choice in self.choices
        )

    def is_chosen(self, names: Collection[str]) -> bool:
        """Return whether one of these names is the job's or that of one of its variants; also True
        without names.
        """
        return (
            not names or self.name in names or any(choice[-1] in names for choice in self.choices)
        )


class OverriddenDocument(NamedTuple):
    """A document with the overrides applied."""

    data: Any
    document: Document
    set_paths: tuple[tuple[int, Path], ...]
    """Index of each override, and the path that it set."""
    rejected: tuple[tuple[int, Problem], ...]
    """Overrides whose path does not exist in the document, and what is wrong with its variants."""
    member: VariantJob | None = None
    """The job that the data is, if the document stands for several."""

    def to_diagnostics(self, problems: Iterable[Problem], filename: str | None) -> list[Diagnostic]:
        """Return problems as diagnostics; those that an override caused are in the "file"
        `overrides[N]`, without a line.
        """
        diagnostics = [
            streams.to_diagnostic(problem, self.document, filename)
            if number == VARIANTS_INDEX
            else self._override_diagnostic(number, problem)
            for number, problem in self.rejected
        ]
        return diagnostics + [self.to_diagnostic(problem, filename) for problem in problems]

    def to_diagnostic(self, problem: Problem, filename: str | None) -> Diagnostic:
        """Return a problem as a diagnostic, reported for the override that caused it, else for
        the variant.
        """
        path = self.written_path(problem.path)
        number = self.causing_override(problem.path)
        if number is None and path != problem.path:
            number = self.causing_override(path)
            problem = problem._replace(path=path, fix=None)
        manifest = None if self.member is None else self.data
        if number is None:
            diagnostic = streams.to_diagnostic(problem, self.document, filename, manifest=manifest)
        else:
            diagnostic = self._override_diagnostic(number, problem)
        if self.member is None:
            return diagnostic

        return diagnostic._replace(variant=self.member.name)

    def written_path(self, path: Path) -> Path:
        """Return the path in the document of a path in the data, which may be of one of its
        jobs.
        """
        if self.member is None:
            return path
        return self.member.written_path(path)

    @property
    def target_setter(self) -> str:
        """Who names the target: "configuration", "spec", or "default" for what the job needs."""
        if (TARGET_INDEX, _TARGET_PATH) in self.set_paths:
            return "configuration"
        return "spec" if self.data["spec"].get("target") else "default"

    def second_job_error(self, name: str) -> Diagnostic:
        """Return the error for another job in a run with a name: two objects cannot share it."""
        text = f"{name!r} names one job, and this is a second one"
        help = "set a name only for a file with one job"
        return self._override_diagnostic(
            RUN_NAME_INDEX,
            own_problem("spec-conflict", _NAME_PATH, text, help),
        )

    def _override_diagnostic(self, number: int, problem: Problem) -> Diagnostic:
        parsed = source.from_data(self.data) if isinstance(self.data, dict) else None
        document = parsed.documents[0] if parsed is not None and parsed.documents else None
        diagnostic = streams.to_diagnostic(
            problem._replace(fix=None, blocks_compile=problem.severity == "error"),
            document,
            override_filename(number),
        )
        return diagnostic._replace(document=self.document.index)

    def causing_override(self, path: Path) -> int | None:
        """Return the override that caused a path: the last one that set it, its parent or one of
        its parts. None if no override did.
        """
        for number, set_path in reversed(self.set_paths):
            is_inside = path[: len(set_path)] == set_path
            if is_inside or (
                set_path[: len(path)] == path and path and not has(self.document.data, path)
            ):
                return number
        return None


RUN_NAME_INDEX = -1
"""The index of the override that sets the run's name."""

VARIANTS_INDEX = -2
"""The index, in place of an override's, of what is wrong with the variants that a document has."""

TARGET_INDEX = -3
"""The index of the configuration's target."""

_TARGET_PATH = ("spec", "target")
_NAME_PATH = ("metadata", "name")


def override_filename(number: int) -> str:
    """Return the file name for findings of an override."""
    names = {RUN_NAME_INDEX: "name=", TARGET_INDEX: "ptcompile.toml"}
    return names.get(number, f"overrides[{number}]")


def read_overrides(
    overrides: Sequence[tuple[str | Path, Any]],
    name: str | None = None,
    variants: Iterable[str] = (),
    default_target: str | None = None,
) -> Overrides:
    """Parse overrides, whose path is a tuple or a text for `diagnostics.paths`, and add the
    run's name last.
    """
    if not overrides and name is None:
        return NO_OVERRIDES._replace(variants=tuple(variants), target=default_target)

    from ptcompile.diagnostics.paths import MAX_PATH_PARTS, PathSyntaxError, parse_path

    values: list[tuple[int, Path, Any]] = []
    diagnostics: list[Diagnostic] = []
    for number, (target, value) in enumerate(overrides):
        try:
            path = parse_path(target) if isinstance(target, str) else tuple(target)
            if len(path) > MAX_PATH_PARTS:
                raise PathSyntaxError(f"a path has at most {MAX_PATH_PARTS} parts", 0)
            values.append((number, path, value))
        except PathSyntaxError as error:
            problem = Problem("spec-invalid-value", (), f"{target}: {error}", authority="ptcompile")
            diagnostics.append(streams.to_diagnostic(problem, None, override_filename(number)))

    if name is not None:
        values.append((RUN_NAME_INDEX, _NAME_PATH, name))
    return Overrides(tuple(values), tuple(diagnostics), tuple(variants), default_target)


def apply_overrides(
    document: Document, overrides: Overrides, member: VariantJob | None = None
) -> OverriddenDocument:
    """Return a copy of a document's data, or of one of its jobs, with the overrides applied in
    order.
    """
    data = document.data if member is None else member.data
    set_paths: list[tuple[int, Path]] = []
    rejected: list[tuple[int, Problem]] = []
    for number, path, value in overrides.values:
        if number == RUN_NAME_INDEX and "generateName" in nested_map(data, "metadata"):
            # the name of the run replaces it
            data = {**data, "metadata": without_keys(data["metadata"], "generateName")}
        try:
            data, set_path = with_value(data, path, value)
        except _NoPlaceError as error:
            problem = own_problem("spec-invalid-value", error.path, str(error), error.help)
            rejected.append((number, problem))
            continue

        set_paths.append((number, set_path))

    spec = nested_value(data, "spec")
    if overrides.target is not None and isinstance(spec, Mapping) and not spec.get("target"):
        data = {**data, "spec": {**spec, "target": overrides.target}}
        set_paths.append((TARGET_INDEX, _TARGET_PATH))

    return OverriddenDocument(data, document, tuple(set_paths), tuple(rejected), member)


class _NoPlaceError(ValueError):
    """Raised when a list has no such item."""

    def __init__(self, path: Path, message: str, help: str) -> None:
        self.path = path
        self.help = help
        super().__init__(message)


def with_value(data: Any, path: Path, value: Any, parent: Path = ()) -> tuple[Any, Path]:
    """Return a copy of the data with one value changed, and the path of that value; missing
    parts are created.
    """
    if not path:
        return value, parent

    head = path[0]
    rest = path[1:]
    if isinstance(data, list) or (data is None and isinstance(head, int)):
        items = data or []
        index = _item_index(items, head, parent)
        inner, set_path = with_value(
            items[index] if index < len(items) else None, rest, value, (*parent, index)
        )
        return [*items[:index], inner, *items[index + 1 :]], set_path

    key = str(head)
    mapping = as_mapping(data)
    inner, set_path = with_value(mapping.get(key), rest, value, (*parent, key))

    return {**mapping, key: inner}, set_path


def _item_index(items: Sequence[Any], head: str | int, parent: Path) -> int:
    """Return the index of an item given by index or name; the index after the last one appends
    an item.
    """
    if isinstance(head, str) and is_short_number(head):
        head = int(head)
    if isinstance(head, int):
        if 0 <= head <= len(items):
            return head
        raise _NoPlaceError(parent, f"no item {head} to set", f"[{len(items)}] appends one")

    names = [_item_name(item) for item in items]
    if head in names:
        return names.index(head)

    listed_names = ", ".join(name for name in names if name)
    help = f"the items are {listed_names}" if listed_names else "give an index, such as [0]"
    raise _NoPlaceError(parent, f"no item {head!r} to set", help)


def _item_name(item: Any) -> str | None:
    if not isinstance(item, Mapping):
        return None
    return next((str(item[key]) for key in _ITEM_NAME_KEYS if key in item), None)
