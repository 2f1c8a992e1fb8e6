"""The webhook of ClusterQueues.

Source: Kueue 0.19, pkg/webhooks/clusterqueue_webhook.go.
"""

from __future__ import annotations

from ptcompile.apiserver.validation.metadata import check_selector
from ptcompile.diagnostics.field_errors import FieldErrors, immutable, indexed_mappings
from ptcompile.kubernetes.unstructured import (
    Json,
    nested_map,
    nested_maps,
    nested_strings,
    nested_value,
)
from ptcompile.operators.kueue.objects.quotas import QuotaRules, check_resource_groups, check_weight

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.requests import Update
    from ptcompile.kubernetes.versions import Versions


_MAX_FLAVORS = 256
"""Maximum number of flavors, and of covered resources, in all groups together."""
_MAX_COMBINATIONS = 512
"""Maximum number of quotas in one group."""
_MAX_UNKNOWN_FLAVORS = 64
"""Maximum number of findings about unknown flavors; each lists all known ones."""


def check_cluster_queue(manifest: Json, versions: Versions, problems: FieldErrors) -> None:
    """Check a ClusterQueue at creation."""
    spec = nested_map(manifest, "spec")
    # v1beta1 calls it `cohort`
    field = "cohort" if str(manifest.get("apiVersion")).endswith("v1beta1") else "cohortName"
    check_resource_groups(spec, QuotaRules("cohort", field, bool(spec.get(field)), True), problems)
    check_selector(spec.get("namespaceSelector"), ("spec", "namespaceSelector"), problems)
    check_weight(spec, problems)
    _check_totals(spec, problems)
    _check_flavors_of_checks(spec, problems)


def _check_totals(spec: Json, problems: FieldErrors) -> None:
    groups = nested_maps(spec, "resourceGroups")
    path = ("spec", "resourceGroups")
    totals = {
        "flavors": sum(len(nested_maps(group, "flavors")) for group in groups),
        "covered resources": sum(len(nested_strings(g, "coveredResources")) for g in groups),
    }
    for counted, total in totals.items():
        if total > _MAX_FLAVORS:
            why = (
                f"total number of {counted} across all resourceGroups must be at most "
                f"{_MAX_FLAVORS}, got {total}"
            )
            problems.invalid(path, total, why, "split the ClusterQueue")

    for index, group in enumerate(groups):
        flavors = nested_maps(group, "flavors")
        total = sum(len(nested_maps(flavor, "resources")) for flavor in flavors)
        if total > _MAX_COMBINATIONS:
            limit = f"must be at most {_MAX_COMBINATIONS}, got {total}"
            why = f"number of flavor-resource combinations in a resourceGroup {limit}"
            problems.invalid((*path, index), total, why, "split the group")


def _check_flavors_of_checks(spec: Json, problems: FieldErrors) -> None:
    """Check that admission checks name flavors of this ClusterQueue."""
    # v1beta1 has admissionChecks; its conversion puts them in place of the strategy
    if spec.get("admissionChecks"):
        return

    flavors: set[str] = set()
    for group in nested_maps(spec, "resourceGroups"):
        flavors.update(str(flavor.get("name")) for flavor in nested_maps(group, "flavors"))

    path = ("spec", "admissionChecksStrategy", "admissionChecks")
    help = "" if flavors else "add the flavor to resourceGroups"
    unknown = 0
    for index, check in indexed_mappings(nested_value(spec, *path[1:])):
        for position, name in enumerate(nested_strings(check, "onFlavors")):
            if name not in flavors and unknown < _MAX_UNKNOWN_FLAVORS:
                unknown += 1
                problems.unsupported((*path, index, "onFlavors", position), name, flavors, help)


def check_cluster_queue_update(update: Update, problems: FieldErrors) -> None:
    """Check what may not change: the policy of concurrent admission."""
    path = ("spec", "concurrentAdmissionPolicy")
    if update.under(*path):
        problems.append(immutable(path, nested_value(update.new, *path)))
