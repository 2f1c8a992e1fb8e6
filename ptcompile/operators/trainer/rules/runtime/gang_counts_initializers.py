"""The gang counts pods that start one after another.

PTC245 gang-counts-initializers: warning at run (waits), by trainer.
Needs: podGroupPolicy dependsOn

What: podGroupPolicy in a runtime where a replicatedJob depends on another.

Why: the PodGroup's minMember is the number of all pods, the initializers' too. Those that wait by
dependsOn do not exist yet, and the scheduler may wait for them forever.

Example:

      apiVersion: trainer.kubeflow.org/v1alpha1
      kind: ClusterTrainingRuntime
      metadata: {name: acme-torch, labels: {trainer.kubeflow.org/framework: torch}}
      spec:
        mlPolicy: {torch: {}}
    -   podGroupPolicy: {volcano: {}}
        template:
          spec:
            replicatedJobs:
              - name: dataset-initializer
                template:
                  metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: dataset-initializer}}
                  spec:
                    template:
                      spec:
                        restartPolicy: Never
    -                   schedulerName: volcano
                        containers:
                          - name: dataset-initializer
                            image: ghcr.io/acme/train:1.0
                            resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
              - name: node
                dependsOn:  # <--
                  - {name: dataset-initializer, status: Complete}
                template:
                  metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
                  spec:
                    template:
                      spec:
                        restartPolicy: Never
    -                   schedulerName: volcano
                        containers:
                          - name: node
                            image: ghcr.io/acme/train:1.0
                            resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}

Fix: load the data in an init container, or remove podGroupPolicy.

Source: Trainer 2.3, podGroupPolicy plugins; JobSet 0.12, dependsOn.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_map, nested_maps, nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.trainer.rules.runtime.reading import job_path, replicated_jobs


def check(subject: Subject) -> Findings:
    policy = nested_map(subject.spec, "podGroupPolicy")
    if policy.get("volcano") is None and policy.get("coscheduling") is None:
        return

    for index, replicated in replicated_jobs(subject):
        dependencies = nested_maps(replicated, "dependsOn")
        if dependencies:
            yield found_at(
                job_path(index, "dependsOn"),
                f"the PodGroup waits for all pods at once, and these are created only after "
                f"{nested_string(dependencies[0], 'name')}",
                "load the data in an init container, or remove podGroupPolicy",
                on_key=True,
            )
