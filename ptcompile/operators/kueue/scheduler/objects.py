"""The objects that Kueue's scheduler reads: queues, cohorts, flavors, topologies, nodes and Kueue's
Configuration.

Source: Kueue 0.19, apis/kueue/v1beta2 and pkg/cache/scheduler. Amounts are whole numbers:
thousandths of cpu, and units of every other resource, rounded up, as Kueue counts them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.kinds.model import ObjectsByKind
from ptcompile.kubernetes import amounts, quantity
from ptcompile.kubernetes.nodes import NAME
from ptcompile.kubernetes.quantity import MILLI, NANO, Quantity
from ptcompile.kubernetes.resources import HUGE_PAGES, is_accelerator
from ptcompile.kubernetes.unstructured import (
    Json,
    as_string,
    namespace_of,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_strings,
    nested_value,
    object_name,
)
from ptcompile.operators.kueue.queues import ANY_FRAMEWORK, PREFIX, has_condition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.quantity import Format

FlavorResource = tuple[str, str]
"""A flavor and a resource, to which a quota applies."""

ResourceAmounts = Mapping[str, int]
"""Amounts by resource, as Kueue counts them."""

_CONFIGURATION_GROUP = "config.kueue.x-k8s.io/"
_CONFIGURATION_KEY = "controller_manager_config.yaml"
_MAX_LEVELS = 16
"""Levels of a topology, by its CustomResourceDefinition."""
_IN_UNITS_OF_1024 = ("memory", "ephemeral-storage")


class Quota(NamedTuple):
    """The quota of one resource in one flavor."""

    nominal: int
    borrowing: int | None
    """The most that the queue may borrow, or None without limit."""
    lending: int | None
    """The most that the queue lends, or None without limit."""


class ResourceGroup(NamedTuple):
    """Resources that get their flavors together."""

    resources: tuple[str, ...]
    flavors: tuple[str, ...]


class Flavor(NamedTuple):
    """A ResourceFlavor."""

    name: str
    labels: Mapping[str, str]
    taints: tuple[Json, ...]
    tolerations: tuple[Json, ...]
    topology: str
    """Name of its Topology, or an empty string."""


class QuotaHolder(NamedTuple):
    """A ClusterQueue or a Cohort."""

    name: str
    parent: str
    """Name of the cohort that it is a member of, or an empty string."""
    groups: tuple[ResourceGroup, ...]
    quotas: Mapping[FlavorResource, Quota]
    weight: float
    """Its weight in fair sharing."""
    spec: Json

    def group_of(self, resource: str) -> ResourceGroup | None:
        """Return the resource group that covers a resource, or None."""
        return next((group for group in self.groups if resource in group.resources), None)


class Transformation(NamedTuple):
    """What Kueue counts in place of a resource, or in addition."""

    outputs: Mapping[str, Quantity]
    is_kept: bool
    multiplied_by: str


class Configuration(NamedTuple):
    """The settings of Kueue's manager that decide what is admitted."""

    fair_sharing: bool = False
    strategies: tuple[str, ...] = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")
    excluded: tuple[str, ...] = ()
    """Prefixes of resources that are not counted."""
    transformations: Mapping[str, Transformation] = {}
    frameworks: tuple[str, ...] = ()
    ignores_undeclared: bool = False
    """Whether resources that the queue does not cover are not counted."""
    is_known: bool = True
    """Whether these settings are written, or are the defaults of a cluster whose objects are all
    known.
    """

    def may_ignore(self, resource: str) -> bool:
        """Return whether Kueue may leave a resource that no quota covers uncounted. Unknown settings
        may exclude or replace any resource of an extension, except whole devices.
        """
        if self.ignores_undeclared or self.is_known:
            return self.ignores_undeclared

        is_whole_device = is_accelerator(resource) and "/mig-" not in resource
        return resource.startswith(HUGE_PAGES) or ("/" in resource and not is_whole_device)


class Host(NamedTuple):
    """A node to which pods can be scheduled, read once for all flavors."""

    name: str
    labels: Mapping[str, str]
    """Its labels and its name, as `matchFields` calls it."""
    taints: tuple[Json, ...]
    capacity: ResourceAmounts


class Cluster(NamedTuple):
    """The objects of a cluster that decide what is admitted."""

    queues: Mapping[str, QuotaHolder]
    cohorts: Mapping[str, QuotaHolder]
    local_queues: Mapping[tuple[str, str], Json]
    flavors: Mapping[str, Flavor]
    topologies: Mapping[str, tuple[str, ...]]
    """Levels from the top by the name of the Topology."""
    checks: Mapping[str, Json]
    hosts: Sequence[Host]
    """The nodes that take pods, or empty if there is no Topology to place pods in."""
    pods: Sequence[Json]
    namespaces: Mapping[str, Mapping[str, str]]
    """Labels by the name of the Namespace."""
    configuration: Configuration
    is_complete: bool = True
    """Whether these are all objects of the cluster, so that what is absent does not exist."""
    places_pods: bool = True
    """Whether the nodes are known, so that pods can be placed in a topology."""


def amount_of(resource: str, amount: Quantity | None) -> int:
    """Return an amount as Kueue counts it; what cannot be parsed is 0."""
    if amount is None:
        return 0
    unit = MILLI if resource == "cpu" else NANO
    return -(-amount.nano // unit)


def amounts_of(amounts: Mapping[str, Quantity]) -> dict[str, int]:
    """Return all amounts as Kueue counts them."""
    return {name: amount_of(name, amount) for name, amount in amounts.items()}


def as_text(resource: str, amount: int) -> str:
    """Return an amount as Kueue prints it."""
    return str(as_quantity(resource, amount))


def as_quantity(resource: str, amount: int) -> Quantity:
    """Return an amount that Kueue counts as a quantity."""
    is_binary = resource in _IN_UNITS_OF_1024 or resource.startswith(HUGE_PAGES)
    style: Format = "binary" if is_binary else "decimal"
    return Quantity(amount * (MILLI if resource == "cpu" else NANO), style)


def read_cluster(objects: Iterable[Json], *, is_complete: bool = True) -> Cluster:
    """Return the objects of a cluster that decide what is admitted. Accepts any data; never
    raises.
    """
    by_kind: dict[str, list[Json]] = {}
    for manifest in objects:
        version = nested_string(manifest, "apiVersion")
        kind = str(manifest.get("kind"))
        is_kueue = version.startswith((PREFIX, _CONFIGURATION_GROUP))
        if is_kueue or (version, kind) in _READ_KINDS:
            by_kind.setdefault(kind, []).append(manifest)

    topologies: dict[str, tuple[str, ...]] = {}
    for topology in by_kind.get("Topology", ()):
        levels = nested_maps(topology, "spec", "levels")[:_MAX_LEVELS]
        topologies[object_name(topology)] = tuple(
            nested_string(level, "nodeLabel") for level in levels
        )

    # without a topology no pod is placed, so the nodes are not needed
    nodes = by_kind.get("Node", ()) if topologies else ()
    local_queues = by_kind.get("LocalQueue", ())
    flavors = by_kind.get("ResourceFlavor", ())

    return Cluster(
        queues={item.name: item for item in map(read_quotas, by_kind.get("ClusterQueue", ()))},
        cohorts={item.name: item for item in map(read_quotas, by_kind.get("Cohort", ()))},
        local_queues={(namespace_of(item), object_name(item)): item for item in local_queues},
        flavors={object_name(item): _read_flavor(item) for item in flavors},
        topologies=topologies,
        checks={object_name(item): item for item in by_kind.get("AdmissionCheck", ())},
        hosts=[_read_host(node) for node in nodes if _is_usable(node)],
        pods=by_kind.get("Pod", ()),
        namespaces={
            object_name(item): nested_string_map(item, "metadata", "labels")
            for item in by_kind.get("Namespace", ())
        },
        configuration=_read_configuration(by_kind, is_complete=is_complete),
        is_complete=is_complete,
        places_pods=is_complete or "Node" in by_kind,
    )


def _read_host(node: Json) -> Host:
    name = object_name(node)
    return Host(
        name=name,
        labels={**nested_string_map(node, "metadata", "labels"), NAME: name},
        taints=tuple(nested_maps(node, "spec", "taints")),
        capacity=amounts_of(amounts.quantities_of(nested_map(node, "status"), "allocatable")),
    )


def _is_usable(node: Json) -> bool:
    """Return whether pods can be scheduled to a node: it is ready and not cordoned."""
    is_cordoned = nested_value(node, "spec", "unschedulable") is True
    return has_condition(node, "Ready") and not is_cordoned


_READ_KINDS = {("v1", kind) for kind in ("Node", "Pod", "Namespace", "ConfigMap")}


def read_quotas(manifest: Json) -> QuotaHolder:
    """Return the quotas of a ClusterQueue or Cohort."""
    spec = nested_map(manifest, "spec")
    groups: list[ResourceGroup] = []
    quotas: dict[FlavorResource, Quota] = {}
    for group in nested_maps(spec, "resourceGroups"):
        flavors = []
        for flavor in nested_maps(group, "flavors"):
            flavors.append(nested_string(flavor, "name"))
            for resource in nested_maps(flavor, "resources"):
                name = nested_string(resource, "name")
                quotas[flavors[-1], name] = Quota(
                    amount_of(name, quantity.parse(resource.get("nominalQuota"))),
                    _limit(name, resource.get("borrowingLimit")),
                    _limit(name, resource.get("lendingLimit")),
                )

        groups.append(
            ResourceGroup(tuple(nested_strings(group, "coveredResources")), tuple(flavors))
        )

    parent = (
        spec.get("cohortName") or spec.get("cohort") or spec.get("parentName") or spec.get("parent")
    )
    weight = quantity.parse(nested_value(spec, "fairSharing", "weight"))

    return QuotaHolder(
        object_name(manifest),
        as_string(parent),
        tuple(groups),
        quotas,
        1.0 if weight is None else weight.nano / NANO,
        spec,
    )


def _limit(resource: str, value: Any) -> int | None:
    parsed = quantity.parse(value)
    return None if parsed is None else amount_of(resource, parsed)


def _read_flavor(manifest: Json) -> Flavor:
    spec = nested_map(manifest, "spec")
    return Flavor(
        object_name(manifest),
        nested_string_map(spec, "nodeLabels"),
        tuple(nested_maps(spec, "nodeTaints")),
        tuple(nested_maps(spec, "tolerations")),
        nested_string(spec, "topologyName"),
    )


def _read_configuration(by_kind: ObjectsByKind, *, is_complete: bool) -> Configuration:
    """Return the settings of a Configuration, or of the ConfigMap that holds it, or the default
    ones.
    """
    config_maps = by_kind.get("ConfigMap", ())
    configurations = [*by_kind.get("Configuration", ()), *_configurations_in(config_maps)]
    if not configurations:
        return Configuration(is_known=is_complete)

    configuration, *_ = configurations
    resources = nested_map(configuration, "resources")
    fair = configuration.get("fairSharing")
    sharing = nested_map(configuration, "fairSharing")
    is_fair = isinstance(fair, Mapping) and sharing.get("enable") is not False
    strategies = tuple(nested_strings(sharing, "preemptionStrategies"))

    transformations: dict[str, Transformation] = {}
    for item in nested_maps(resources, "transformations"):
        transformations[nested_string(item, "input")] = Transformation(
            amounts.quantities_of(item, "outputs"),
            item.get("strategy") != "Replace",
            nested_string(item, "multiplyBy"),
        )

    return Configuration(
        is_fair,
        strategies or Configuration().strategies,
        tuple(nested_strings(resources, "excludeResourcePrefixes")),
        transformations,
        tuple(_frameworks(nested_map(configuration, "integrations"))),
        resources.get("quotaCheckStrategy") == "IgnoreUndeclared",
    )


def _frameworks(integrations: Json) -> Iterator[str]:
    """Yield the kinds that Kueue manages, as `group/kind`, or `ANY_FRAMEWORK` for an excerpt
    without a list; those of other controllers are written `Kind.v1.group`.
    """
    yield from nested_strings(integrations, "frameworks") or [ANY_FRAMEWORK]
    for name in nested_strings(integrations, "externalFrameworks"):
        kind, _, rest = name.partition(".")
        yield f"{rest.partition('.')[2]}/{kind.lower()}"


def _configurations_in(config_maps: Sequence[Json]) -> Iterator[Json]:
    """Yield the Configurations that ConfigMaps hold as text."""
    from ptcompile.source.documents import read

    for config_map in config_maps:
        text = nested_value(config_map, "data", _CONFIGURATION_KEY)
        if not isinstance(text, str):
            continue
        for document in read(text).documents:
            if document.data.get("kind") == "Configuration":
                yield document.data


def priority_value(manifest: Json) -> int:
    """Return the value of a priority class."""
    return nested_int(manifest, "value")
