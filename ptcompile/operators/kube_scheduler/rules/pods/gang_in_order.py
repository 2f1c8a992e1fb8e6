"""Jobs of a JobSet start one after the other, but their pods wait for one another.

PTC257 gang-in-order: warning at run (waits), by kube-apiserver.
Needs: JobSet schedulingGroup startupPolicyOrder/dependsOn

What: the pods of several replicatedJobs name one PodGroup, and later replicatedJobs start after
earlier ones (startupPolicyOrder: InOrder, or dependsOn), but minCount is above the number of pods
that exist at first.

Why: JobSet creates the later Jobs when the earlier ones are ready or complete. kube-scheduler
starts none of their pods until minCount pods of the group exist. Both wait for each other
indefinitely.

Example:

      apiVersion: scheduling.k8s.io/v1beta1
      kind: PodGroup
      metadata: {name: train}
      spec:
        schedulingPolicy: {gang: {minCount: 3}}
      ---
      apiVersion: jobset.x-k8s.io/v1alpha2
      kind: JobSet
      metadata: {name: train}
      spec:
        replicatedJobs:
          - name: leader
            template:
              spec:
                completions: 1
                parallelism: 1
                template:
                  spec: &pod
                    restartPolicy: Never
                    schedulingGroup: {podGroupName: train}  # <--
                    containers:
                      - name: pytorch
                        image: ghcr.io/acme/train:1.0
                        command: [python, train.py]
                        resources: {requests: {cpu: 4, memory: 16Gi}, limits: {cpu: 4, memory: 16Gi}}
          - name: worker
    -       dependsOn: [{name: leader, status: Ready}]
            template:
              spec:
                completions: 2
                parallelism: 2
                template:
                  spec: *pod

Fix: let all Jobs start at once, or give each step its own PodGroup.

Source: Kubernetes 1.37, pkg/scheduler/framework/plugins/gangscheduling; JobSet 0.12, startupPolicy
and dependsOn.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_maps, nested_string, nested_value
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.kube_scheduler.rules.reading import group_of_template


def check(subject: Subject) -> Findings:
    if subject.kind.name != "JobSet" or subject.job is None:
        return

    replicated_jobs = nested_maps(subject.spec, "replicatedJobs")
    in_order = nested_value(subject.spec, "startupPolicy", "startupPolicyOrder") == "InOrder"
    later = {
        nested_string(replicated, "name")
        for index, replicated in enumerate(replicated_jobs)
        if replicated.get("dependsOn") or (in_order and index)
    }
    counts = {role.name: role.count for role in subject.job.roles}
    groups = {template.role: group_of_template(template, subject) for template in subject.templates}
    for template in subject.templates:
        group = groups[template.role]
        if group is None or group.size is None or template.role in later:
            continue

        members = [
            role for role, other in groups.items() if other is not None and other.name == group.name
        ]
        existing = sum(counts.get(role, 0) for role in members if role not in later)
        if existing < group.size <= sum(counts.get(role, 0) for role in members):
            waiting = next(role for role in members if role in later)
            yield found_at(
                (*template.path, *group.path),
                f"the group {group.name} waits for {group.size} pods, but only {existing} exist "
                f"before {waiting} starts, and {waiting} waits for {template.role}",
                "let all replicatedJobs start at once, or give each step its own PodGroup",
            )
            return
