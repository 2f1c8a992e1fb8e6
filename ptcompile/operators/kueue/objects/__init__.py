"""The webhooks of Kueue for its own kinds: defaulting, and validation at creation and on updates.

Both versions are validated as v1beta2, to which the server converts. Kinds without a webhook have
only their CRD.
"""

from __future__ import annotations

from collections.abc import Callable

from ptcompile.diagnostics import Problem, Problems
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kinds.model import Rejections
from ptcompile.operators.kueue.objects import cluster_queue, flavor, quotas, workload
from ptcompile.operators.kueue.objects.round_trip import as_kueue_writes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kinds.model import KindContext
    from ptcompile.kubernetes.requests import Update
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.kubernetes.versions import Versions


__all__ = ["REJECTIONS", "default", "validate", "validate_update"]

_VALIDATORS: dict[str, Callable[[Json, Versions, FieldErrors], None]] = {
    "ClusterQueue": cluster_queue.check_cluster_queue,
    "Cohort": quotas.check_cohort,
    "ResourceFlavor": flavor.check_flavor,
    "Workload": workload.check_workload,
}
_UPDATE_VALIDATORS: dict[str, Callable[[Update, FieldErrors], None]] = {
    "ClusterQueue": cluster_queue.check_cluster_queue_update,
    "ResourceFlavor": flavor.check_flavor_update,
    "Topology": flavor.check_topology_update,
    "Workload": workload.check_workload_update,
}


def default(manifest: Json) -> Json:
    """Return an object as the mutating webhook sends it back."""
    return as_kueue_writes(manifest, str(manifest.get("kind")))


def validate(manifest: Json, request: KindContext) -> Problems:
    """Yield the validating webhook's rejections of an object that `default` returned."""
    problems = FieldErrors()
    validator = _VALIDATORS.get(str(manifest.get("kind")))
    if validator is not None:
        validator(manifest, request.versions, problems)
    yield from map(_of_kueue, problems)


def validate_update(update: Update) -> Problems:
    """Yield the validating webhook's rejections of the change, other than those of the new
    object.
    """
    problems = FieldErrors()
    validator = _UPDATE_VALIDATORS.get(str(update.new.get("kind")))
    if validator is not None:
        validator(update, problems)
    yield from map(_of_kueue, problems)


def _of_kueue(problem: Problem) -> Problem:
    """Return a problem with Kueue as its authority, unless the API server reports it."""
    if problem.name == "too-many-items":
        return problem
    return problem._replace(name="webhook-refusal", authority="kueue")


REJECTIONS = Rejections(validate=validate, validate_update=validate_update)
