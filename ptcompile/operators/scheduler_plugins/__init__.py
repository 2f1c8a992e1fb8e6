"""Kubernetes' scheduler-plugins: coscheduling, by a label on pods."""

from __future__ import annotations

from ptcompile.kinds.model import GangSystem, GroupMark, Install, Kind, Operator
from ptcompile.operators.queues.queue_systems import GROUP_LABEL


class SchedulerPluginsPodGroup(Kind):
    """A PodGroup of scheduler-plugins."""

    api_version = "scheduling.x-k8s.io/v1alpha1"
    name = "PodGroup"
    schema = "scheduling.x-k8s.io/podgroup_v1alpha1.json"
    group_mark = GroupMark("coscheduling", ("metadata", "labels", GROUP_LABEL))


class SchedulerPlugins(Operator):
    """scheduler-plugins."""

    folder = "scheduler_plugins"
    authority = "kube-apiserver"
    release = "kubernetes"  # its releases are not distinguished
    kinds = (SchedulerPluginsPodGroup(),)
    install = Install(
        "scheduler-plugins",
        ("podgroups.scheduling.x-k8s.io/v1alpha1",),
        purpose="schedules the pods of a job together",
    )
    gang_scheduler = "scheduler-plugins"

    def gangs(self) -> GangSystem:
        from ptcompile.operators.scheduler_plugins.gang import GANGS

        return GANGS
