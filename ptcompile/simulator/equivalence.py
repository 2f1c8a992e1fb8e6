"""Comparison of two worlds: every target must produce the same world (CONTRIBUTING.md#laws, 5)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ptcompile._internal.spelling import is_short_number
from ptcompile.kinds.pods import ExpandedRole
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.unstructured import nested_map, nested_value
from ptcompile.operators.table import KINDS
from ptcompile.simulator.job import SimulatedJob
from ptcompile.simulator.kubelet import environment
from ptcompile.simulator.launchers.command import entry_arguments
from ptcompile.simulator.launchers.rendezvous import AT_RENDEZVOUS
from ptcompile.simulator.meeting import dns_names
from ptcompile.simulator.pod import Pod
from ptcompile.simulator.rendezvous import JobRendezvous
from ptcompile.simulator.world import World
from ptcompile.source.secrets.masking import masker_of
from ptcompile.source.secrets.names import mask_value

MAX_COMPARED_PODS = 512
"""Maximum number of pods compared individually. In a wider role only the first two and the last
are compared.
"""
_MAX_LISTED_PODS = 3
"""Maximum number of pods that are listed for a field in which pods differ."""

OPERATOR_PREFIXES = ("PET_", "VC_", "VK_", "TF_CONFIG", "MPI_HOST", "JOB_COMPLETION_INDEX")
_OPERATOR_VARIABLES = frozenset(
    {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "PYTHONUNBUFFERED"}
)
_HOST_PATTERN = re.compile(r"[a-z0-9][a-z0-9.-]*")
_COMPARED_OPTIONS = ("rdzv-conf", "max-restarts", "monitor-interval", "start-method")

Hosts = Mapping[str, str]
"""Placeholders keyed by host name, for names that depend on the operator."""


def world_differences(old: World, new: World) -> list[str]:
    """Return the differences between two worlds of one spec, or an empty list if they are the same.

    See CONTRIBUTING.md#laws (5). Compared are the numbers of training pods and processes, the
    rendezvous (nodes, restarts, an endpoint that one of the job's pods answers to) and the ranks,
    which must be unique. For each pod, in rank order: command line, variables except those that
    operators add, resources, volumes and node requirements; the same for pods of auxiliary roles.
    """
    if len(old.jobs) != 1 or len(new.jobs) != 1:
        if len(old.jobs) == len(new.jobs) == 0:
            return []
        return [f"jobs: expected one on each side, got {len(old.jobs)} and {len(new.jobs)}"]

    old_job = old.jobs[0]
    new_job = new.jobs[0]
    first = old_job.rendezvous
    second = new_job.rendezvous
    if first is None or second is None:
        if first is second:
            return []
        empty_job = old_job if first is None else new_job
        return [f"{empty_job.title} makes no pods"]

    old_defects = dict(_defects(old_job, first))
    new_defects = dict(_defects(new_job, second))
    differences = [text for defect, text in old_defects.items() if defect not in new_defects]
    differences += [text for defect, text in new_defects.items() if defect not in old_defects]
    differences += _rendezvous_differences(first, second)
    old_auxiliary = _auxiliary_roles(old_job, first)
    new_auxiliary = _auxiliary_roles(new_job, second)
    old_counts = _pod_counts(old_auxiliary)
    new_counts = _pod_counts(new_auxiliary)
    if old_counts != new_counts:
        differences.append(f"pods that do not train: {old_counts!r} and {new_counts!r}")
    if first.nodes == second.nodes and old_counts == new_counts:
        old_pods = _pods_by_rank(old_job, first)
        new_pods = _pods_by_rank(new_job, second)
        hosts = (
            {**_rank_placeholders(old_pods), **_host_placeholders(old_job, old_auxiliary)},
            {**_rank_placeholders(new_pods), **_host_placeholders(new_job, new_auxiliary)},
        )
        differences += _pod_differences(old_pods, new_pods, hosts)
        differences += _pod_differences(
            _end_pods(old_job, old_auxiliary), _end_pods(new_job, new_auxiliary), hosts
        )

    return list(dict.fromkeys(differences))


def matching_pods(old: SimulatedJob, new: SimulatedJob) -> list[tuple[Pod, Pod]]:
    """Return the pods of two jobs with the same world in pairs: training pods by rank, then
    those of other roles.
    """
    first = old.rendezvous
    second = new.rendezvous
    if first is None or second is None:
        return []

    groups = [(_pods_by_rank(old, first), _pods_by_rank(new, second))]
    roles = {role.name: role for role in _auxiliary_roles(new, second)}
    for role in _auxiliary_roles(old, first):
        if role.name in roles:
            groups.append((_end_pods(old, [role]), _end_pods(new, [roles[role.name]])))

    pairs: list[tuple[Pod, Pod]] = []
    for old_pods, new_pods in groups:
        if len(old_pods) == len(new_pods):
            pairs += zip(old_pods, new_pods, strict=True)
    return pairs


def _auxiliary_roles(job: SimulatedJob, rendezvous: JobRendezvous) -> list[ExpandedRole]:
    """Return the roles whose pods do not join the rendezvous."""
    training_roles = rendezvous.role_names
    return [role for role in job.roles if role.count and role.name not in training_roles]


def _pod_counts(roles: list[ExpandedRole]) -> dict[str, int]:
    return {str(role.name): role.count for role in roles}


def _end_pods(job: SimulatedJob, roles: list[ExpandedRole]) -> list[Pod]:
    return [job.pod(role, i) for role in roles for i in sorted({0, role.count - 1})]


def _host_placeholders(job: SimulatedJob, roles: list[ExpandedRole]) -> Hosts:
    """Return a placeholder that does not depend on the operator for each DNS name of the roles'
    pods.
    """
    return {
        name: f"<{role.name} {i}>"
        for role in roles
        for i in range(role.count)
        for name in dns_names(job.pod(role, i).view)
    }


def _rank_placeholders(pods: list[Pod]) -> Hosts:
    """Return a placeholder for each DNS name of the training pods: the endpoint is the pod of
    rank 0.
    """
    return {
        name: f"<rank {rank}>" if rank else "<endpoint>"
        for rank, pod in enumerate(pods)
        for name in dns_names(pod.view)
    }


def _defects(job: SimulatedJob, rendezvous: JobRendezvous) -> Iterator[tuple[str, str]]:
    """Yield the defects of one world, each with a sentence: a rejection, an unknown endpoint, or
    wrong ranks.
    """
    if job.expansion.refused:
        yield job.title, f"{job.title} is rejected: {job.expansion.refused[0]}"
    if rendezvous.nodes > 1 and rendezvous.host is None and not rendezvous.outside:
        endpoint = rendezvous.first.endpoint or "(none)"
        yield f"no {endpoint}", f"{job.title}: nothing answers to the endpoint {endpoint}"
    ranks = [pod.rendezvous.node_rank for pod in _pods_by_rank(job, rendezvous)]
    if (
        rendezvous.nodes > MAX_COMPARED_PODS
        or AT_RENDEZVOUS in ranks
        or rendezvous.first.backend == "none"
    ):
        return

    if sorted(ranks, key=lambda rank: (len(rank), rank)) != [
        str(i) for i in range(rendezvous.nodes)
    ]:
        text = ", ".join(ranks[:8])
        yield f"ranks {text}", f"{job.title}: ranks are {text}, not 0 to {rendezvous.nodes - 1}"


def _rendezvous_differences(old: JobRendezvous, new: JobRendezvous) -> Iterator[str]:
    pairs: list[tuple[str, object, object]] = [
        ("training pods", old.nodes, new.nodes),
        ("started by", old.first.launcher, new.first.launcher),
    ]
    launchers = {
        role_rendezvous.launcher
        for rendezvous in (old, new)
        for _, role_rendezvous in rendezvous.roles
    }
    # an image's own command is unknown
    if "image" not in launchers:
        pairs += [
            ("processes", old.processes_text, new.processes_text),
            ("nodes", old.first.nodes_text, new.first.nodes_text),
        ]
        if old.nodes > 1:
            pairs.append(("backend", old.first.backend, new.first.backend))
            if old.outside or new.outside:
                pairs.append(("endpoint", old.first.endpoint, new.first.endpoint))
    if old.first.launcher == "torchrun":
        pairs += [
            (name, old.first.options.get(name), new.first.options.get(name))
            for name in _COMPARED_OPTIONS
        ]

    yield from (
        f"{field}: {before!r} and {after!r}" for field, before, after in pairs if before != after
    )


def _pods_by_rank(job: SimulatedJob, rendezvous: JobRendezvous) -> list[Pod]:
    """Return the training pods by rank, or in the order of the roles if ranks are assigned at
    the rendezvous.
    """
    pods: list[Pod] = []
    for role, _ in rendezvous.roles:
        indexes: Iterable[int] = range(role.count)
        if rendezvous.nodes > MAX_COMPARED_PODS:
            indexes = sorted({0, min(1, role.count - 1), role.count - 1})
        pods += [job.pod(role, index) for index in indexes]

    ranks = [pod.rendezvous.node_rank for pod in pods]
    if not all(is_short_number(rank) for rank in ranks):
        return pods

    order = sorted(range(len(pods)), key=lambda index: int(ranks[index]))
    return [pods[index] for index in order]


def _pod_differences(
    old_pods: list[Pod], new_pods: list[Pod], hosts: tuple[Hosts, Hosts]
) -> Iterator[str]:
    """Yield a sentence for each pod and field that differs; of a field that differs in many
    pods, the first pod's.
    """
    by_field: dict[str, list[str]] = {}
    for field, difference in _differences_by_field(old_pods, new_pods, hosts):
        by_field.setdefault(field, []).append(difference)
    for differences in by_field.values():
        if len(differences) <= _MAX_LISTED_PODS:
            yield from differences
        else:
            yield f"{differences[0]}, and {len(differences) - 1} more pods differ in it"


def _differences_by_field(
    old_pods: list[Pod], new_pods: list[Pod], hosts: tuple[Hosts, Hosts]
) -> Iterator[tuple[str, str]]:
    """Yield each field in which two pods of the same rank differ, with a sentence."""
    old_hosts, new_hosts = hosts
    # folded into roles of different sizes: only the ends correspond
    if len(old_pods) != len(new_pods):
        old_pods = [old_pods[0], old_pods[-1]]
        new_pods = [new_pods[0], new_pods[-1]]

    for old, new in zip(old_pods, new_pods, strict=True):
        prefix = f"{old.display_name} and {new.display_name}: "
        pairs: list[tuple[str, object, object]] = [
            ("runs", _entry_arguments(old, old_hosts), _entry_arguments(new, new_hosts)),
            ("requests", _request_texts(old), _request_texts(new)),
            ("limits", _limit_texts(old), _limit_texts(new)),
            ("image", old.main and old.main.image, new.main and new.main.image),
            ("tolerations", list(old.view.tolerations), list(new.view.tolerations)),
            ("node selector", old.view.node_selector, new.view.node_selector),
            (
                "affinity",
                nested_map(old.view.spec, "affinity"),
                nested_map(new.view.spec, "affinity"),
            ),
            ("mounts", _mount_paths(old), _mount_paths(new)),
        ]
        masker = masker_of((old.view.spec, new.view.spec))
        for field, before, after in pairs:
            if before != after:
                difference = f"{prefix}{field}: {before!r} and {after!r}"
                yield field, masker(difference) if masker else difference

        yield from _env_differences(prefix, user_env(old, old_hosts), user_env(new, new_hosts))


def _entry_arguments(pod: Pod, hosts: Hosts) -> list[str]:
    placeholders = _name_placeholders(pod)
    return [
        _replace_names(argument, placeholders, hosts) for argument in entry_arguments(pod.launch)
    ]


def _name_placeholders(pod: Pod) -> list[tuple[str, str]]:
    """Return placeholders for the names that each operator chooses: the endpoint's host and the
    pod's name.
    """
    # without a DNS name the word is the user's own, as in --out=/ckpt/x
    names = [
        (pod.rendezvous.host, "<endpoint>"),
        (pod.env.get("MASTER_ADDR", ""), "<endpoint>"),
        (pod.name if pod.dns else "", "<pod>"),
    ]
    return [(name, placeholder) for name, placeholder in names if name]


def _replace_names(text: str, placeholders: list[tuple[str, str]], hosts: Hosts) -> str:
    if hosts:
        text = _HOST_PATTERN.sub(lambda match: hosts.get(match.group(), match.group()), text)
    for name, placeholder in placeholders:
        # a pattern is compiled for each name, and few texts have one
        if name in text:
            text = re.sub(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", placeholder, text)
    return text


def _request_texts(pod: Pod) -> dict[str, str]:
    """Return the containers' requests without init containers, because operators add init
    containers.
    """
    return amounts.as_text(amounts.pod_requests({**pod.view.spec, "initContainers": []}))


def _limit_texts(pod: Pod) -> dict[str, str]:
    return amounts.as_text(amounts.quantities_of(pod.resources, "limits"))


def _mount_paths(pod: Pod) -> list[str]:
    """Return the mount paths of the main container without those that operators add."""
    operator_mounts = {path for _, kind in KINDS.values() for path in kind.additions.mounts}
    mounts = pod.main.mounts if pod.main else ()
    return sorted(
        str(mount.get("mountPath"))
        for mount in mounts
        if str(mount.get("mountPath")) not in operator_mounts
    )


def user_env(pod: Pod, hosts: Hosts) -> dict[str, str]:
    """Return the variables except those that operators add; a field reference becomes
    `<fieldPath>`, and so does the pod's name in other values.
    """
    fields = {
        str(entry.get("name")): f"<{nested_value(entry, 'valueFrom', 'fieldRef', 'fieldPath')}>"
        for entry in pod.env_entries
        if nested_map(entry, "valueFrom", "fieldRef")
    }
    # treat the pod's name as random, so that `<metadata.name>` replaces it in other values
    if pod.main is None or pod.random_suffix:
        env = pod.env
    else:
        env = environment(pod.main, pod.view._replace(random_suffix=True))
    values = {
        variable: v
        for variable, v in env.items()
        if variable not in _OPERATOR_VARIABLES and not variable.startswith(OPERATOR_PREFIXES)
    }
    placeholders = _name_placeholders(pod)

    return {
        name: fields.get(name) or _replace_names(value, placeholders, hosts)
        for name, value in values.items()
    }


def _env_differences(
    prefix: str, old: Mapping[str, str], new: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    for name in dict.fromkeys((*old, *new)):
        before = old.get(name)
        after = new.get(name)
        if before != after:
            shown_before = before and mask_value(name, before)
            shown_after = after and mask_value(name, after)
            yield f"env {name}", f"{prefix}env {name}: {shown_before!r} and {shown_after!r}"
