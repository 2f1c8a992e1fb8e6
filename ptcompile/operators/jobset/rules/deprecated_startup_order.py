"""startupPolicy InOrder is deprecated in favor of dependsOn.

PTC839 deprecated-startup-order: warning at style, by jobset.
Needs: InOrder

What: startupPolicy.startupPolicyOrder is InOrder.

Why: dependsOn expresses the same per Job, and can wait for Complete as well as for Ready. The two
are mutually exclusive.

Example: one_node_jobset.yaml with

      spec:
    -   startupPolicy:
    -     startupPolicyOrder: InOrder  # <--
        replicatedJobs:
          - name: driver
            template:
              spec:
                completions: 1
                parallelism: 1
                backoffLimit: 0
                template:
                  spec:
                    restartPolicy: Never
                    containers:
                      - name: pytorch
                        image: ghcr.io/acme/train:1.0
                        resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
          - name: node
    +       dependsOn: [{name: driver, status: Ready}]
            template:

Fix: let each replicatedJob depend on the one before it, with the status Ready.

Source: JobSet 0.12, API reference of startupPolicy.
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.linter.rules.launch.ready_before_peers import deadlocks
from ptcompile.operators.jobset.rules.reading import name_of, replicated_jobs


def check(subject: Subject) -> Findings:
    if nested_value(subject.spec, "startupPolicy", "startupPolicyOrder") != "InOrder":
        return

    path = ("spec", "startupPolicy", "startupPolicyOrder")
    names = [name_of(replicated) for _, replicated in replicated_jobs(subject)]
    edits = [Edit("remove", ("spec", "startupPolicy"))]
    if any(deadlocks(subject)):
        yield found_at(
            path,
            "InOrder is deprecated",
            "remove it: the pods wait for one another before they are ready",
            Fix("remove it", tuple(edits)),
        )
        return

    for index in range(1, len(names)):
        dependency = [{"name": names[index - 1], "status": "Ready"}]
        edits.append(Edit("set", ("spec", "replicatedJobs", index, "dependsOn"), dependency))
    yield found_at(
        path,
        "InOrder is deprecated",
        "let each replicatedJob depend on the one before it: dependsOn [{name: ..., status: "
        "Ready}]",
        Fix("use dependsOn", tuple(edits)),
    )
