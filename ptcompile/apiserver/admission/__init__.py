"""The admission chain of the API server: plugins that complete an object, then plugins that may
reject it.

An object is admitted when it is applied, and the pods of a job when its controller creates them.
Nothing outside the files and the profile is assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ptcompile.apiserver import evaluations
from ptcompile.apiserver.admission.limit_range import limit_problems, spend_on_defaults
from ptcompile.apiserver.admission.mutation import admitted
from ptcompile.apiserver.admission.pod_security import pod_security_problems
from ptcompile.apiserver.admission.priority import priority_problems
from ptcompile.apiserver.admission.quota import quota_problems
from ptcompile.apiserver.admission.request import ClusterState, Request, requests_of
from ptcompile.apiserver.defaulting.decoding import with_defaults
from ptcompile.diagnostics import Problems
from ptcompile.kubernetes.unstructured import Json

__all__ = ["ClusterState", "admission_problems"]


def _pod_security(requests: Sequence[Request], state: ClusterState) -> Problems:
    namespaces = state.objects.of_kind(("v1", "Namespace"))
    request, *_ = requests
    if request.old is not None:
        return iter(())
    return pod_security_problems(
        request.object, namespaces, state.pod_security, state.versions.kubernetes
    )


def _policies(requests: Sequence[Request], state: ClusterState) -> Problems:
    if not state.objects.of_kind(_POLICY):
        return iter(())
    from ptcompile.apiserver.admission.policies import policy_problems

    return policy_problems(requests, state)


def _platform(requests: Sequence[Request], state: ClusterState) -> Problems:
    if state.versions.platform is None:
        return iter(())
    from ptcompile.apiserver.admission.platforms import platform_problems

    return platform_problems(requests, state)


_POLICY = ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy")

VALIDATING: tuple[Callable[[Sequence[Request], ClusterState], Problems], ...] = (
    limit_problems,
    _pod_security,
    priority_problems,
    _policies,
    _platform,
    quota_problems,
)
"""Plugins that may reject an object, in the server's order: quotas come last, because they count
what is admitted.
"""


_LIMITED = (("v1", "Pod"), ("v1", "PersistentVolumeClaim"))
"""Kinds that LimitRanges and priorities are about."""
_JUDGING_ANY_KIND = frozenset({("v1", "Namespace"), ("v1", "ResourceQuota"), _POLICY})
"""Kinds by whose objects plugins judge those of any kind."""


def _complete_request(request: Request, state: ClusterState) -> Request:
    """Return the request as validating plugins see it: after defaulting and, on creation, the
    mutating plugins.
    """
    judges_any_kind = (
        state.pod_security or state.versions.platform or state.objects.has_any(_JUDGING_ANY_KIND)
    )
    if not judges_any_kind and request.kind not in _LIMITED:
        return request
    if request.old is not None:
        return request._replace(object=with_defaults(request.object, state.definitions))
    spend_on_defaults(request, state)
    return request._replace(object=admitted(request.object, state))


def admission_problems(
    manifest: Json, state: ClusterState, old: Json | None = None, *, valid: bool = True
) -> Problems:
    """Yield what the admission plugins reject of an object, and of the pods that its controller
    creates.

    `old` is the stored object, for an update. No policy is evaluated for an object that is not
    `valid`: the server rejects it before, and expressions would fail on its values.
    """
    try:
        requests = [
            _complete_request(request, state) for request in requests_of(manifest, state, old)
        ]
        for problems in VALIDATING:
            if valid or problems is not _policies:
                yield from problems(requests, state)
    except evaluations.OutOfEvaluationsError:
        why = "its quotas, limit ranges and policies take too many steps for all objects together"
        message = f"{manifest.get('kind')} was not fully checked: {why}"
        yield evaluations.unchecked_problem(("kind",), message)
