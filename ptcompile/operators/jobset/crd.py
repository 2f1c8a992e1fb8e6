"""The CEL rules of JobSet's CRD (0.12). A TrainingRuntime holds a JobSet's spec, and so the same rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.kubernetes.untyped import at
from ptcompile.operators.common.crd import entries, refusal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def jobset_rules(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """The rules of a JobSet (JobSet 0.12 CRD)."""
    return jobset_spec_rules(at(manifest, "spec"), ("spec",))


def jobset_spec_rules(spec: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    """The rules of a JobSet's spec at `path`."""
    yield from _one_way_to_order(spec, path)
    yield from _claims(spec, path)


def _one_way_to_order(spec: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    if at(spec, "startupPolicy").get("startupPolicyOrder") != "InOrder":
        return
    if spec.get("replicatedJobs") is None:
        why = "no such key: replicatedJobs evaluating rule: StartupPolicy and DependsOn APIs are mutually exclusive"
        yield refusal(path, why, "list the replicatedJobs, or drop startupPolicy")
    for index, job in entries(spec, "replicatedJobs"):
        if job.get("dependsOn") is not None:
            yield refusal(
                (*path, "replicatedJobs", index, "dependsOn"),
                "StartupPolicy and DependsOn APIs are mutually exclusive",
                "keep dependsOn and drop startupPolicy, or the other way round",
            )
            return


def _claims(spec: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    for index, policy in entries(spec, "volumeClaimPolicies"):
        where = (*path, "volumeClaimPolicies", index)
        # The rule reads `templates` and each `metadata` without asking whether they are there.
        if policy.get("templates") is None:
            yield refusal(where, "no such key: templates", "add templates, an empty list at least")
        for inner, template in entries(policy, "templates"):
            if template.get("metadata") is None:
                yield refusal((*where, "templates", inner), "no such key: metadata", "add metadata with a name")
            if at(template, "metadata").get("namespace"):
                yield refusal(
                    (*where, "templates", inner, "metadata", "namespace"),
                    "namespace cannot be set for VolumeClaimPolicies templates",
                    "remove it: the claims are made in the JobSet's namespace",
                )
