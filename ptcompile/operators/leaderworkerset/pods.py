"""Pods of a LeaderWorkerSet: templates, the pods of a group, their variables, and behavior on
failure.

Source: LeaderWorkerSet 0.10, pkg/utils/pod/pod_utils.go and pkg/controllers;
docs/facts/leaderworkerset.md#pods.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from ptcompile.kinds import templates
from ptcompile.kinds.model import LostPod, StartOrder
from ptcompile.kinds.pods import ExpandedRole, Expansion, PodView, template_parts
from ptcompile.kinds.templates import Template
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    namespace_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_value,
    object_name,
)

_PREFIX = "leaderworkerset.sigs.k8s.io/"
_LEADER = "LWS_LEADER_ADDRESS"


def group_size(manifest: Json) -> int:
    """Return the number of pods in a group, the leader included."""
    return max(1, nested_int(manifest, "spec", "leaderWorkerTemplate", "size", default=1))


def pod_templates(manifest: Json) -> Iterator[Template]:
    """Yield the templates of the leader, if it has its own, and of the workers; `replicas` counts
    those of all groups.

    Without a leaderTemplate the leader is made of the workerTemplate too.
    """
    spec = nested_map(manifest, "spec")
    path = ("spec", "leaderWorkerTemplate")
    pair = nested_map(spec, "leaderWorkerTemplate")
    groups = nested_int(spec, "replicas", default=1)
    workers = group_size(manifest)

    if pair.get("leaderTemplate"):
        yield Template((*path, "leaderTemplate"), pair.get("leaderTemplate"), "leader", groups)
        workers -= 1
    if pair.get("workerTemplate") is not None:
        worker_path = (*path, "workerTemplate")
        yield Template(worker_path, pair.get("workerTemplate"), "worker", groups * workers)


def expand(manifest: Json) -> Expansion:
    """Return the pods of the first group and their headless Service.

    Each group is a separate world: its pods know only their own leader. All groups of one pod are
    expanded, since such pods can meet by the names that the StatefulSet gives them.
    """
    groups = _Groups(manifest)
    expanded = groups.count if groups.size == 1 else min(groups.count, 1)
    if groups.has_leader:
        leader = partial(groups.pod, role="leader")
        worker = partial(groups.pod, role="worker", first=1)
        roles = [
            ExpandedRole("leader", expanded, leader),
            ExpandedRole("worker", expanded * (groups.size - 1), worker),
        ]
    else:
        roles = [ExpandedRole("worker", expanded * groups.size, groups.pod)]

    notes = ["the controller never ends a group: containers that exit are started again"]
    if expanded < groups.count:
        notes.append(
            f"{groups.count} groups of {groups.size} pods, each with its own leader: only the "
            "first is shown"
        )

    return Expansion(tuple(roles), (groups.service(),), notes=tuple(notes))


def start_orders(manifest: Json) -> Iterator[StartOrder]:
    """Yield that the workers of a group are created when its leader is ready."""
    spec = nested_map(manifest, "spec")
    if spec.get("startupPolicy") == "LeaderReady":
        if nested_value(spec, "leaderWorkerTemplate", "leaderTemplate"):
            leader = "leader"
        else:
            leader = "worker"
        yield StartOrder(
            ("spec", "startupPolicy"),
            leader,
            1,
            "LeaderReady creates the workers when the leader is ready",
            "set startupPolicy to LeaderCreated",
        )


class _Groups:
    """Values shared by all pods of one LeaderWorkerSet."""

    def __init__(self, manifest: Json) -> None:
        spec = nested_map(manifest, "spec")
        self.name = object_name(manifest)
        self.namespace = namespace_of(manifest)
        self.count = max(0, nested_int(spec, "replicas", default=1))
        self.size = group_size(manifest)
        self.templates = nested_map(spec, "leaderWorkerTemplate")
        self.has_leader = bool(self.templates.get("leaderTemplate"))
        self.is_shared = (
            nested_value(spec, "networkConfig", "subdomainPolicy") != "UniquePerReplica"
        )

    def subdomain(self, group: int) -> str:
        """Return the name of the headless Service of a group."""
        return self.name if self.is_shared else f"{self.name}-{group}"

    def pod(self, index: int, role: str = "worker", first: int = 0) -> PodView:
        """Return a pod of a role; `first` is the worker index of the role's first pod in a
        group.
        """
        group, worker = (index, 0) if self.size == 1 else (0, index + first)
        if role == "leader":
            template = self.templates.get("leaderTemplate")
        else:
            template = self.templates.get("workerTemplate")

        metadata, spec = template_parts(template)
        name = f"{self.name}-{group}" + (f"-{worker}" if worker else "")
        subdomain = self.subdomain(group)
        labels = {"name": self.name, "group-index": str(group), "worker-index": str(worker)}

        return PodView(
            name=name,
            role=role,
            index=index,
            namespace=self.namespace,
            hostname=name,
            subdomain=subdomain,
            dns=templates.cluster_host_name(name, subdomain, self.namespace),
            labels={
                **nested_string_map(metadata, "labels"),
                **{_PREFIX + key: value for key, value in labels.items()},
            },
            annotations={
                **nested_string_map(metadata, "annotations"),
                f"{_PREFIX}size": str(self.size),
            },
            spec=self.pod_spec(spec, name, group, worker),
        )

    def pod_spec(self, spec: Json, name: str, group: int, worker: int) -> JsonDict:
        """Return the pod's spec with the controller's variables, which come first and replace
        the user's.
        """
        variables = {
            _LEADER: f"{self.name}-{group}.{self.subdomain(group)}.{self.namespace}",
            "LWS_GROUP_SIZE": str(self.size),
            "LWS_WORKER_INDEX": str(worker),
        }
        added = [templates.env_value(variable, value) for variable, value in variables.items()]
        changed = templates.with_containers(spec, lambda c: _with_variables(c, added), init=True)
        return {**changed, "hostname": name, "subdomain": self.subdomain(group)}

    def service(self) -> Json:
        """Return the headless Service that resolves the pods' names, also before they are ready."""
        selector = {f"{_PREFIX}name": self.name}
        if not self.is_shared:
            selector[f"{_PREFIX}group-index"] = "0"
        spec = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selector}
        return {
            "metadata": {"name": self.subdomain(0), "namespace": self.namespace},
            "spec": spec,
        }


def _with_variables(container: Json, added: Sequence[Json]) -> JsonDict:
    names = {entry["name"] for entry in added}
    kept = [entry for entry in nested_maps(container, "env") if entry.get("name") not in names]
    return {**container, "env": [*added, *kept]}


def restart_policy(manifest: Json) -> str:
    """Return what a failed pod does to its group; the deprecated Default means None."""
    policy = nested_string(manifest, "spec", "leaderWorkerTemplate", "restartPolicy")
    if policy == "Default":
        return "None"
    return policy or "RecreateGroupOnPodRestart"


def lost_pod(manifest: Json) -> LostPod:
    """Return what the controller does about a lost pod."""
    if restart_policy(manifest) == "None":
        return LostPod("pod", "its StatefulSet creates a new pod, which is not counted")
    return LostPod("job", "all pods of its group are recreated, which is not counted")


def describe_failures(manifest: Json) -> Iterator[str]:
    """Yield sentences about what a LeaderWorkerSet does on failure and at its end."""
    policy = restart_policy(manifest)
    effects = {
        "None": "the kubelet restarts its container in place, the other pods stay",
        "RecreateGroupOnPodRestart": "all pods of its group are recreated",
        "RecreateGroupAfterStart": "all pods of its group are recreated once the whole group has started",
    }
    yield (
        f"a pod that fails: {effects.get(policy, 'that policy is unknown')} (restartPolicy "
        f"{policy}), without a limit"
    )
    yield "a container that exits with status 0 is restarted too: the set never completes"
