"""Kinds that a CustomResourceDefinition or a JSON Schema defines: those that ship with us, and those that users bring.

A definition is compiled when a document of its kind first comes by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load
from ptcompile.apiserver import evaluations
from ptcompile.apiserver.evaluations import Evaluations
from ptcompile.apiserver.kinds import SHIPPED, known_version
from ptcompile.apiserver.structure import is_outside, rejected_paths, without_status
from ptcompile.apiserver.structure.checks import SchemaScope, compile_node
from ptcompile.apiserver.structure.faults import to_problem
from ptcompile.apiserver.structure.json_schema import JsonSchema, json_schema_problems
from ptcompile.diagnostics import Problem
from ptcompile.kubernetes.versions import Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.apiserver.structure.faults import ValueCheck

    Schema = Mapping[str, Any]

GroupVersionKind = tuple[str, str]


class Definition:
    """One kind in one version, as a CRD has it; its compiled checks are kept with it."""

    def __init__(self, schema: Schema, document: str, status: bool, refusal: str = "") -> None:
        self.schema = schema
        """In our dialect: see `crd.dialect`."""
        self.document = document
        """The file of ours that `$ref`s of the schema speak of; "" for a user's."""
        self.status = status
        """Whether `status` is dropped on creation: it is a subresource."""
        self.refusal = refusal
        """Why the API server refuses the CRD: then its schema is empty, and no object is held to it."""
        self.checks: dict[Version, ValueCheck] = {}
        """The compiled check of the structure, by server."""
        self.notes: Sequence[Problem] | None = None
        """Warnings of patterns that cannot be matched here; None until an object is held to the schema."""


class Definitions(NamedTuple):
    """What users brought: CRDs by apiVersion and kind, JSON Schemas by the name of their file."""

    kinds: Mapping[GroupVersionKind, Definition] = {}
    files: Mapping[str, JsonSchema] = {}
    evaluations: Evaluations | None = None
    """What they may take together; of each object its own where None."""

    def find(self, kind: GroupVersionKind) -> Definition | JsonSchema | None:
        """The definition of a kind: a user's CRD, a user's JSON Schema, else what ships with us."""
        return self.kinds.get(kind) or self._file(kind) or shipped(kind)

    def _file(self, kind: GroupVersionKind) -> JsonSchema | None:
        if not self.files:
            return None
        group, _, version = kind[0].rpartition("/")
        name, label = kind[1].lower(), group.partition(".")[0]
        layouts = (f"{group}/{name}_{version}", f"{name}-{label}-{version}" if label else f"{name}-{version}", name)
        return next((self.files[layout] for layout in layouts if layout in self.files), None)


NONE: Final = Definitions()


@cache
def shipped(kind: GroupVersionKind) -> Definition | None:
    """The definition of a kind that ships with us."""
    group = kind[0].rpartition("/")[0]
    if group not in SHIPPED:
        return None
    document = f"crds/{group}.json"
    entry = load(document)["kinds"].get(kind[0], {}).get(kind[1])
    return Definition(entry["schema"], document, entry["status"]) if entry else None


def compiled(definition: Definition, server: Version) -> ValueCheck:
    """The check of a definition's structure on a server."""
    check = definition.checks.get(server)
    if check is None:
        check = compile_node(definition.schema, SchemaScope(definition.document, known_version(server), True, server))
        check = without_status(check) if definition.status else check
        definition.checks[server] = check
    return check


def defined_problems(
    manifest: Mapping[str, Any],
    definition: Definition | JsonSchema,
    server: Version,
    budget: Evaluations | None = None,
) -> Sequence[Problem]:
    """What a definition has against a manifest: its structure, and where that is sound, its CEL rules.

    Never raises: what a user's definition breaks is one object's finding, and no reason to lose those of others.
    """
    budget = budget or Evaluations()
    token = evaluations.enter(budget)
    try:
        if isinstance(definition, JsonSchema):
            return [*json_schema_problems(manifest, definition), *_unmatched(definition)]
        if definition.refusal:
            why = f"the API server refuses its CustomResourceDefinition: {definition.refusal}"
            return [_unchecked(manifest, why, "correct the CustomResourceDefinition")]
        found = list(_by_crd(manifest, definition, server))
        if budget.ran_out:
            budget.ran_out = False
            why = "checking the `allOf`, `anyOf`, `oneOf` and `not` of its CustomResourceDefinition takes too long"
            found.append(_unchecked(manifest, why, evaluations.ASK_SERVER, part="not fully"))
        return found
    except Exception as error:  # whatever it is, the definition is a user's
        why = f"its definition cannot be applied ({type(error).__name__}: {str(error)[:200]})"
        return [_unchecked(manifest, why, evaluations.ASK_SERVER)]
    finally:
        evaluations.leave(token)


def _unchecked(manifest: Mapping[str, Any], why: str, help: str, part: str = "not") -> Problem:
    """Tell that an object was not held to its definition, so that its silence is not taken for approval."""
    message = f"{manifest.get('kind')} was {part} checked: {why}"
    return evaluations.unchecked(("kind",), message, help)


def _by_crd(manifest: Mapping[str, Any], definition: Definition, server: Version) -> Iterator[Problem]:
    faults = compiled(definition, server)(manifest) or []
    notes = () if definition.document else _unmatched(definition)
    if faults:
        paths = rejected_paths(faults)
        found = [to_problem(fault) for fault in faults]
        yield from (problem for problem in found if is_outside(problem, paths - {problem.path}))
    elif definition.schema.get("x-ruled"):
        from ptcompile.apiserver.crds.rules import rule_problems

        yield from rule_problems(definition.schema, definition.document, manifest)
    yield from notes


def _unmatched(definition: Definition | JsonSchema) -> Sequence[Problem]:
    """Return a warning if patterns of a user's schema cannot be matched here."""
    if definition.notes is None:
        from ptcompile.apiserver.goregex import unmatched

        patterns = unmatched(definition.schema)
        definition.notes = [_unmatched_problem(patterns)] if patterns else ()
    return definition.notes


def _unmatched_problem(patterns: Sequence[str]) -> Problem:
    first = patterns[0] if len(patterns[0]) <= 100 else f"{patterns[0][:100]}..."
    more = f" and {len(patterns) - 1} more" if len(patterns) > 1 else ""
    why = "google-re2 is not installed, does not read it, or needs too much memory"
    return evaluations.unchecked((), f"pattern not checked: {first}{more}: {why}")
