"""What the expressions of an admission policy read, and the validations that an object does not
pass.

Source: Kubernetes 1.36, apiserver pkg/admission/plugin/policy/validating/validator.go, plugin/cel
and plugin/webhook/matchconditions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile._internal.lazy import Pattern, cached_property
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.apiserver.admission.matching import namespace_labels
from ptcompile.apiserver.admission.request import ClusterState, Request, is_namespaced, resource_of
from ptcompile.apiserver.cel import CelError, CostError, UncheckedError, evaluate, fresh_budget
from ptcompile.apiserver.cel.values import ComputedFields
from ptcompile.apiserver.defaulting.decoding import with_defaults
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    kind_of,
    namespace_of,
    nested_map,
    nested_maps,
    nested_string,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.cel.values import StepBudget

    Variables = JsonDict

_MESSAGE_MAX = 5 * 1024
"""Maximum number of bytes of a text that `messageExpression` makes."""
_names_authorizer = Pattern(r"\bauthorizer\b").search
_names_variable = Pattern(r"\bvariables\.([A-Za-z_][A-Za-z0-9_]*)").findall
_UNKNOWN_USER = "the files do not say who applies the object"


class Failure(NamedTuple):
    """A validation that an object does not pass, or that the files do not settle."""

    message: str
    is_error: bool = False
    """Whether the expression failed instead of returning false; `failurePolicy` then decides."""
    unknown: bool = False
    """Whether the files do not settle the validation; the message says why."""


class PolicyInput:
    """An object under a policy, with one parameter."""

    def __init__(
        self, names: Variables, policy: Json, param: Json | None, state: ClusterState
    ) -> None:
        self.spec = nested_map(policy, "spec")
        self.names = names
        """What match conditions read."""
        if self.spec.get("paramKind") is not None:
            self.names = {
                **names,
                "params": None if param is None else _decoded_param(param, state),
            }
        self.budget: StepBudget = fresh_budget(names["object"])

    @cached_property
    def all_names(self) -> Variables:
        """All names that validations may read, the policy's variables included; a variable may read
        those before it.
        """
        variables = nested_maps(self.spec, "variables")
        if not variables:
            return self.names
        return {
            **self.names,
            "variables": _PolicyVariables(variables, self.names).before(len(variables)),
        }


class _PolicyVariables:
    """The variables of a policy. Each is evaluated once, when an expression reads it."""

    def __init__(self, variables: Sequence[Json], names: Variables) -> None:
        self._names = names
        self._expressions = [nested_string(variable, "expression") for variable in variables]
        self._positions = {
            nested_string(variable, "name"): index for index, variable in enumerate(variables)
        }
        self._values: dict[int, Any] = {}
        """Values by position, or the exceptions of those that fail."""

    def before(self, limit: int) -> ComputedFields:
        """Return the variables before a position, which are those that the expression there may
        read.
        """
        return ComputedFields(lambda name, budget: self._read(limit, name, budget))

    def _read(self, limit: int, name: str, budget: StepBudget) -> Any:
        """Return the value of a variable, for an expression before which `limit` variables are
        declared.
        """
        position = self._positions.get(name, limit)
        if position >= limit:
            raise CelError(f"no such key: {name}")

        # in order, because each nested evaluation may only use half of the steps that are left
        for needed in self._missing(position):
            self._values[needed] = self._evaluate(needed, budget)
        value = self._values[position]
        if isinstance(value, CelError):
            raise CelError(f'composited variable "{name}" fails to evaluate: {value}')
        if isinstance(value, Exception):
            raise value

        return value

    def _missing(self, position: int) -> list[int]:
        """Return the variables without a value that a variable reads, at any depth, and itself."""
        missing = {position} - self._values.keys()
        pending = list(missing)
        while pending:
            reader = pending.pop()
            for name in _names_variable(self._expressions[reader]):
                needed = self._positions.get(name, reader)
                if needed < reader and needed not in missing and needed not in self._values:
                    missing.add(needed)
                    pending.append(needed)

        return sorted(missing)

    def _evaluate(self, position: int, budget: StepBudget) -> Any:
        expression = self._expressions[position]
        if _names_authorizer(expression):
            return UncheckedError(_UNKNOWN_USER)
        try:
            return evaluate(expression, {**self._names, "variables": self.before(position)}, budget)
        except (CelError, CostError, UncheckedError) as error:
            return error


def failures(policy_input: PolicyInput) -> Iterator[Failure]:
    """Yield the validations that an object does not pass. A match condition that is false ends
    the policy.
    """
    errors: list[str] = []
    unknown: list[str] = []
    for condition in nested_maps(policy_input.spec, "matchConditions"):
        expression = nested_string(condition, "expression")
        try:
            if _evaluate(expression, policy_input.names, policy_input) is False:
                return
        except CelError as error:
            errors.append(_error_text(expression, error))
        except (CostError, UncheckedError) as error:
            unknown.append(_why_unknown(expression, error))

    if unknown:
        yield Failure(unknown[0], unknown=True)
    elif errors:
        yield Failure(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]", is_error=True)
    else:
        for validation in nested_maps(policy_input.spec, "validations"):
            yield from _validate(validation, policy_input)


def _validate(validation: Json, policy_input: PolicyInput) -> Iterator[Failure]:
    expression = nested_string(validation, "expression")
    try:
        if _evaluate(expression, policy_input.all_names, policy_input) is not True:
            yield Failure(_message(validation, policy_input))
    except CelError as error:
        yield Failure(_error_text(expression, error), is_error=True)
    except (CostError, UncheckedError) as error:
        yield Failure(_why_unknown(expression, error), unknown=True)


def _evaluate(expression: str, names: Variables, policy_input: PolicyInput) -> Any:
    if _names_authorizer(expression):
        raise UncheckedError(_UNKNOWN_USER)
    return evaluate(expression, names, policy_input.budget)


def _error_text(expression: str, error: CelError) -> str:
    return f"expression '{expression}' resulted in error: {error}"


def _why_unknown(expression: str, error: Exception) -> str:
    text = " ".join(expression.split())
    if len(text) > _MAX_QUOTED:
        text = f"{text[:_MAX_QUOTED]}..."
    return f"{error}: {text}"


_MAX_QUOTED = 200
"""Maximum number of characters of an expression that a note repeats."""


def _message(validation: Json, policy_input: PolicyInput) -> str:
    """Return the text that messageExpression makes, else the message, else the expression."""
    expression = nested_string(validation, "messageExpression")
    if expression:
        try:
            text = _evaluate(expression, policy_input.all_names, policy_input)
        except (CelError, CostError, UncheckedError):
            text = None
        text = text.strip() if isinstance(text, str) else ""
        if text and "\n" not in text and len(text.encode("utf-8", "replace")) <= _MESSAGE_MAX:
            return str(text)

    message = nested_string(validation, "message").strip()
    return message or f"failed expression: {nested_string(validation, 'expression').strip()}"


def request_names(request: Request, state: ClusterState) -> Variables:
    """Return what the expressions of every policy read of a request."""
    return {
        "object": decoded(request.object, state),
        "oldObject": None if request.old is None else decoded(request.old, state),
        "request": _request_fields(request, state),
        "namespaceObject": _namespace_object(request, state),
    }


def _request_fields(request: Request, state: ClusterState) -> Variables:
    """Return the fields of the AdmissionRequest that do not depend on the user; the server
    leaves out empty ones.
    """
    resource = resource_of(request.kind, state)
    kind = {"group": resource.group, "version": resource.version, "kind": request.kind.name}
    plural = {"group": resource.group, "version": resource.version, "resource": resource.plural}
    fields = {
        "kind": kind,
        "resource": plural,
        "requestKind": kind,
        "requestResource": plural,
        "name": nested_string(request.object, "metadata", "name"),
        "namespace": namespace_of(request.object) if is_namespaced(request.kind, state) else "",
        "operation": "CREATE" if request.old is None else "UPDATE",
        "userInfo": ComputedFields(_unknown_user),
        "dryRun": False,
    }

    return {name: value for name, value in fields.items() if value != ""}


def _unknown_user(_name: str, _budget: StepBudget) -> Any:
    raise UncheckedError(_UNKNOWN_USER)


def _namespace_object(request: Request, state: ClusterState) -> Any:
    """Return the Namespace as expressions read it, or None for an object without a namespace."""
    if not is_namespaced(request.kind, state):
        return None

    name = namespace_of(request.object)
    labels = namespace_labels(name, state)
    if labels is None:
        return ComputedFields(lambda field, _: _unknown_namespace(name, field))

    written = next(iter(state.objects.by_name(("v1", "Namespace"), name)), {})
    metadata = {
        **nested_map(written, "metadata"),
        "name": name,
        "labels": {**labels, "kubernetes.io/metadata.name": name},
    }

    return decoded({**written, "metadata": metadata}, state)


def _unknown_namespace(name: str, field: str) -> Any:
    if field == "name":
        return name
    if field == "metadata":
        return ComputedFields(lambda inner, _: _unknown_namespace(name, inner))
    raise UncheckedError(f"the files do not have namespace {name}")


def _decoded_param(param: Json, state: ClusterState) -> Any:
    """Return a parameter as expressions read it; it is the same for every object."""
    key = ("params", str(id(param)))
    if key not in state.indexes:
        state.indexes[key] = decoded(param, state)
    return state.indexes[key]


def decoded(manifest: Json, state: ClusterState) -> Any:
    """Return an object as expressions read it: with its defaults and its namespace."""
    value = with_defaults(manifest, state.definitions)
    if is_namespaced(kind_of(manifest), state):
        value["metadata"] = {**nested_map(value, "metadata"), "namespace": namespace_of(manifest)}
    return value
