"""A pod selects nodes by an accelerator that no node has.

PTC272 unknown-accelerator-label: warning at run (waits), by ptcompile.
Needs: accelerator/topology/product/instance

What: a nodeSelector or required affinity has a value of cloud.google.com/gke-accelerator,
gke-tpu-accelerator, gke-tpu-topology, nvidia.com/gpu.product or the instance type that no node has,
but that is close to one: another name of the same accelerator, or a misspelling. Values that
resemble none are not reported, since the cloud may offer newer ones.

Why: the scheduler compares the whole value. No node matches, no node pool is scaled up, and the
pods stay Pending.

Example: pod.yaml with

      spec:
        nodeSelector:
    -     cloud.google.com/gke-accelerator: nvidia-tesla-h100  # <--
    +     cloud.google.com/gke-accelerator: nvidia-h100-80gb
        containers:
          - name: pytorch
            resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: use the value that the nodes have (`kubectl get nodes -L cloud.google.com/gke-accelerator`).

Source: Google Cloud, GPU and TPU platforms of GKE (2026-08); NVIDIA k8s-device-plugin 0.17,
gpu-feature-discovery; machine types as of 2026-08.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, partial

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.spelling import nearest
from ptcompile.hardware.accelerators import ROWS
from ptcompile.hardware.machines import machines_by_name
from ptcompile.hardware.nodes import ANYWHERE
from ptcompile.kubernetes.pod_spec import pinned_values
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.world.templates import ManifestTemplate

_GPU = "cloud.google.com/gke-accelerator"
_TPU = "cloud.google.com/gke-tpu-accelerator"
_TOPOLOGY = "cloud.google.com/gke-tpu-topology"
_PRODUCT = "nvidia.com/gpu.product"
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"
_OTHER_VALUES = frozenset(
    {f"nvidia-tesla-{card}" for card in ("k80", "p4", "p100", "p4-vws", "p100-vws", "t4-vws")}
    | {"nvidia-l4-vws", "nvidia-rtx-pro-6000-vws"}
    | {"tpu-v3-device", "tpu-v3-slice", "tpu-v5-lite-device", "tpu-v6e-device"}
)
"""Values of GKE's two labels for accelerators that are not in the catalog."""
_is_bare_model = Pattern(r"(?i)(?:nvidia-?)?[a-z]{1,2}\d{1,3}[a-z]?").fullmatch


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for label, find in (
            (_GPU, partial(_gke_values, "nvidia")),
            (_TPU, partial(_gke_values, "tpu")),
            (_TOPOLOGY, partial(_topologies, template)),
            (_PRODUCT, _products),
            (_INSTANCE_TYPE, _instance_types),
        ):
            for path, values in pinned_values(template.spec, label):
                suggestions = [find(value) for value in values]
                if suggestions and all(suggestion is not None for suggestion in suggestions):
                    distinct = dict.fromkeys(name for names in suggestions for name in names or ())
                    if distinct:
                        help = f"did you mean {' or '.join([*distinct][:3])}?"
                    else:
                        help = "use a value that the nodes have"

                    yield found_at(
                        (*template.spec_path, *path), f"no node has {' or '.join(values)}", help
                    )


def _gke_values(vendor: str, value: str) -> Sequence[str] | None:
    """Return values of GKE's label for the accelerator meant, or None if the value may be right."""
    accepted = _label_values(vendor)
    if value in accepted or value in _OTHER_VALUES:
        return None
    if suggestions := _other_names(value, accepted):
        return suggestions
    if near := _intended_name(value, accepted):
        return (near,)
    # the list of Tesla names is closed
    return () if vendor == "nvidia" and value.startswith("nvidia-tesla-") else None


@cache
def _label_values(vendor: str) -> frozenset[str]:
    """Return the values of GKE's label for the accelerators of a vendor."""
    return frozenset(
        name for row in ROWS.values() if row.vendor == vendor for name in row.nodes.get("gke", ())
    )


def _other_names(value: str, accepted: frozenset[str]) -> Sequence[str] | None:
    """Return the label values of the accelerators that a product's name means, or None if it
    means none.
    """
    values = _values_of_product(value, "gke")
    return tuple(dict.fromkeys(name for name in values if name in accepted)) or None


def _values_of_product(product: str, cloud: str) -> tuple[str, ...]:
    """Return the values of a cloud's label for the accelerators that a product's name means."""
    from ptcompile.hardware.products import accelerators_named

    rows = [ROWS[name] for name in accelerators_named(product) if name in ROWS]
    return tuple(name for row in rows for name in row.nodes.get(cloud, ()))


def _topologies(template: ManifestTemplate, value: str) -> Sequence[str] | None:
    """Return the topologies of the selected TPU that the value may mean, or None if the value is
    one of them or the TPU is unknown.
    """
    selected = {name for _, names in pinned_values(template.spec, _TPU) for name in names}
    rows = [
        row
        for row in ROWS.values()
        if row.vendor == "tpu" and selected & set(row.nodes.get("gke", ()))
    ]
    topologies = {shape for row in rows for shape in row.slices}
    if not rows or value in topologies:
        return None

    ordered = "x".join(sorted(value.lower().split("x"), key=lambda side: (len(side), side)))
    return (ordered,) if ordered in topologies else ()


def _products(value: str) -> Sequence[str] | None:
    """Return the products that a bare model such as `A100` means; full names of other products
    may be right.
    """
    if not _is_bare_model(value):
        return None

    products = _values_of_product(value, ANYWHERE)
    return None if value in products else products or None


def _instance_types(value: str) -> Sequence[str] | None:
    names = machines_by_name()
    near = _intended_name(value, names) if value not in names else None
    return (near,) if near is not None else None


def _intended_name(value: str, names: Iterable[str]) -> str | None:
    """Return the name that a value misspells, or None.

    Names that differ in a number or in the first letter are different machines: g5 is not p5.
    """
    near = nearest(value, frozenset(name for name in names if name[:1] == value[:1]))
    digits = [sign for sign in value if sign.isdigit()]
    if near is not None and [sign for sign in near if sign.isdigit()] == digits:
        return near
    return None
