"""Quotas of ClusterQueues and Cohorts: their resource groups, limits, and weights. A Cohort has
nothing else.

Source: Kueue 0.19, pkg/webhooks/clusterqueue_webhook.go, cohort_webhook.go and common.go.
"""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.diagnostics.field_errors import FieldErrors, indexed_mappings
from ptcompile.kubernetes import names, quantity
from ptcompile.kubernetes.unstructured import Json, nested_map, nested_strings, nested_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics import Path
    from ptcompile.kubernetes.versions import Versions


class QuotaRules(NamedTuple):
    """How the quotas of a kind are checked."""

    parent: str
    """The word for what it borrows from: `cohort` or `parent`."""
    parent_field: str
    has_parent: bool
    lends_at_most_nominal: bool
    """Whether lendingLimit may not exceed nominalQuota."""


_NOT_NEGATIVE = "must be greater than or equal to 0"
_SMALLEST_WEIGHT = 1
"""The heaviest weight that counts as 0, in billionths."""


def check_resource_groups(spec: Json, rules: QuotaRules, problems: FieldErrors) -> None:
    """Check the resource groups of a spec: each resource and flavor belongs to one of them."""
    resources: set[str] = set()
    flavors: set[str] = set()
    for index, group in indexed_mappings(spec.get("resourceGroups")):
        path = ("spec", "resourceGroups", index)
        covered = nested_strings(group, "coveredResources")
        for position, name in enumerate(covered):
            resource_path = (*path, "coveredResources", position)
            if why := names.why_not_qualified_name(name):
                problems.invalid(resource_path, name, why)
            elif name in resources:
                problems.duplicate(resource_path, name, "list each resource in one group")
            resources.add(name)

        for position, flavor in indexed_mappings(group.get("flavors")):
            flavor_path = (*path, "flavors", position)
            _check_flavor_quotas(flavor, covered, rules, flavor_path, problems)
            flavor_name = flavor.get("name")
            if isinstance(flavor_name, str):
                if flavor_name in flavors:
                    problems.duplicate(
                        (*flavor_path, "name"), flavor_name, "list each flavor in one group"
                    )
                flavors.add(flavor_name)


def _check_flavor_quotas(
    flavor: Json, covered: list[str], rules: QuotaRules, path: Path, problems: FieldErrors
) -> None:
    for index, quota in indexed_mappings(flavor.get("resources")):
        if index >= len(covered):
            return

        quota_path = (*path, "resources", index)
        name = quota.get("name")
        if isinstance(name, str) and name != covered[index]:
            problems.invalid(
                (*quota_path, "name"),
                name,
                "must match the name in coveredResources",
                f'write "{covered[index]}": the order is the same',
            )

        nominal_path = (*quota_path, "nominalQuota")
        nominal = parse_amount(quota.get("nominalQuota"), nominal_path, problems)
        if nominal is not None and nominal.nano < 0:
            problems.invalid(nominal_path, str(nominal), _NOT_NEGATIVE, "use 0 or more")
        for limit in ("borrowingLimit", "lendingLimit"):
            _check_limit(quota, limit, rules, quota_path, problems)


def parse_amount(value: Any, path: Path, problems: FieldErrors) -> quantity.Quantity | None:
    """Return an amount, or None with a problem if Go cannot decode the text: the CRD's pattern
    accepts `1e1.5`.
    """
    amount = quantity.parse(value)
    if amount is None and isinstance(value, str):
        problems.invalid(
            path, value, quantity.why_not(value) or "", "write a quantity such as 2, 500m or 8Gi"
        )
    return amount


def _check_limit(
    quota: Json, field: str, rules: QuotaRules, path: Path, problems: FieldErrors
) -> None:
    limit = parse_amount(quota.get(field), (*path, field), problems)
    if limit is None:
        return

    if not rules.has_parent:
        why = f"must be nil when {rules.parent} is empty"
        help = f"set spec.{rules.parent_field}, or remove `{field}`: there is nothing to share with"
        problems.invalid((*path, field), str(limit), why, help)
    elif limit.nano < 0:
        problems.invalid((*path, field), str(limit), _NOT_NEGATIVE, "use 0 or more")
    elif field == "lendingLimit" and rules.lends_at_most_nominal:
        nominal = quantity.parse(quota.get("nominalQuota"))
        if nominal is not None and limit > nominal:
            why = "must be less than or equal to the nominalQuota"
            help = f"use {nominal} or less"
            problems.invalid((*path, field), str(limit), why, help)


def check_weight(spec: Json, problems: FieldErrors) -> None:
    """Check `spec.fairSharing.weight`. The webhook names the mapping instead of the weight."""
    path = ("spec", "fairSharing", "weight")
    weight = parse_amount(nested_value(spec, "fairSharing", "weight"), path, problems)
    if weight is not None and weight.nano < 0:
        problems.invalid(
            path, str(weight), _NOT_NEGATIVE, "use 0 or more", field="spec.fairSharing"
        )
    elif weight is not None and 0 < weight.nano <= _SMALLEST_WEIGHT:
        problems.invalid(
            path,
            str(weight),
            "When not 0, weight must be > 10e-9",
            "use 0, or a larger weight",
            field="spec.fairSharing",
        )


def check_cohort(manifest: Json, versions: Versions, problems: FieldErrors) -> None:
    """Check a Cohort at creation and on updates."""
    spec = nested_map(manifest, "spec")
    rules = QuotaRules(
        "parent", "parentName", bool(spec.get("parentName")), lends_at_most_nominal=False
    )
    check_resource_groups(spec, rules, problems)
    check_weight(spec, problems)
