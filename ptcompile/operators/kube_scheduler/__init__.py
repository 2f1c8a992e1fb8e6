"""Gang scheduling of Kubernetes itself: PodGroup, and Workload of 1.35."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.kinds.model import Feature, GangSystem, GroupMark, Install, Kind, Operator

_MARK = GroupMark(
    "kube-scheduler",
    ("spec", "schedulingGroup", "podGroupName"),
    ("schedulingPolicy", "gang", "minCount"),
)


class PodGroup(Kind):
    """A PodGroup of Kubernetes 1.37."""

    api_version = "scheduling.k8s.io/v1beta1"
    name = "PodGroup"
    word = "schedulingPolicy"
    rules = ("operators.kube_scheduler.rules.groups",)
    group_mark = _MARK


class AlphaPodGroup(PodGroup):
    """A PodGroup in the alpha API of Kubernetes 1.37."""

    api_version = "scheduling.k8s.io/v1alpha3"


class FirstPodGroup(PodGroup):
    """A PodGroup of Kubernetes 1.36."""

    api_version = "scheduling.k8s.io/v1alpha2"


class FirstWorkload(Kind):
    """A Workload of Kubernetes 1.35, whose groups are a list in it."""

    api_version = "scheduling.k8s.io/v1alpha1"
    name = "Workload"
    word = "podGroups"
    rules = ("operators.kube_scheduler.rules.groups",)
    group_mark = GroupMark(
        "kube-scheduler",
        ("spec", "workloadRef", "name"),
        ("policy", "gang", "minCount"),
        ("spec", "workloadRef", "podGroup"),
    )


class KubeScheduler(Operator):
    """Gangs of kube-scheduler."""

    folder = "kube_scheduler"
    authority = "kube-apiserver"
    release = "kubernetes"
    title = "Kubernetes"
    kinds = (PodGroup(), AlphaPodGroup(), FirstPodGroup(), FirstWorkload())
    install = Install(purpose="schedules the pods of a job together")
    features: Mapping[str, Feature] = {
        "jobset-scheduling-group": Feature(
            "jobset",
            (0, 12),
            "pods can name a PodGroup of Kubernetes",
            "JobSet 0.12 release notes, facts/gangs",
        ),
        "trainjob-scheduling-group": Feature(
            "trainer", (2, 3), "pods can name a PodGroup of Kubernetes", "Trainer 2.3, facts/gangs"
        ),
    }
    gang_scheduler = "kubernetes"

    def gangs(self) -> GangSystem:
        from ptcompile.operators.kube_scheduler.gang import GANGS

        return GANGS
