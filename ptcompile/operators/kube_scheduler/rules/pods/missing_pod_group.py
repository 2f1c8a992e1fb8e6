"""A pod names a PodGroup that no file has.

PTC252 missing-pod-group: warning at run (waits), by kube-apiserver.
Needs: schedulingGroup/workloadRef

What: schedulingGroup names a PodGroup, or workloadRef a group of a Workload, that is not in the
files, or in another namespace.

Why: kube-scheduler keeps the pod back until its group exists in its namespace. The pod stays
Pending indefinitely, and nothing fails. No operator creates the group that a template names.

Example: gang_job.yaml with

      apiVersion: scheduling.k8s.io/v1beta1
      kind: PodGroup
      metadata: {name: train}
      spec:
        schedulingPolicy: {gang: {minCount: 4}}
      ---
      restartPolicy: Never
    - schedulingGroup: {podGroupName: trian}  # <--
    + schedulingGroup: {podGroupName: train}

Fix: write the name of the group, or put the group into the files.

Source: Kubernetes 1.37, pkg/scheduler/framework/plugins/gangscheduling, PreEnqueue.
"""

from __future__ import annotations

from ptcompile._internal.spelling import closest
from ptcompile.kubernetes.unstructured import kind_of, namespace_of, object_name
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.operators.kube_scheduler.rules.reading import group_of_template
from ptcompile.operators.queues.gangs import NamedGroup


def check(subject: Subject) -> Findings:
    # the pods of a ClusterTrainingRuntime run in the namespaces of the jobs
    if subject.kind.name == "ClusterTrainingRuntime":
        return

    for template in subject.templates:
        group = group_of_template(template, subject)
        if group is None or (group.manifest is not None and not group.lacks_member):
            continue

        path = (*template.path, *group.path)
        if group.lacks_member:
            message = (
                f"the Workload {group.name} has no group {group.member!r}: the pods wait until it "
                "exists"
            )
            yield found_at(
                (*path[:-1], "podGroup"), message, "write the name of one of its podGroups"
            )
            continue

        reason, suggestion = _why_missing(group, subject)
        message = f"{reason}: the pods wait until it exists in their namespace"
        if suggestion:
            fix = fix_setting(f"use {suggestion}", path, suggestion)
            yield found_at(path, message, f"did you mean {suggestion}?", fix)
        else:
            yield found_at(path, message, f"add the {group.kind} to the files, or remove the field")


def _why_missing(group: NamedGroup, subject: Subject) -> tuple[str, str | None]:
    """Return whether the group is in another namespace or in no file, as a clause, and a similar
    name of a group in this namespace.
    """
    same_kind = []
    for manifest in subject.stream.objects:
        api_version, kind = kind_of(manifest)
        if kind == group.kind and api_version.startswith("scheduling.k8s.io/"):
            same_kind.append(manifest)
    for manifest in same_kind:
        if object_name(manifest) == group.name:
            reason = f"the {group.kind} {group.name} is in the namespace {namespace_of(manifest)}"
            return reason, None

    local = [object_name(other) for other in same_kind if namespace_of(other) == subject.namespace]
    return f"no file has the {group.kind} {group.name}", closest(group.name, local)
