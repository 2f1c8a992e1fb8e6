"""Kinds defined by a CustomResourceDefinition or a JSON Schema, shipped with ptcompile or supplied
by users.

A definition is compiled when the first document of its kind is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.schema_files import load
from ptcompile.apiserver import evaluations
from ptcompile.apiserver.evaluations import Evaluations
from ptcompile.apiserver.kinds import SHIPPED_GROUPS, known_version
from ptcompile.apiserver.structure import is_outside, rejected_paths, without_status
from ptcompile.apiserver.structure.checks import SchemaScope, compile_node
from ptcompile.apiserver.structure.json_schema import JsonSchema, json_schema_problems
from ptcompile.apiserver.structure.violations import ValueCheck, to_problem
from ptcompile.diagnostics import Problem, Problems
from ptcompile.kubernetes.names import first_label
from ptcompile.kubernetes.requests import GroupVersionKind
from ptcompile.kubernetes.unstructured import api_group
from ptcompile.kubernetes.versions import Version

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.kinds import Schema
    from ptcompile.kubernetes.unstructured import Json


class Definition:
    """One kind in one version of a CRD, with its compiled checks."""

    def __init__(
        self, schema: Schema, document: str, status: bool, refusal: str = "", deprecation: str = ""
    ) -> None:
        self.schema = schema
        """Schema in ptcompile's dialect; see `loader.to_dialect`."""
        self.document = document
        """Shipped file that the schema's `$ref`s refer to; "" for a user's schema."""
        self.status = status
        """Whether `status` is a subresource, which the server drops on creation."""
        self.refusal = refusal
        """Why the API server rejects the CRD, or "". The schema of a rejected CRD is empty and
        checks nothing.
        """
        self.deprecation = deprecation
        """The API server's warning about objects of this version, or "" if the version is not
        deprecated.
        """
        self.checks: dict[Version, ValueCheck] = {}
        """Compiled checks of the structure, by server version."""
        self.notes: Sequence[Problem] | None = None
        """Warnings about patterns that cannot be matched; None until the schema first checks an
        object.
        """


class Definitions(NamedTuple):
    """Definitions supplied by users: CRDs by apiVersion and kind, JSON Schemas by file name."""

    kinds: Mapping[GroupVersionKind, Definition] = {}
    files: Mapping[str, JsonSchema] = {}
    evaluations: Evaluations | None = None
    """Budget that all definitions share, or None if each object has its own."""

    def find(self, kind: GroupVersionKind) -> Definition | JsonSchema | None:
        """Return the definition of a kind: a user's CRD, else a user's JSON Schema, else the
        shipped one, else None.
        """
        return self.kinds.get(kind) or self._file(kind) or shipped_definition(kind)

    def _file(self, kind: GroupVersionKind) -> JsonSchema | None:
        """Return the JSON Schema of a kind from the files, which may have any of three usual
        names, or None.
        """
        if not self.files:
            return None

        api_version, name = kind
        group, _, version = api_version.rpartition("/")
        name = name.lower()
        label = first_label(group)
        layouts = (
            f"{group}/{name}_{version}",
            f"{name}-{label}-{version}" if label else f"{name}-{version}",
            name,
        )

        return next((self.files[layout] for layout in layouts if layout in self.files), None)


NO_DEFINITIONS = Definitions()


@cache
def shipped_definition(kind: GroupVersionKind) -> Definition | None:
    """Return the shipped definition of a kind, or None."""
    api_version, name = kind
    group = api_group(api_version)
    if group not in SHIPPED_GROUPS:
        return None

    document = f"crds/{group}.json"
    entry = load(document)["kinds"].get(api_version, {}).get(name)
    if not entry:
        return None

    return Definition(
        entry["schema"], document, entry["status"], deprecation=entry.get("deprecation", "")
    )


def compile_definition(definition: Definition, server: Version) -> ValueCheck:
    """Return the check of a definition's structure for a server version."""
    check = definition.checks.get(server)
    if check is None:
        check = compile_node(
            definition.schema, SchemaScope(definition.document, known_version(server), True, server)
        )
        if definition.status:
            check = without_status(check)
        definition.checks[server] = check
    return check


def definition_problems(
    manifest: Json,
    definition: Definition | JsonSchema,
    server: Version,
    budget: Evaluations | None = None,
    *,
    webhooks: bool = False,
) -> Sequence[Problem]:
    """Return the problems that a definition finds in a manifest: its structure and, if that is
    valid, its CEL rules, without those that the operator's webhooks repeat if these run too.

    Never raises: an error in a user's definition becomes a finding of the object and does not
    affect other objects.
    """
    budget = budget or Evaluations()
    token = evaluations.enter(budget)
    try:
        if isinstance(definition, JsonSchema):
            return [*json_schema_problems(manifest, definition), *_unmatched_patterns(definition)]
        if definition.refusal:
            why = f"the API server rejects its CustomResourceDefinition: {definition.refusal}"
            return [_unchecked_problem(manifest, why, "correct the CustomResourceDefinition")]

        problems = list(_crd_problems(manifest, definition, server, webhooks=webhooks))
        if budget.ran_out:
            budget.ran_out = False
            why = (
                "checking the `allOf`, `anyOf`, `oneOf` and `not` of its CustomResourceDefinition "
                "takes too long"
            )
            problems.append(
                _unchecked_problem(manifest, why, evaluations.ASK_SERVER, part="not fully")
            )

        return problems
    except Exception as error:
        # a user's definition may raise anything
        why = f"its definition cannot be applied ({type(error).__name__}: {str(error)[:200]})"
        return [_unchecked_problem(manifest, why, evaluations.ASK_SERVER)]
    finally:
        evaluations.leave(token)


def transition_problems(definition: Definition, manifest: Json, old: Json) -> Sequence[Problem]:
    """Return the problems that the rules with `oldSelf` find in an update, without those of the new
    object itself.

    Never raises: an error in a user's definition becomes a finding.
    """
    if definition.refusal or not definition.schema.get("x-ruled"):
        return []

    from ptcompile.apiserver.crds.rules import rule_problems

    # the status is a subresource: an update of the object does not change it
    new = {**manifest, "status": old.get("status")} if definition.status else manifest
    try:
        existing = {
            problem.path for problem in rule_problems(definition.schema, definition.document, new)
        }
        problems = rule_problems(definition.schema, definition.document, new, old)
        return [problem for problem in problems if problem.path not in existing]
    except Exception as error:
        # a user's definition may raise anything
        why = f"its definition cannot be applied ({type(error).__name__}: {str(error)[:200]})"
        return [_unchecked_problem(manifest, why, evaluations.ASK_SERVER)]


def _unchecked_problem(manifest: Json, why: str, help: str, part: str = "not") -> Problem:
    """Return the warning that an object was not checked against its definition, so a missing
    finding does not imply that it is valid.
    """
    message = f"{manifest.get('kind')} was {part} checked: {why}"
    return evaluations.unchecked_problem(("kind",), message, help)


def _crd_problems(
    manifest: Json, definition: Definition, server: Version, *, webhooks: bool
) -> Problems:
    violations = compile_definition(definition, server)(manifest) or []
    notes = () if definition.document else _unmatched_patterns(definition)
    if violations:
        paths = rejected_paths(violations)
        problems = [to_problem(violation) for violation in violations]
        yield from (problem for problem in problems if is_outside(problem, paths - {problem.path}))
    elif definition.schema.get("x-ruled"):
        from ptcompile.apiserver.crds.rules import rule_problems

        yield from rule_problems(
            definition.schema, definition.document, manifest, webhooks=webhooks
        )

    yield from notes


def _unmatched_patterns(definition: Definition | JsonSchema) -> Sequence[Problem]:
    """Return a warning if some patterns of a user's schema cannot be matched."""
    if definition.notes is None:
        from ptcompile.apiserver.goregex import unmatchable_patterns

        patterns = unmatchable_patterns(definition.schema)
        definition.notes = [_unmatched_problem(patterns)] if patterns else ()
    return definition.notes


def _unmatched_problem(patterns: Sequence[str]) -> Problem:
    first, *others = patterns
    if len(first) > 100:
        first = f"{first[:100]}..."
    more = f" and {len(others)} more" if others else ""
    why = "google-re2 is not installed, cannot compile it, or needs too much memory"
    return evaluations.unchecked_problem((), f"pattern not checked: {first}{more}: {why}")
