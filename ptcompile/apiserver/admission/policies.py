"""ValidatingAdmissionPolicy: the policies and bindings of the files, evaluated as the server does.

What depends on the user who applies the object, or on an object that is not in the files, is a
note. Source: Kubernetes 1.36, apiserver pkg/admission/plugin/policy (generic and validating).
"""

from __future__ import annotations

from collections.abc import Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver.admission.expressions import Failure, PolicyInput, failures, request_names
from ptcompile.apiserver.admission.matching import Decision, matches
from ptcompile.apiserver.admission.request import ClusterState, Request, is_namespaced
from ptcompile.apiserver.cel import fresh_budget
from ptcompile.apiserver.evaluations import OutOfEvaluationsError
from ptcompile.diagnostics import Problem, Problems, problem_at
from ptcompile.kubernetes.selectors import selects
from ptcompile.kubernetes.unstructured import (
    Json,
    as_string,
    kind_of,
    namespace_of,
    nested_map,
    nested_string,
    nested_strings,
    nested_value,
    object_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.admission.expressions import Variables
    from ptcompile.diagnostics.terms import Authority, Severity

_API = "admissionregistration.k8s.io/v1"
_POLICY = (_API, "ValidatingAdmissionPolicy")
_BINDING = (_API, "ValidatingAdmissionPolicyBinding")
_EXEMPT = frozenset(
    {
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
    }
)
"""Kinds of `admissionregistration.k8s.io` that no policy applies to."""
_EVALUATIONS_PER_POLICY = 50


class BoundPolicy(NamedTuple):
    """A policy with one of its bindings."""

    policy: Json
    binding: Json

    @property
    def names(self) -> str:
        """Both names, in the server's words."""
        return (
            f"ValidatingAdmissionPolicy '{object_name(self.policy)}' with binding "
            f"'{object_name(self.binding)}'"
        )


def policy_problems(requests: Sequence[Request], state: ClusterState) -> Problems:
    """Yield what the policies of the files reject, warn of, or do not settle."""
    bound = _bound_policies(state)
    if not bound:
        return

    for request in requests:
        if (
            request.kind.api_version.startswith("admissionregistration.k8s.io/")
            and request.kind.name in _EXEMPT
        ):
            continue

        steps = fresh_budget(request.object)[0]
        state.evaluations.grant(steps // 100)
        state.policy_steps += steps
        names: Variables = {}
        for pair in bound:
            state.evaluations.spend(1)
            decision = _applies(pair, request, state)
            if decision is not Decision.NO:
                names = names or request_names(request, state)
                yield from _pair_problems(_MatchedRequest(request, names, decision), pair, state)


def _bound_policies(state: ClusterState) -> list[BoundPolicy]:
    key = ("policies", "")
    if key not in state.indexes:
        policies = {object_name(policy): policy for policy in state.of_kind(_POLICY)}
        bindings = state.of_kind(_BINDING) if policies else []
        pairs = [
            (policies.get(nested_string(item, "spec", "policyName")), item) for item in bindings
        ]
        state.indexes[key] = [
            BoundPolicy(policy, binding) for policy, binding in pairs if policy is not None
        ]

    bound: list[BoundPolicy] = state.indexes[key]
    return bound


def _applies(pair: BoundPolicy, request: Request, state: ClusterState) -> Decision:
    """Return whether both the policy and its binding match a request."""
    decision = matches(nested_map(pair.policy, "spec", "matchConstraints"), request, state)
    if decision is Decision.NO:
        return decision
    return min(
        decision, matches(nested_map(pair.binding, "spec", "matchResources"), request, state)
    )


class _MatchedRequest(NamedTuple):
    """A request that a policy selects, with what its expressions read."""

    request: Request
    names: Variables
    decision: Decision


def _pair_problems(matched: _MatchedRequest, pair: BoundPolicy, state: ClusterState) -> Problems:
    request = matched.request
    params = _params_of(pair, request, state)
    if isinstance(params, str):
        yield _not_evaluated(request, pair, params, state)
        return

    for param in params:
        state.evaluations.spend(_EVALUATIONS_PER_POLICY)
        if state.policy_steps < 0:
            raise OutOfEvaluationsError
        policy_input = PolicyInput(matched.names, pair.policy, param, state)
        granted = policy_input.budget[0]
        for failure in failures(policy_input):
            yield from _to_problems(request, pair, failure, matched.decision, state)
        state.policy_steps -= granted - policy_input.budget[0]


def _params_of(pair: BoundPolicy, request: Request, state: ClusterState) -> list[Json | None] | str:
    """Return the parameters that a binding selects, None for no parameters, or why they are not
    known.
    """
    kind = nested_map(pair.policy, "spec", "paramKind")
    reference = nested_map(pair.binding, "spec", "paramRef")
    if not kind or not reference:
        return [None]

    param_kind = kind_of(kind)
    params: Sequence[Json] = state.objects.of_kind(param_kind)
    name = nested_string(reference, "name")
    namespace = nested_string(reference, "namespace")
    if is_namespaced(param_kind, state):
        namespace = namespace or namespace_of(request.object)
        params = state.objects.in_namespace(namespace).of_kind(param_kind)
    if name:
        params = [item for item in params if object_name(item) == name]
    else:
        selector = nested_map(reference, "selector")
        params = [
            item for item in params if selects(selector, nested_map(item, "metadata", "labels"))
        ]

    state.evaluations.spend(len(params))
    return (
        list(params) or f"the files have no {param_kind.name} {name or 'that its paramRef selects'}"
    )


def _to_problems(
    request: Request, pair: BoundPolicy, failure: Failure, decision: Decision, state: ClusterState
) -> Problems:
    """Yield the problem of a failed validation, by the binding's actions. Audits only reach the
    server's log.
    """
    if failure.unknown:
        yield _not_evaluated(request, pair, failure.message, state)
        return

    actions = nested_strings(pair.binding, "spec", "validationActions")
    if failure.is_error and nested_value(pair.policy, "spec", "failurePolicy") == "Ignore":
        return

    if "Deny" in actions:
        text = f"{pair.names} denied request: {failure.message}"
    elif "Warn" in actions:
        text = f"Validation failed for {pair.names}: {failure.message}"
    else:
        return
    if decision is Decision.UNKNOWN:
        text += f", if the policy applies: {_why_unknown(request)}"
    certain = "Deny" in actions and decision is Decision.YES
    help = f"change the object as the policy in {_origin(pair.policy, state)} requires"
    yield _problem(request, "denied-by-policy", text, help, "error" if certain else "warning")


def _why_unknown(request: Request) -> str:
    name = namespace_of(request.object)
    return (
        f"it selects by labels of namespace {name} or by another version, which the files do not "
        "settle"
    )


def _not_evaluated(request: Request, pair: BoundPolicy, why: str, state: ClusterState) -> Problem:
    """Return the note that the files do not settle what a policy answers."""
    text = f"{pair.names} was not evaluated: {why}"
    help = (
        f"check the policy in {_origin(pair.policy, state)} with the API server: kubectl apply "
        "--dry-run=server"
    )
    return _problem(request, "policy-not-evaluated", text, help, "note")


def _problem(request: Request, name: str, text: str, help: str, severity: Severity) -> Problem:
    path = request.path if request.written is not None else ()
    authority: Authority = "ptcompile" if severity == "note" else "kube-apiserver"
    return problem_at(name, path, text, help, severity, request.stage, authority)


def _origin(policy: Json, state: ClusterState) -> str:
    """Return where a policy is: in another file, in the profile or in the same file."""
    if id(policy) in state.profile_ids:
        return "the profile"
    return as_string(getattr(policy, "origin", "")) or "this file"
