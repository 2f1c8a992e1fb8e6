"""`ptcompile platform --from-dump`: the profile of a cluster from a dump of its objects.

Pure: the objects of `kubectl get ... -A -o yaml` in, a ClusterProfile out, with a sentence for each
thing that they do not show. Every value that is written has been seen in the dump.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.diagnostics import Diagnostic, has_error
from ptcompile.hardware.nodes import levels_of
from ptcompile.kinds.model import ObjectsByKind
from ptcompile.kinds.wrapped import group_and_kind
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    api_group,
    kind_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_strings,
    nested_value,
    object_name,
    without_falsy,
)
from ptcompile.kubernetes.versions import Version, Versions, parse_version, version_text
from ptcompile.linter.containers import split_image
from ptcompile.linter.sharing import plugin_configs
from ptcompile.operators.table import BY_GANG_SCHEDULER, BY_QUEUE_SYSTEM, OPERATORS
from ptcompile.report.layout import join_escaped
from ptcompile.requirements.node_pools import (
    cloud_of,
    empty_pools,
    gpu_settings,
    kubelet_release,
    may_have_other_pools,
    node_pools,
    platform_of,
    spot_settings,
    worker_nodes,
)
from ptcompile.source import emitter
from ptcompile.spec.objects import yaml_name
from ptcompile.spec.reader import default_cluster

_CONTROLLERS = frozenset({"Deployment", "DaemonSet", "StatefulSet", "Pod"})
"""Kinds of objects in which operators and Kubernetes itself run."""
_KEPT = (
    "Namespace", "LimitRange", "ResourceQuota", "PriorityClass",
    "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
    "ResourceFlavor", "Topology", "Cohort", "ClusterQueue", "LocalQueue", "WorkloadPriorityClass", "AdmissionCheck",
)  # fmt: skip
"""Kinds whose objects admit jobs: the profile's `objects`, in this order."""
_NO_STATE = frozenset({"status", "metadata", "apiVersion", "kind"})
_BUILT_IN_NAMESPACES = ("kube-", "openshift-")
_NAME_LABEL = "kubernetes.io/metadata.name"
_BUILT_IN_CLASSES = "system-"
_NOT_SHOWN = (
    "versions.torch: PyTorch in the images of the jobs",
    "fabrics: networks between nodes, unless they are built in",
    "defaults: variables, service accounts and registry credentials that every job gets",
)
"""What no object of a cluster shows."""


class ProfileDraft(NamedTuple):
    """A ClusterProfile, and what the dump does not show: a field and why, a line each."""

    document: JsonDict
    unknown: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...] = ()
    """Problems with the dump. With an error among them, the other fields are empty."""

    @property
    def ok(self) -> bool:
        """Whether all diagnostics are warnings or notes."""
        return not has_error(self.diagnostics)

    def text(self) -> str:
        """Return the profile as YAML below a comment that lists what is unknown."""
        lines = [
            "From a dump of the cluster. Complete it by hand where the dump does not show:",
            *self.unknown,
        ]
        return join_escaped(f"# {line}" for line in lines) + emitter.emit(self.document)


def draft_profile(objects: Sequence[Json]) -> ProfileDraft:
    """Return the profile of the cluster that these objects are from. Accepts any objects; never
    raises.
    """
    by_kind: defaultdict[str, list[Json]] = defaultdict(list)
    for manifest in objects:
        by_kind[kind_of(manifest).name].append(manifest)
    kinds = frozenset(by_kind)
    nodes = worker_nodes(by_kind["Node"])
    containers = list(_controller_containers(by_kind))
    cloud = cloud_of(nodes)
    versions, unknown = _versions(containers, by_kind["Node"])
    shared = _shared_gpus(by_kind)
    queue_settings, unknown_queues = _queue_settings(by_kind)
    spec = {
        "versions": {field: version_text(release) for field, release in versions.items()},
        "featureGates": _feature_gates(containers),
        "cloud": cloud,
        "platform": platform_of(nodes, objects),
        "clusterDomain": _cluster_domain(by_kind["ConfigMap"]),
        "gpu": {
            **gpu_settings(nodes, [object_name(each) for each in by_kind["DeviceClass"]]),
            **shared,
        },
        "nodePools": {**empty_pools(by_kind["NodePool"], nodes), **node_pools(nodes)},
        "otherPools": may_have_other_pools(kinds, {*map(object_name, by_kind["ConfigMap"])}, nodes),
        "spot": spot_settings(nodes, cloud),
        **queue_settings,
        **_gang_scheduler(containers, queue_settings),
        "objects": [
            _without_state(each) for kind in _KEPT for each in by_kind[kind] if _is_kept(each)
        ],
        "topology": _topology(by_kind, cloud),
        "priorities": _priorities(by_kind),
    }
    document = {
        "apiVersion": "ptcompile/v1",
        "kind": "ClusterProfile",
        "metadata": {"name": "cluster"},
        "spec": without_falsy(spec),
    }

    unknown_pools = _unknown_pools(spec, by_kind, nodes, is_shared=bool(shared))
    return ProfileDraft(document, (*unknown, *unknown_pools, *unknown_queues, *_NOT_SHOWN))


def _unknown_pools(
    spec: JsonDict, by_kind: ObjectsByKind, nodes: Sequence[Json], *, is_shared: bool
) -> Iterator[str]:
    """Yield what the dump does not show of the nodes and GPUs of a profile's spec."""
    if spec["otherPools"] and spec["nodePools"]:
        yield "nodePools: pools without a node now, except Karpenter's"
    if is_shared:
        yield "gpu.sharing: which nodes share their GPUs, unless their labels tell"
    policies = by_kind.get("ClusterPolicy", ())
    if any(nested_value(policy, "spec", "mig", "strategy") == "single" for policy in policies):
        yield "gpu: where GPUs are cut by MIG, nvidia.com/gpu counts the slices (strategy single)"
    if spec["platform"] == "gke-autopilot":
        yield "nodePools: Autopilot makes nodes for what pods request"
    elif nodes:
        yield (
            "nodePools.*.count: the maximum of an autoscaler; it is the number of nodes in the dump"
        )
    else:
        yield "nodePools: the dump has no nodes"


def _cluster_domain(config_maps: Sequence[Json]) -> str | None:
    """Return the domain for which CoreDNS answers, unless it is the default."""
    from re import search

    for config_map in config_maps:
        text = nested_string(config_map, "data", "Corefile")
        if match := search(r"(?m)^\s*kubernetes\s+(?P<domain>[a-z0-9.-]+)", text):
            name = match["domain"].removesuffix(".")
            if name == default_cluster().spec.cluster_domain:
                return None
            return name

    return None


def _shared_gpus(by_kind: ObjectsByKind) -> JsonDict:
    """Return how pods share GPUs by the device plugin's ConfigMap, of which the ClusterPolicy
    may name the default.
    """
    policies = by_kind.get("ClusterPolicy", ())
    defaults = {
        nested_value(each, "spec", "devicePlugin", "config", "default") for each in policies
    } - {None, ""}
    for config in plugin_configs(by_kind.get("ConfigMap", ())):
        shares = config.shares.get("nvidia.com/gpu")
        if shares is not None and (config.key in defaults or not defaults):
            return {"sharing": {"strategy": shares.strategy, "refusesSeveral": shares.is_refused}}
    return {}


def _controller_containers(by_kind: ObjectsByKind) -> Iterator[Json]:
    for kind in sorted(_CONTROLLERS):
        for manifest in by_kind.get(kind, ()):
            pod = manifest if kind == "Pod" else nested_map(manifest, "spec", "template")
            yield from nested_maps(pod, "spec", "containers")


def _versions(
    containers: Sequence[Json], nodes: Sequence[Json]
) -> tuple[dict[str, Version], list[str]]:
    """Return the releases by field of `versions`, and a sentence on each field that stays
    uncertain.
    """
    releases: dict[str, Version] = {}
    unknown: dict[str, str] = {}
    for container in containers:
        image = nested_string(container, "image")
        field = _software_of(image)
        if field is not None:
            release = _tag_release(image)
            if release is None:
                unknown[field] = (
                    f"versions.{yaml_name(field)}: its image {image[:120]!r} does not name a "
                    "release"
                )
            else:
                releases[field] = max(release, releases.get(field, release))

    if "kubernetes" not in releases and (kubelet := kubelet_release(nodes)) is not None:
        releases["kubernetes"] = kubelet
        unknown["kubernetes"] = (
            "versions.kubernetes: it is that of the newest kubelet; the API server may be newer"
        )
    elif "kubernetes" not in releases:
        unknown["kubernetes"] = (
            "versions.kubernetes: the dump has neither nodes nor the pods of the API server"
        )

    lines = [
        line for field, line in unknown.items() if field not in releases or field == "kubernetes"
    ]

    return {yaml_name(field): releases[field] for field in sorted(releases)}, lines


def _software_of(image: str) -> str | None:
    """Return the field of `versions` for the image of an operator or of kube-apiserver, or None
    for another image.
    """
    repository, _ = split_image(f"/{image}")
    for operator in OPERATORS:
        if any(repository.endswith(f"/{name}") for name in operator.install.images):
            return operator.release
    if repository.endswith("/k8s-device-plugin"):
        return "device_plugin"
    return None


def _tag_release(image: str) -> Version | None:
    name, _, _ = image.partition("@")
    _, tag = split_image(name)
    try:
        return parse_version(tag)
    except ValueError:
        return None


def _flag_values(container: Json, flag: str) -> Iterator[str]:
    """Yield the values of a flag in the command line of a container."""
    words = [*nested_strings(container, "command"), *nested_strings(container, "args")]
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, equals, value = word.partition("=")
        if name.lstrip("-") == flag and name.startswith("-"):
            yield value if equals else following


def _feature_gates(containers: Iterable[Json]) -> JsonDict:
    """Return the gates that kube-apiserver and the operators are started with, for software with
    gates in a profile.
    """
    software = set(vars(default_cluster().spec.feature_gates))
    gates: defaultdict[str, dict[str, bool]] = defaultdict(dict)
    for container in containers:
        field = _software_of(nested_string(container, "image"))
        if field not in software:
            continue

        for value in _flag_values(container, "feature-gates"):
            for pair in value.split(","):
                gate, _, switch = pair.strip().partition("=")
                if gate and switch.lower() in {"true", "false"}:
                    gates[str(field)][gate] = switch.lower() == "true"

    return dict(gates)


def _gang_scheduler(containers: Iterable[Json], queue_settings: JsonDict) -> JsonDict:
    """Return the gang scheduler that an operator is started with, unless the queue system
    implies it.
    """
    if queue_settings.get("queueSystem") in BY_GANG_SCHEDULER:
        return {}

    names = {
        operator.gangs().scheduler_name or name: name
        for name, operator in BY_GANG_SCHEDULER.items()
    }
    values = (
        value
        for container in containers
        for value in _flag_values(container, "gang-scheduler-name")
    )

    return next(({"gangScheduler": names[value]} for value in values if value in names), {})


def _queue_settings(by_kind: ObjectsByKind) -> tuple[JsonDict, list[str]]:
    """Return the profile's fields on queues, and what stays open: which of several queues is the
    default.
    """
    systems: dict[str, list[str]] = {}
    for name, operator in BY_QUEUE_SYSTEM.items():
        system = operator.queues()
        kind = (api_group(system.api(Versions())), system.kind)
        names = {
            object_name(each)
            for each in by_kind.get(system.kind, ())
            if group_and_kind(each) == kind
        }
        if queues := sorted(names - system.built_in_queues - {""}):
            systems[name] = queues

    if not systems:
        return {}, []

    usual = default_cluster().spec.queue_system
    name = usual if usual in systems else next(iter(systems))
    settings: JsonDict = {"queueSystem": name}
    fields = BY_QUEUE_SYSTEM[name].queues().profile_fields
    if fields is not None:
        settings |= fields(by_kind)

    unknown: list[str] = []
    if len(systems) > 1:
        unknown.append(f"queueSystem: {' and '.join(systems)} have queues; this is one of them")
    match systems[name]:
        case [queue]:
            settings["defaults"] = {"queue": queue}
        case queues:
            more = ", ..." if len(queues) > 20 else ""
            unknown.append(f"defaults.queue: one of {', '.join(queues[:20])}{more}")

    return settings, unknown


def _is_kept(manifest: Json) -> bool:
    """Return whether an object decides on jobs: not a built-in class, and not a namespace that
    nothing marks.
    """
    kind = kind_of(manifest).name
    name = object_name(manifest)
    if kind == "Namespace":
        labels = nested_string_map(manifest, "metadata", "labels")
        return not name.startswith(_BUILT_IN_NAMESPACES) and labels.keys() > {_NAME_LABEL}
    return bool(name) and not (kind == "PriorityClass" and name.startswith(_BUILT_IN_CLASSES))


def _without_state(manifest: Json) -> JsonDict:
    """Return an object as a file would have it: name, namespace and labels, and its fields
    without the status.
    """
    api_version, kind = kind_of(manifest)
    written = nested_map(manifest, "metadata")
    metadata: JsonDict = {"name": object_name(manifest)}
    if namespace := nested_string(written, "namespace"):
        metadata["namespace"] = namespace
    if labels := nested_string_map(written, "labels"):
        metadata["labels"] = labels

    fields = {
        key: value
        for key, value in manifest.items()
        if key not in _NO_STATE and value not in (None, {}, [])
    }
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def _topology(by_kind: ObjectsByKind, cloud: str | None) -> JsonDict:
    """Return the levels of Topology objects and of HyperNodes that no built-in level of the
    cloud has.
    """
    built_in = {label: name for name, label in levels_of(cloud).items()}
    levels: JsonDict = {}
    for topology in by_kind.get("Topology", ()):
        for level in nested_maps(topology, "spec", "levels"):
            label = nested_string(level, "nodeLabel")
            if label and label not in built_in:
                _, _, name = label.rpartition("/")
                levels[name.removeprefix("topology-") or label] = {"nodeLabel": label}

    tiers = {nested_int(node, "spec", "tier", default=-1) for node in by_kind.get("HyperNode", ())}
    levels |= {f"tier-{tier}": {"tier": tier} for tier in sorted(tiers) if tier >= 0}

    return {"levels": levels} if levels else {}


def _priorities(by_kind: ObjectsByKind) -> dict[str, int]:
    classes = [*by_kind.get("WorkloadPriorityClass", ()), *by_kind.get("PriorityClass", ())]
    values = {object_name(each): nested_int(each, "value") for each in classes if _is_kept(each)}
    return dict(sorted(values.items(), key=itemgetter(0)))
