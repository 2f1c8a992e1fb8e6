"""The runtime of a TrainJob has a prefix or suffix that the reference lacks.

PTC772 renamed-runtime: warning at apply, by trainer.
Needs: @TrainingRuntime/@ClusterTrainingRuntime

What: runtimeRef names a runtime that the stream does not have and Trainer does not install. The
stream has one of the same kind whose name has a prefix or suffix in addition, and the name of the
TrainJob has the same one.

Why: the namePrefix and nameSuffix of Kustomize rename the runtime and the TrainJob, but not
runtimeRef, which is not among the references that Kustomize knows. The webhook rejects a TrainJob
whose runtime does not exist.

Example: runtime.yaml with

      metadata: {name: dev-acme, labels: {trainer.kubeflow.org/framework: torch}}
      ---
      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: TrainJob
      metadata: {name: dev-train}
      spec:
    -   runtimeRef:
    -     name: acme  # <--
    +   runtimeRef: {name: dev-acme}
        trainer: {numNodes: 1}

Fix: list spec/runtimeRef/name of TrainJob under nameReference in a file of the kustomization's
configurations; ignore this where a runtime of that name is installed.

Source: Kustomize 5.8, api/internal/konfig/builtinpluginconsts: namereference; Trainer 2.3, webhook.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import (
    kind_of,
    namespace_of,
    nested_map,
    nested_string,
    object_name,
)
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.rules.reading import runtime_of


def check(subject: Subject) -> Findings:
    ref = nested_map(subject.spec, "runtimeRef")
    kind = runtimes.referenced_kind(ref)
    name = nested_string(ref, "name")
    if not name or not runtime_of(subject).assumed:
        return

    for runtime in subject.stream.objects.of_kind((kind_of(subject.manifest).api_version, kind)):
        renamed = object_name(runtime)
        is_visible = kind == runtimes.CLUSTER_KIND or namespace_of(runtime) == subject.namespace
        if is_visible and _shares_additions(renamed, name, object_name(subject.manifest)):
            path = ("spec", "runtimeRef", "name")
            yield found_at(
                path,
                f"no file has a {kind} {name}, but {renamed} is one, and the TrainJob's name has "
                "the same addition",
                "add spec/runtimeRef/name of TrainJob to the nameReference of the kustomization's "
                f"configurations, or write {renamed}",
                fix_setting(f"write {renamed}", path, renamed),
            )
            return


def _shares_additions(renamed: str, name: str, other: str) -> bool:
    """Return whether `renamed` is `name` with a prefix ending in `-`, a suffix beginning with one,
    or both, and `other` has the same.
    """
    prefix, _, suffix = renamed.partition(name)
    if renamed == name or name not in renamed:
        return False
    if prefix[-1:] not in ("", "-") or suffix[:1] not in ("", "-"):
        return False
    return other.startswith(prefix) and other.endswith(suffix)
