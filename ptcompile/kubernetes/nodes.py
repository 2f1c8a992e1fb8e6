"""Which nodes take a pod: kube-scheduler's filters, in its order, over groups of nodes that are
alike.

A group is a node pool, or nodes that no filter can tell apart. What is unknown of it is assumed to
fit, so a refusal is certain as long as the group is what the cluster has.

Source: Kubernetes 1.36, pkg/scheduler/apis/config/v1/default_plugins.go and
pkg/scheduler/framework/plugins; k8s.io/component-helpers scheduling/corev1/nodeaffinity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes import amounts
from ptcompile.kubernetes.pod_spec import REQUIRED, request_path, terms_of
from ptcompile.kubernetes.quantity import NANO, Quantity
from ptcompile.kubernetes.selectors import meets, requirements_of, untolerated
from ptcompile.kubernetes.unstructured import (
    FieldPath,
    Json,
    nested_map,
    nested_maps,
    nested_string,
    nested_strings,
    nested_value,
)

NAME = "metadata.name"
"""The field of `matchFields`; groups have it among their labels."""
_AFFINITY: FieldPath = ("affinity", "nodeAffinity", REQUIRED)
_TOGETHER = ("affinity", "podAffinity", REQUIRED)
_SPREAD: FieldPath = ("topologySpreadConstraints",)
_MAX_LISTED = 4
"""How many names, values or reasons a sentence has at most."""
_HOST = "kubernetes.io/hostname"
"""A label that the kubelet gives every node."""
_CORDON = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def always(_name: str) -> bool:
    """Return True: any unlisted label may be there, and each unlisted resource is absent."""
    return True


def never(_name: str) -> bool:
    """Return False: no unlisted label is there, and no unlisted resource is known to be absent."""
    return False


class NodeGroup(NamedTuple):
    """Nodes that are alike, as far as anything is known of them."""

    names: tuple[str, ...]
    """Names of the nodes, or the name of the pool."""
    labels: Mapping[str, Sequence[str]]
    """The values that each label may have."""
    taints: Sequence[Json] = ()
    amounts: Mapping[str, int] = {}
    """What a node leaves to pods, in nano units, by resource name."""
    is_pool: bool = True
    is_cordoned: bool = False
    size: int | None = None
    """The most nodes that it may have; None if there is no limit."""
    requirements: Mapping[str, Sequence[Json]] = {}
    """What is known of other labels, by label."""
    is_open: Callable[[str], bool] = never
    """Whether a label that is not listed may have any value."""
    lacks: Callable[[str], bool] = never
    """Whether a resource that is not listed is absent."""
    limits: Mapping[str, int] = {}
    """The most that all its nodes together may have, in nano units, by resource name."""

    def available(self, resource: str) -> int | None:
        """Return the amount that a node leaves to pods, in nano units, or None if unknown."""
        return self.amounts.get(resource, 0 if self.lacks(resource) else None)

    def room(self, needs: Mapping[str, int], *, apart: bool = False) -> int | None:
        """Return how many pods with these requests fit at most, or None if that is unlimited.

        `needs` are nano units by resource name; `apart`: no node takes two of the pods.
        """
        whole = [
            self.limits[name] // amount for name, amount in needs.items() if name in self.limits
        ]
        on_node = [1] if apart else []
        for name, amount in needs.items():
            available = self.available(name)
            if available is not None:
                on_node.append(available // amount)

        if self.size is not None and on_node:
            whole.append(self.size * min(on_node))
        return min(whole, default=None)


class Refusal(NamedTuple):
    """Why a filter refuses a group."""

    verb: str
    text: str
    path: FieldPath
    """The field of the pod spec that decides, or the nearest one that is written."""
    help: str
    distance: float
    """How much has to change; the least is the easiest to change."""


class PodNeeds(NamedTuple):
    """What the filters ask of a pod."""

    spec: Json
    choices: Sequence[Sequence[Json]]
    """Alternative requirements on labels, each with those of nodeSelector; none if no node can
    match.
    """
    requests: Sequence[tuple[str, Quantity]]
    """Accelerators first, since they decide which nodes are possible."""
    places: Sequence[VolumePlace] = ()


class VolumePlace(NamedTuple):
    """Where a volume of a pod is."""

    path: FieldPath
    """Of the volume, in the pod spec."""
    label: str
    values: frozenset[str]
    """The values that a node's label has where the volume can be mounted."""


class Placement(NamedTuple):
    """Which groups take a pod, and what keeps it from the others."""

    pod: PodNeeds
    fitting: Sequence[NodeGroup]
    refused: Sequence[tuple[NodeGroup, Sequence[Refusal]]]
    """Each with all its refusals, in kube-scheduler's order."""

    @property
    def nearest(self) -> Refusal:
        """The first refusal of the group that is easiest to fit."""
        lists = (refusals for _, refusals in self.refused)
        first, *_ = min(lists, key=lambda refusals: (len(refusals), refusals[0].distance))
        return first

    def text(self) -> str:
        """Return how many nodes or pools fit, and each first reason with how many have it."""
        groups = [*self.fitting, *(group for group, _ in self.refused)]
        unit = "node pools" if any(group.is_pool for group in groups) else "nodes"
        names = [name for group in self.fitting for name in group.names]
        total = sum(len(group.names) for group in groups)
        text = f"{len(names)}/{total} {unit} fit"
        listed = ", ".join(names[:_MAX_LISTED])
        if len(names) > _MAX_LISTED:
            listed += ", ..."
        if listed:
            text += f" ({listed})"
        if self.refused:
            text += f": {', '.join(self._reasons())}"
        return text

    def _reasons(self) -> list[str]:
        counts: Counter[tuple[str, str]] = Counter()
        for group, (first, *_) in self.refused:
            counts[first.verb, first.text] += len(group.names)

        common = counts.most_common(_MAX_LISTED)
        reasons = [
            f"{count} {verb if count == 1 else _PLURALS[verb]} {text}"
            for (verb, text), count in common
        ]
        rest = counts.total() - sum(count for _, count in common)
        if rest:
            reasons.append(f"{rest} for other reasons")
        return reasons


def room_for(placements: Iterable[Placement], *, apart: bool = False) -> int | None:
    """Return how many pods of these placements fit at most in all nodes together, or None if
    unlimited.

    Each pod counts as the smallest of them, so the number is never too low. `apart`: no node takes
    two of them.
    """
    groups: dict[int, NodeGroup] = {}
    needs: dict[str, int] | None = None
    for placement in placements:
        groups |= {id(group): group for group in placement.fitting}
        requests = {name: amount.nano for name, amount in placement.pod.requests}
        if needs is None:
            needs = requests
        else:
            common = requests.keys() & needs.keys()
            needs = {name: min(requests[name], needs[name]) for name in common}

    rooms = [group.room(needs or {}, apart=apart) for group in groups.values()]
    known = [room for room in rooms if room is not None]

    return sum(known) if len(known) == len(rooms) else None


def room_by_domain(
    placement: Placement, label: str, *, skew: int | None = None, counts_tainted: bool = True
) -> int | None:
    """Return how many pods fit if the values of a node label each take a limited number of them, or
    None if that is unknown or unlimited.

    A value takes one pod or, with `skew`, that many more than the value with the least room. Nodes
    with taints that the pods do not tolerate have no room; `counts_tainted`: their values count.
    """
    needs = {name: amount.nano for name, amount in placement.pod.requests}
    rooms: Counter[str] = Counter()
    present: set[str] = set()
    for group in placement.fitting:
        room = group.room(needs)
        values = group.labels.get(label, ())
        if not values or room is None:
            return None
        rooms.update(dict.fromkeys(values, room))
        present.update(() if group.is_pool else values)

    if skew is None:
        return sum(min(1, room) for room in rooms.values())

    for group, refusals in placement.refused:
        is_domain = reaches(placement.pod.choices, group) and (
            counts_tainted or refusals[0].verb != "has"
        )
        present.update(() if group.is_pool or not is_domain else group.labels.get(label, ()))

    most = min((rooms[value] for value in present), default=max(rooms.values(), default=0)) + skew
    return sum(min(room, most) for room in rooms.values())


def fits(
    spec: Json,
    groups: Iterable[NodeGroup],
    more: amounts.Quantities | None = None,
    places: Sequence[VolumePlace] = (),
) -> Placement:
    """Return which groups take a pod with this spec, after admission. `more` are requests beyond
    those of the spec.

    The kubelet alone decides on a pod with `nodeName`, and starts it without devices that the node
    lacks.
    """
    pod = _read(spec, more or {})._replace(places=places)
    filters = KUBELET_FILTERS if spec.get("nodeName") else FILTERS
    answers = [
        (group, [*filter(None, (refuses(pod, group) for refuses in filters))]) for group in groups
    ]

    return Placement(
        pod=pod,
        fitting=[group for group, refusals in answers if not refusals],
        refused=[(group, refusals) for group, refusals in answers if refusals],
    )


def _read(spec: Json, more: amounts.Quantities) -> PodNeeds:
    """Return what a pod needs, accelerators first."""
    requests = amounts.add(amounts.pod_requests(spec), {**more, "pods": Quantity(NANO)})
    ordered = sorted(requests, key=lambda name: (not amounts.is_accelerator(name), name))
    needs = [(name, requests[name]) for name in ordered if requests[name]]
    return PodNeeds(spec, choices_of(spec), needs)


def choices_of(spec: Json) -> list[list[Json]]:
    """Return the alternative lists of requirements on a node's labels; none if no node can meet
    them.

    The terms of a required affinity are alternatives, and an empty term matches no node.
    """
    selector = spec.get("nodeSelector")
    if REQUIRED not in nested_map(spec, "affinity", "nodeAffinity"):
        return [requirements_of(selector)]
    terms = [
        requirements_of(None, term.get("matchExpressions"), term.get("matchFields"))
        for term in terms_of(spec)
    ]
    return [[*requirements_of(selector), *term] for term in terms if term]


def reaches(choices: Iterable[Sequence[Json]], group: NodeGroup) -> bool:
    """Return whether nodes of a group may have labels that meet one of the alternatives."""
    return any(
        all(may_meet(group, choice, requirement) for requirement in choice) for choice in choices
    )


def may_meet(group: NodeGroup, choice: Sequence[Json], requirement: Json) -> bool:
    """Return whether the label of a requirement may have a value that meets all requirements of
    a choice on it.
    """
    key = nested_string(requirement, "key")
    of_group = group.requirements.get(key, ())
    of_key = [*of_group, *(other for other in choice if other.get("key") == key)]
    values: Sequence[str] | None
    if key in group.labels:
        values = group.labels[key]
    elif of_group:
        listed = (
            nested_strings(other, "values") for other in of_key if other.get("operator") == "In"
        )
        values = next(listed, None)
    else:
        return group.is_open(key) or meets({}, requirement)

    return values is None or any(
        all(meets({key: value}, other) for other in of_key) for value in values
    )


def _node_unschedulable(pod: PodNeeds, group: NodeGroup) -> Refusal | None:
    if (
        not group.is_cordoned
        or untolerated([_CORDON], nested_maps(pod.spec, "tolerations")) is None
    ):
        return None
    return Refusal("is", "cordoned", (), f"uncordon {_names(group)} (`kubectl uncordon`)", 0)


def _taint_toleration(pod: PodNeeds, group: NodeGroup) -> Refusal | None:
    taint = untolerated(group.taints, nested_maps(pod.spec, "tolerations"))
    if taint is None:
        return None

    key, value, effect = (nested_string(taint, field) for field in ("key", "value", "effect"))
    shown = f"{key}={value}" if value else key
    text = f"the taint {shown}:{effect}"
    written = [(key,) for key in ("tolerations", "nodeSelector", "affinity") if pod.spec.get(key)]
    return Refusal("has", text, next(iter(written), ()), f"tolerate {text} ({_names(group)})", 1)


def _node_name(pod: PodNeeds, group: NodeGroup) -> Refusal | None:
    name = nested_string(pod.spec, "nodeName")
    if group.is_pool or name in group.names:
        return None

    return Refusal(
        "is",
        f"not {name}",
        ("nodeName",),
        "name a node of the cluster, or select it by its labels",
        5,
    )


def _node_affinity(pod: PodNeeds, group: NodeGroup) -> Refusal | None:
    if reaches(pod.choices, group):
        return None

    text = "what an empty term requires"
    path = _AFFINITY
    for choice in pod.choices[:1]:
        unmet = next(
            requirement for requirement in choice if not may_meet(group, choice, requirement)
        )
        text, path = _describe(unmet, pod.spec)

    return Refusal("lacks", text, path, f"require labels that the nodes have ({_names(group)})", 2)


def _describe(requirement: Json, spec: Json) -> tuple[str, FieldPath]:
    """Return a requirement as text, and its path in the pod spec."""
    key = nested_string(requirement, "key")
    value = nested_value(spec, "nodeSelector", key)
    if nested_strings(requirement, "values") == [value]:
        return f"the label {key}={value}", ("nodeSelector", key)
    return f"the label {requirement_text(requirement)}", _AFFINITY


def requirement_text(requirement: Json) -> str:
    """Return a requirement on a label as text, such as `zone NotIn [a, b]`."""
    values = nested_strings(requirement, "values")
    more = ", ..." if len(values) > _MAX_LISTED else ""
    listed = f" [{', '.join(values[:_MAX_LISTED])}{more}]" if values else ""
    return f"{nested_string(requirement, 'key')} {nested_string(requirement, 'operator')}{listed}"


def _names(group: NodeGroup) -> str:
    """Return the first names of a group."""
    return ", ".join(group.names[:_MAX_LISTED])


def _node_resources(pod: PodNeeds, group: NodeGroup) -> Refusal | None:
    for name, amount in pod.requests:
        available = group.available(name)
        if available is not None and available < amount.nano:
            are = "is" if amount.nano == NANO else "are"
            if available:
                most = Quantity(available, amount.format)
                text = f"{most} {name}, {amount} {are} requested"
                help = f"request at most {most} {name} in each pod ({_names(group)})"
            else:
                text = f"no {name}, {amount} {are} requested"
                help = f"use nodes with {name}"
            return Refusal(
                "has", text, request_path(pod.spec, name), help, 4 - available / amount.nano
            )

    if group.size == 0:
        return Refusal(
            "has", "no nodes and gets none", (), f"raise the limit of {_names(group)}", 3
        )

    return None


def _volume_binding(pod: PodNeeds, group: NodeGroup) -> Refusal | None:
    """Refuse nodes whose label says that they are elsewhere than a volume, or return None: nodes
    without the label may mount it.
    """
    for place in pod.places:
        values = group.labels.get(place.label, place.values)
        if place.values.isdisjoint(values):
            text = (
                f"the label {place.label}={', '.join(sorted(values)[:_MAX_LISTED])}, unlike a volume "
                "of the pod"
            )
            return Refusal(
                "has",
                text,
                place.path,
                "use nodes where the volume is, or storage of every zone",
                3,
            )

    return None


def _topology_labels(pod: PodNeeds, group: NodeGroup) -> Refusal | None:
    """Refuse nodes without the label by whose values a pod must be spread or join others, or
    return None.
    """
    constraints = nested_maps(pod.spec, "topologySpreadConstraints")
    needed = [
        (_SPREAD, item) for item in constraints if item.get("whenUnsatisfiable") == "DoNotSchedule"
    ]
    needed += [(_TOGETHER, term) for term in nested_maps(pod.spec, *_TOGETHER)]
    for path, item in needed:
        key = nested_string(item, "topologyKey")
        if key not in ("", _HOST) and not may_meet(group, (), {"key": key, "operator": "Exists"}):
            help = f"use a topologyKey that is a label of the nodes ({_names(group)})"
            return Refusal("lacks", f"the label {key}, a topologyKey of the pod", path, help, 3)

    return None


FILTERS = (
    _node_unschedulable,
    _taint_toleration,
    _node_affinity,
    _node_resources,
    _volume_binding,
    _topology_labels,
)
"""In kube-scheduler's order."""
KUBELET_FILTERS = (_node_name, _node_affinity)
"""Those by which a node keeps away a pod that names it."""
_PLURALS = {"is": "are", "has": "have", "lacks": "lack"}
