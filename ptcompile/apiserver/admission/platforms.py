"""What managed platforms refuse of pods, and write into them, after the API server's own admission.

`platforms.json` has the refusals of GKE Autopilot's Warden and of OpenShift's SCC restricted-v2,
with their sources. Warden refuses workloads, OpenShift the Pods that their controllers create.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.schema_files import load_table
from ptcompile._internal.spelling import is_short_number
from ptcompile.apiserver.admission.request import ClusterState, Request
from ptcompile.apiserver.defaulting.fields import children, new_child
from ptcompile.apiserver.kinds import is_built_in
from ptcompile.apiserver.validation.templates import pods_of, templates_at
from ptcompile.diagnostics import Path, Problems, problem_at
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.pod_spec import terms_of
from ptcompile.kubernetes.unstructured import (
    Json,
    kind_of,
    namespace_of,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    object_name,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.apiserver.defaulting.fields import ObjectFields
    from ptcompile.diagnostics.terms import Stage
    from ptcompile.kubernetes.versions import ManagedPlatform

_TABLE = "apiserver/admission/platforms.json"
_REQUIRED_SCC = "openshift.io/required-scc"
_UID_RANGE = "openshift.io/sa.scc.uid-range"


def platform_problems(requests: Sequence[Request], state: ClusterState) -> Problems:
    """Yield what the profile's platform refuses of the pods of an object."""
    platform = state.versions.platform
    request, *_ = requests
    manifest = request.written or request.object
    if platform is None or request.old is not None:
        return

    table = load_table(_TABLE)[platform]
    is_at_once = table["refuses_workloads"] and is_built_in(kind_of(manifest))
    for pod, spec, meta in pods_of(manifest):
        exempting = table["exempting"]
        if exempting and _is_exempt(spec, meta, exempting, state, namespace_of(manifest)):
            continue

        stage: Stage = "apply" if is_at_once or not pod else "pod"
        for path, word, row in _refusals(spec, table["refusals"]):
            text = f"{table['who']} refuses {row['text'].format(word)} ({row['constraint']})"
            where = (*pod, "spec", *path)
            yield problem_at(
                "refused-by-platform", where, text, row["help"], row["severity"], stage, platform
            )


def _refusals(spec: Json, rows: Sequence[Json]) -> Iterator[tuple[Path, Any, Json]]:
    """Yield the values of a pod that a table refuses, each once, by the first row that does."""
    marks = frozenset(_marks(spec))
    seen = set()
    for row in rows:
        values = (item for steps in row["at"] for item in templates_at(spec, steps))
        for path, value in values:
            word = path[-1] if row.get("of_key") else value
            exceptions = {text.format(word) for text in row.get("unless", ())}
            if path not in seen and _is_refused(word, row) and marks.isdisjoint(exceptions):
                seen.add(path)
                yield path, word, row


def _is_refused(word: Any, row: Json) -> bool:
    if "below" in row:
        return type(word) is int and word < row["below"]
    if "prefixes" in row:
        return isinstance(word, str) and not word.startswith(tuple(row["prefixes"]))
    if "values" in row:
        return word in row["values"]
    return word not in row["unlike"]


def _marks(spec: Json) -> Iterator[str]:
    """Yield what a pod requests, tolerates and selects, as exceptions name it."""
    yield from (f"requests {name}" for name in amounts.pod_requests(spec))
    tolerations = nested_maps(spec, "tolerations")
    yield from (f"tolerates {nested_string(toleration, 'key')}" for toleration in tolerations)
    yield from (f"selects {key}" for key in nested_map(spec, "nodeSelector"))
    for term in terms_of(spec):
        expressions = nested_maps(term, "matchExpressions")
        yield from (f"selects {nested_string(expression, 'key')}" for expression in expressions)


def _is_exempt(spec: Json, meta: Json, role: str, state: ClusterState, namespace: str) -> bool:
    """Return whether a pod asks for another SCC, or a binding grants one to its service account."""
    if _REQUIRED_SCC in nested_map(meta, "annotations"):
        return True

    account = nested_string(spec, "serviceAccountName") or "default"
    bindings = [
        item for item in state.objects if item.get("kind") in ("RoleBinding", "ClusterRoleBinding")
    ]
    for binding in bindings:
        is_here = binding.get("kind") == "ClusterRoleBinding" or namespace_of(binding) == namespace
        grants = nested_string(binding, "roleRef", "name").startswith(role)
        subjects = nested_maps(binding, "subjects")
        if (
            is_here
            and grants
            and any(each.get("name") == account or each.get("kind") == "Group" for each in subjects)
        ):
            return True

    return False


def with_platform_fields(
    pod: ObjectFields, state: ClusterState, platform: ManagedPlatform
) -> ObjectFields:
    """Fill in what the platform sets: Autopilot requests, OpenShift the fields that
    restricted-v2 requires.
    """
    writes = load_table(_TABLE)[platform]["writes"]
    spec = new_child(pod, "spec")
    if not {*_marks(spec)}.isdisjoint(writes["unless"]):
        return pod

    _fill(spec, writes["spec"])
    containers = [*children(spec, "initContainers"), *children(spec, "containers")]
    for container in containers:
        _fill(container, writes["container"])
    for namespace in state.objects.of_kind(("v1", "Namespace")):
        ids = nested_string_map(namespace, "metadata", "annotations").get(_UID_RANGE, "")
        first, _, _ = ids.partition("/")
        if object_name(namespace) == namespace_of(pod) and is_short_number(first, below=20):
            _fill(spec, {"securityContext": {"fsGroup": int(first)}})
            for container in containers:
                _fill(container, {"securityContext": {"runAsUser": int(first)}})

    return pod


def _fill(target: ObjectFields, values: Json) -> None:
    """Fill absent fields, at any depth."""
    for key, value in values.items():
        if isinstance(value, dict):
            _fill(new_child(target, key), value)
        else:
            target.setdefault(key, [*value] if isinstance(value, list) else value)
