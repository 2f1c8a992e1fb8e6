"""Kueue does not manage this kind unless its configuration switches it on.

PTC491 kueue-framework-off: warning at run (differs), by kueue.
Needs: kueue labels

What: a job of training-operator, such as a PyTorchJob, names a queue, Kueue is 0.19 or newer, and
the profile does not name the kind in `queueFrameworks`.

Why: since 0.19 Kueue's shipped configuration leaves these kinds out of `integrations.frameworks`,
and their integrations are deprecated. The label is ignored: the job starts at once, and no quota
counts it.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata:
        name: train
    -   labels:
    -     kueue.x-k8s.io/queue-name: research  # <--
      spec:
        pytorchReplicaSpecs:
          Master:
            replicas: 1
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/train:1.0
                    command: [python, train.py]
                    resources: {requests: {cpu: 8, memory: 64Gi}, limits: {cpu: 8, memory: 64Gi}}

Fix: convert a PyTorchJob to a TrainJob; or switch the kind on in Kueue's configuration, and name it
in `queueFrameworks` of the profile.

Source: Kueue 0.19, config/components/manager/controller_manager_config.yaml; issue 12620.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.kueue.queues import QUEUE, framework_off, queue_of, unmanaged_text
from ptcompile.operators.kueue.rules.reading import StreamQueues


def check(subject: Subject) -> Findings:
    queue = queue_of(subject.manifest)
    switched_on = subject.stream.frameworks
    framework = framework_off(subject.kind, subject.versions, switched_on)
    if not queue or not framework:
        return

    configuration = subject.stream.cached(StreamQueues).cluster.configuration
    if framework not in configuration.frameworks:
        instead = "use a TrainJob, or " if subject.kind.name == "PyTorchJob" else ""
        yield found_at(
            ("metadata", "labels", QUEUE),
            f"{unmanaged_text(subject.kind, subject.versions, switched_on)} {queue!r}",
            f"{instead}switch {framework} on in Kueue and name it in queueFrameworks of the "
            "profile",
            on_key=True,
        )
