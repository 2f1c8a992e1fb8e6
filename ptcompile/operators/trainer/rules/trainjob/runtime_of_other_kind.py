"""The file has a runtime with that name, but of another kind or namespace.

PTC242 runtime-of-other-kind: warning at apply, by trainer.
Needs: @TrainingRuntime/@ClusterTrainingRuntime

What: runtimeRef names a runtime that the same file has, but as the other kind, or as a
TrainingRuntime of another namespace.

Why: runtimeRef.kind is ClusterTrainingRuntime where it is absent, and a TrainingRuntime is looked
up only in the TrainJob's namespace: the webhook finds none.

Example:

      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: TrainingRuntime
      metadata: {name: acme-torch, labels: {trainer.kubeflow.org/framework: torch}}
      spec:
        mlPolicy: {torch: {}}
        template:
          spec:
            replicatedJobs:
              - name: node
                template:
                  metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                  spec:
                    template:
                      spec:
                        restartPolicy: Never
                        containers:
                          - name: node
                            image: ghcr.io/acme/train:1.0
                            resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
      ---
      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: TrainJob
      metadata: {name: train}
      spec:
    -   runtimeRef:
    -     name: acme-torch  # <--
    +   runtimeRef: {kind: TrainingRuntime, name: acme-torch}
        trainer: {numNodes: 1}

Fix: write runtimeRef.kind, or move one of the two to the other's namespace.

Source: Trainer 2.3, webhook.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import Json, kind_of, namespace_of, nested_map, nested_string
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.rules.reading import runtime_of


def check(subject: Subject) -> Findings:
    ref = nested_map(subject.spec, "runtimeRef")
    name = nested_string(ref, "name")
    namesake = _find_namesake(subject, name) if runtime_of(subject).assumed and name else None
    if namesake is not None:
        kind = kind_of(namesake).name
        path = ("spec", "runtimeRef", "name")
        in_other_namespace = kind == runtimes.referenced_kind(ref)
        if in_other_namespace:
            existing = f"a {kind} of the namespace {namespace_of(namesake)}"
        else:
            existing = f"a {kind}"
        if in_other_namespace:
            reference = f"in {subject.namespace}"
        else:
            reference = runtimes.referenced_kind(ref)

        yield found_at(
            path,
            f"{name} is {existing} in this file, but the reference is to one {reference}",
            "put both into the same namespace"
            if in_other_namespace
            else f"write kind: {kind} under runtimeRef",
            None
            if in_other_namespace
            else fix_setting(f"set kind to {kind}", ("spec", "runtimeRef", "kind"), kind),
        )


def _find_namesake(subject: Subject, name: str) -> Json | None:
    """Return the first runtime of the stream with this name, or None."""
    kinds = ((runtimes.API_VERSION, kind) for kind in runtimes.KINDS)
    namesakes = [runtime for kind in kinds for runtime in subject.objects.by_name(kind, name)[:1]]
    return min(namesakes, key=lambda runtime: subject.stream.positions[id(runtime)], default=None)
