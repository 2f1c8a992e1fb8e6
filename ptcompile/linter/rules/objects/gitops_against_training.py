"""A GitOps tool runs a training again, or deletes it while it runs.

PTC744 gitops-against-training: warning at run (endless), by ptcompile.
Needs: ttlSecondsAfterFinished/HookSucceeded

What: a job that Argo CD or Flux applies has ttlSecondsAfterFinished; or a job of a kind whose
health Argo CD does not know is a hook with the delete policy HookSucceeded. The tool is known by
its mark on the object (argocd.argoproj.io/tracking-id, kustomize.toolkit.fluxcd.io/name), or by an
automated Application or a Kustomization for the namespace in the stream.

Why: the time to live deletes the finished object, which git still has: Flux creates it again at its
next reconciliation, Argo CD at once with selfHeal, else at the next commit, and it trains again. A
hook without a health check counts as succeeded as soon as it is created, so HookSucceeded deletes
the running training.

Example: job.yaml with

      metadata:
        name: train
        labels: {kustomize.toolkit.fluxcd.io/name: jobs, kustomize.toolkit.fluxcd.io/namespace: flux-system}
      spec:
    -   ttlSecondsAfterFinished: 900  # <--
        backoffLimit: 0

Fix: leave the field out, and delete the file when the job is done; or make a batch/v1 Job a hook.

Source: argoproj/argo-cd docs/user-guide/auto_sync.md and gitops-engine/pkg/sync/sync_context.go
(2026), issues 8586 and 13851; fluxcd/kustomize-controller docs/spec/v1/kustomizations.md (2026).
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import (
    Json,
    nested_map,
    nested_string,
    nested_string_map,
    nested_value,
)
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.table import RUNS_PODS

_ARGO = "argocd.argoproj.io/"
_FLUX = "kustomize.toolkit.fluxcd.io"
_HEALTHY_GROUPS = ("v1", "batch/v1", "apps/v1")
"""API versions of the kinds whose health Argo CD knows."""
_TTL = "ttlSecondsAfterFinished"


def check(subject: Subject) -> Findings:
    if subject.kind not in RUNS_PODS or id(subject.manifest) not in subject.stream.positions:
        return

    notes = nested_string_map(subject.metadata, "annotations")
    hook = notes.get(f"{_ARGO}hook", "")
    deletes = "HookSucceeded" in notes.get(f"{_ARGO}hook-delete-policy", "")
    if hook not in ("", "Skip") and deletes and subject.kind.api_version not in _HEALTHY_GROUPS:
        yield found_at(
            ("metadata", "annotations", f"{_ARGO}hook-delete-policy"),
            f"Argo CD has no health check for a {subject.kind.name}: the hook succeeds when it is "
            "created, and HookSucceeded deletes the running training",
            "use BeforeHookCreation",
        )

    owner = "" if hook or "helm.sh/hook" in notes else _owner_of(subject)
    if not owner:
        return

    for keys in (("spec",), ("spec", "runPolicy")):
        is_kept = subject.kind.name == "RayJob"  # only its cluster is deleted
        if not is_kept and nested_value(subject.manifest, *keys, _TTL) is not None:
            yield found_at(
                (*keys, _TTL),
                f"{owner}, once the time to live has deleted the finished job: each time it "
                "trains from the start",
                f"remove {_TTL}, and delete the file instead",
            )


def _owner_of(subject: Subject) -> str:
    """Return which GitOps tool applies the object, and when it does so again, or ""."""
    marks = {
        *nested_string_map(subject.metadata, "labels"),
        *nested_string_map(subject.metadata, "annotations"),
    }
    others = subject.objects.of_kind
    applications = [*others(("argoproj.io/v1alpha1", "Application"))]
    applications += [
        nested_map(item, "spec", "template")
        for item in others(("argoproj.io/v1alpha1", "ApplicationSet"))
    ]
    specs = [nested_map(item, "spec") for item in applications]
    is_of_flux = f"{_FLUX}/name" in marks or any(
        _applies_to(subject, nested_map(item, "spec"), "targetNamespace")
        for item in others((f"{_FLUX}/v1", "Kustomization"))
    )
    if is_of_flux:
        return "Flux creates the object again at its next reconciliation"

    is_of_argo = not marks.isdisjoint((f"{_ARGO}tracking-id", f"{_ARGO}instance")) or any(
        _applies_to(
            subject, {**nested_map(spec, "destination"), **nested_map(spec, "source")}, "namespace"
        )
        for spec in specs
        if "automated" in nested_map(spec, "syncPolicy")
    )
    if is_of_argo:
        return "Argo CD creates the object again (at once with selfHeal, else at the next commit)"

    return ""


def _applies_to(subject: Subject, spec: Json, field: str) -> bool:
    """Return whether a tool that applies a folder may apply the object, by its namespace."""
    return bool(spec.get("path")) and nested_string(spec, field) in ("", subject.namespace)
