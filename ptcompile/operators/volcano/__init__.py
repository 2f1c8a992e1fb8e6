"""Volcano: Job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.diagnostics import Problem
from ptcompile.kinds.model import (
    Additions,
    Conversion,
    Feature,
    GangSystem,
    GroupMark,
    Install,
    Kind,
    KindContext,
    KindDefaults,
    LeftBehind,
    LostPod,
    Operator,
    QueueSystem,
    Rejections,
    RendezvousSettings,
    Retry,
    StartOrder,
)
from ptcompile.operators.pod import LAUNCH_RULES, POD_RULES
from ptcompile.operators.queues.queue_systems import GROUP_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.ir.job import Target
    from ptcompile.kinds.pods import ExpandedRole, Expansion, Shares
    from ptcompile.kinds.reading import Read
    from ptcompile.kinds.status import Following
    from ptcompile.kinds.templates import Template
    from ptcompile.kubernetes.index import Objects
    from ptcompile.kubernetes.unstructured import Json
    from ptcompile.kubernetes.versions import Versions


class VolcanoJob(Kind):
    """Volcano's Job."""

    api_version = "batch.volcano.sh/v1alpha1"
    name = "Job"
    schema = "batch.volcano.sh/job_v1alpha1.json"
    rules = (*POD_RULES, "operators.volcano.rules", *LAUNCH_RULES)
    word = "volcano"
    rendezvous = RendezvousSettings(
        roles=True,
        ranked_by=("RANK", "MASTER_ADDR"),
        across_objects=True,
        nameless="the pods have no host names, since the job does not have the plugin svc",
        naming="add svc: [] to spec.plugins",
    )
    additions = Additions(
        env_of="Volcano", dns_policy=True, mounts=("/etc/volcano",), job_label="volcano.sh/job-name"
    )
    requests_default = False
    defaults_once = True

    def templates(self, manifest: Json) -> Iterator[Template]:
        from ptcompile.operators.volcano.pods import pod_templates

        return pod_templates(manifest)

    def pods(self, manifest: Json, request: KindContext) -> Expansion:
        from ptcompile.operators.volcano.pods import expand

        return expand(manifest, request)

    def start_orders(self, manifest: Json) -> Iterator[StartOrder]:
        from ptcompile.operators.volcano.pods import start_orders

        return start_orders(manifest)

    def crowded(self, manifest: Json, versions: Versions) -> bool:
        from ptcompile.operators.volcano.pods import is_crowded

        return is_crowded(manifest, versions)

    def too_wide(self, manifest: Json) -> Problem | None:
        from ptcompile.operators.volcano.pods import too_many_tasks

        return too_many_tasks(manifest)

    def gang(self, group: Json, roles: tuple[ExpandedRole, ...]) -> Shares:
        from ptcompile.operators.volcano.pods import gang_shares

        return gang_shares(group, roles)

    def gang_scheduler(self, manifest: Json, related: Sequence[Json]) -> str:
        from ptcompile.operators.volcano.pods import gang_scheduler

        return gang_scheduler(manifest)

    def recreates(self, manifest: Json, template: Template) -> bool:
        from ptcompile.operators.volcano.pods import is_recreated

        return is_recreated(manifest, template)

    def lost_pod(self, manifest: Json, role: str, related: Sequence[Json]) -> LostPod:
        from ptcompile.operators.volcano.pods import lost_pod

        return lost_pod(manifest, role)

    def restarts(
        self, manifest: Json, role: str, related: Sequence[Json], exit_code: int | None
    ) -> tuple[Retry, ...]:
        from ptcompile.operators.volcano.pods import restarts

        return restarts(manifest, role, exit_code)

    def on_failure(self, manifest: Json, request: KindContext) -> Iterator[str]:
        from ptcompile.operators.volcano.pods import describe_failures

        return describe_failures(manifest)

    def read(self, manifest: Json, related: Objects) -> Iterator[Read]:
        from ptcompile.operators.volcano.read import read

        return read(manifest, related)

    def following(self) -> Following:
        from ptcompile.operators.volcano.facts import FOLLOWING

        return FOLLOWING

    def default(self, manifest: Json, *, complete: bool = False) -> Json:
        from ptcompile.operators.volcano.admission import default

        return default(manifest, complete=complete)

    def rejections(self) -> Rejections:
        from ptcompile.operators.volcano.admission import REJECTIONS

        return REJECTIONS


class VolcanoPodGroup(Kind):
    """Volcano's PodGroup."""

    api_version = "scheduling.volcano.sh/v1beta1"
    name = "PodGroup"
    schema = "scheduling.volcano.sh/podgroup_v1beta1.json"
    # Volcano 1.16
    group_mark = GroupMark("volcano", ("metadata", "annotations", GROUP_NAME))


class VolcanoQueue(Kind):
    """Volcano's Queue, whose CRD is shipped."""

    api_version = "scheduling.volcano.sh/v1beta1"
    name = "Queue"
    namespaced = False
    rules = ("operators.volcano.rules.queue",)


class VolcanoOperator(Operator):
    """Volcano."""

    folder = "volcano"
    authority = "volcano"
    release = "volcano"
    kinds = (VolcanoJob(), VolcanoPodGroup(), VolcanoQueue())
    title = "Volcano"
    target_name = "volcano"
    install = Install(
        "volcano",
        (
            "jobs.batch.volcano.sh/v1alpha1",
            "podgroups.scheduling.volcano.sh/v1beta1",
            "queues.scheduling.volcano.sh/v1beta1",
        ),
        kubernetes=(((1, 0), (1, 16)),),  # README: CRDs of apiextensions.k8s.io/v1
        images=("vc-controller-manager", "vc-scheduler"),
    )
    features: Mapping[str, Feature] = {
        "volcano-pytorch-plugin": Feature(
            "volcano", (1, 7), "the pytorch plugin", "Volcano 1.7, facts/volcano"
        ),
        "volcano-world-size": Feature(
            "volcano",
            (1, 12),
            "WORLD_SIZE counts the tasks master and worker alone",
            "Volcano 1.12, issue 4238, facts/volcano",
        ),
        "volcano-restart-pod": Feature(
            "volcano",
            (1, 12),
            "action RestartPod, event PodPending with a timeout",
            "Volcano 1.12, facts/volcano",
        ),
        "volcano-kept-group": Feature(
            "volcano",
            (1, 16),
            "RestartPod keeps the PodGroup",
            "Volcano commit 5f1420fd0, facts/volcano",
        ),
        "volcano-partitions": Feature(
            "volcano",
            (1, 14),
            "partitionPolicy, RestartPartition, highestTierName",
            "Volcano 1.14, facts/volcano",
        ),
        "volcano-topology": Feature(
            "volcano",
            (1, 11),
            "networkTopology of a Job and a PodGroup",
            "Volcano 1.11 release notes, facts/volcano",
        ),
    }
    queue_system = "volcano"
    gang_scheduler = "volcano"
    # minAvailable is without effect on a conversion, which compares the gangs themselves
    conversion = Conversion(
        left_behind={
            ("spec", "plugins", "pytorch"): LeftBehind(
                "no init container waits for the master; torchrun repeats its attempts to connect "
                "until its timeout",
                "raise timeout and join_timeout of the rendezvous if the master may start late",
                "wait-master-enabled=true",
            )
        },
        endings=(("spec", "policies"), ("spec", "tasks"), ("spec", "maxRetry")),
        without_effect=(
            ("spec", "plugins", "svc"),
            ("spec", "minAvailable"),
        ),
        not_admitted_by=frozenset({"kueue"}),
    )
    # the plugin svc names variables after tasks: VC_X_HOSTS of a task x (Volcano 1.16)
    role_prefix = "vc-"

    def target(self) -> Target:
        from ptcompile.operators.volcano.emit import VOLCANO

        return VOLCANO

    def defaults(self) -> KindDefaults:
        from ptcompile.operators.volcano.facts import DEFAULTS

        return DEFAULTS

    def queues(self) -> QueueSystem:
        from ptcompile.operators.volcano.facts import QUEUES

        return QUEUES

    def gangs(self) -> GangSystem:
        from ptcompile.operators.volcano.gang import GANGS

        return GANGS
