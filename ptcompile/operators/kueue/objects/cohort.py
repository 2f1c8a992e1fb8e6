"""The webhook of Cohorts.

Source: Kueue 0.19, pkg/webhooks/cohort_webhook.go.
"""

from __future__ import annotations

from ptcompile.apiserver.validation import field_errors as f
from ptcompile.kubernetes.unstructured import nested_map
from ptcompile.operators.kueue.objects.quotas import QuotaRules, check_resource_groups, check_weight

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.kubernetes.versions import Versions


def check_cohort(manifest: Json, versions: Versions, problems: f.Problems) -> None:
    """Check a Cohort at creation and on updates."""
    spec = nested_map(manifest, "spec")
    rules = QuotaRules("parent", "parentName", bool(spec.get("parentName")), lends_at_most_nominal=False)
    check_resource_groups(spec, rules, problems)
    check_weight(spec, problems)
