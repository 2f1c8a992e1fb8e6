"""The built-in accelerators: well-formed data with sources, and the resulting pod fields on each cloud."""

from __future__ import annotations

import re
import subprocess
import sys
from math import prod
from typing import Any, get_args

import pytest

from ptcompile import compile
from ptcompile.hardware import accelerators
from ptcompile.hardware.accelerators import ALIASES, ROWS
from ptcompile.hardware.nodes import ANYWHERE, VENDORS
from ptcompile.kubernetes import names
from ptcompile.kubernetes.resources import is_accelerator
from ptcompile.operators.targets import TARGETS
from ptcompile.spec import devices as hardware
from ptcompile.spec.cluster_profile import ProfileSpec
from tests import making
from tests.conftest import thinned

CLOUDS = (ANYWHERE, *get_args(get_args(ProfileSpec.model_fields["cloud"].annotation)[0]))
PLACES = [(name, cloud) for cloud in CLOUDS for name in accelerators.names(cloud)]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def test_every_row_has_nodes_on_a_cloud_of_its_vendor() -> None:
    assert set(CLOUDS) >= {cloud for row in ROWS.values() for cloud in row.nodes}
    for name, row in ROWS.items():
        assert row.nodes, name
        assert row.nodes.keys() <= VENDORS[row.vendor].dialects.keys(), name
        assert row.unavailable_slices.keys() <= row.nodes.keys(), name
        assert {
            slice_name for refused in row.unavailable_slices.values() for slice_name in refused
        } <= set(row.slices), name
        assert all(
            re.search(r"\(20\d\d", source) for cloud in row.nodes for source in row.sources(cloud)
        ), name
        assert len(set(row.slices)) == len(row.slices), name
        assert names.is_dns_label(name), name
    assert {ALIASES[alias] for alias in ALIASES} <= ROWS.keys()
    assert not ALIASES.keys() & ROWS.keys()


@pytest.mark.parametrize("cloud", CLOUDS)
def test_the_entries_of_a_cloud_are_well_formed(cloud: str) -> None:
    for name in accelerators.names(cloud, slices=True):
        _well_formed(name, cloud)


def _well_formed(name: str, cloud: str) -> None:
    entry = accelerators.find(name, cloud)
    assert entry is not None, name
    assert is_accelerator(entry.resource)
    assert names.is_qualified_name(entry.resource)
    for label, values in entry.labels.items():
        assert names.is_qualified_name(label)
        assert values
        assert all(value and names.is_label_value(value) for value in values)
    assert all(names.is_qualified_name(label) for label in entry.without)
    assert all(
        names.is_qualified_name(taint.key) and names.is_label_value(taint.value or "")
        for taint in entry.taints
    )
    assert entry.processes >= 1
    assert all("https://" in source or "device-plugin" in source for source in entry.sources)
    if entry.whole:
        assert entry.whole.devices > 0
        assert all(count > 0 for count in entry.whole.fabrics.values())


@pytest.mark.parametrize(("name", "cloud"), PLACES)
def test_every_accelerator_compiles_without_findings(name: str, cloud: str) -> None:
    """A TPU without its topology compiles, but GKE wants to know it."""
    profile = {
        "kind": "ClusterProfile",
        "apiVersion": "ptcompile/v1",
        "spec": {"cloud": cloud or None},
    }
    every = [
        machine for where in (cloud, *CLOUDS) for machine in accelerators.machines_of(name, where)
    ]
    most = every[0].devices if every else 8
    devices = {name: most, **{f"{name}/{part}": _chips(part) for part in ROWS[name].slices[:1]}}
    for device, count in devices.items():
        for target in thinned(TARGETS, 3, start=len(device)):
            nodes = 1 if target == "pod" else 2
            amounts = f"{{cpu: 16, memory: 32Gi, gpu: {count}}}"
            body = f"accelerator: {device}\nelastic: {{nnodes: {nodes}, nprocPerNode: auto}}\nresources: {amounts}"
            result = compile(making.smallest(body), target=target, cluster=profile)
            expected = (
                {"tpu-without-selectors"}
                if device.startswith("google-tpu") and "/" not in device
                else set()
            )
            assert {
                diagnostic.name
                for diagnostic in result.diagnostics
                if diagnostic.severity != "note"
            } <= expected, (device, target)
            assert result.manifests


def _chips(part: str) -> int:
    """Return the number of chips of a topology, or 1 for a GPU slice."""
    return prod(int(side) for side in part.split("x")) if "x" in part else 1


def pod(body: str, cloud: str | None) -> dict[str, Any]:
    made: dict[str, Any] = making.manifest(
        making.smallest(body), "pod", making.profile({"cloud": cloud, "gpu": {"tolerations": []}})
    )["spec"]
    return made


@pytest.mark.parametrize(
    ("name", "cloud", "resource", "expressions", "taint"),
    [
        # cloud.google.com/kubernetes-engine/docs/how-to/gpus: whole GPUs exclude partitioned nodes (gpus-multi)
        ("nvidia-a100-40gb", "gke", "nvidia.com/gpu",
         {"cloud.google.com/gke-accelerator": ["nvidia-tesla-a100"], "cloud.google.com/gke-gpu-partition-size": None},
         ("nvidia.com/gpu", "present")),
        ("nvidia-a100-40gb/1g.5gb", "gke", "nvidia.com/gpu",
         {"cloud.google.com/gke-accelerator": ["nvidia-tesla-a100"],
          "cloud.google.com/gke-gpu-partition-size": ["1g.5gb"]}, ("nvidia.com/gpu", "present")),
        # NVIDIA k8s-device-plugin, MIG strategy "mixed"
        ("nvidia-a100-40gb/1g.5gb", None, "nvidia.com/mig-1g.5gb",
         {"nvidia.com/gpu.product": ["NVIDIA-A100-SXM4-40GB", "NVIDIA-A100-PCIE-40GB"]}, ("nvidia.com/gpu", None)),
        ("nvidia-a100-80gb", "eks", "nvidia.com/gpu", {"node.kubernetes.io/instance-type": ["p4de.24xlarge"]},
         ("nvidia.com/gpu", None)),
        ("amd-mi300x", "aks", "amd.com/gpu",
         {"node.kubernetes.io/instance-type": ["Standard_ND96isr_MI300X_v5", "Standard_ND96is_MI300X_v5"]},
         ("sku", "gpu")),
        ("google-tpu-v6e/2x2", "gke", "google.com/tpu",
         {"cloud.google.com/gke-tpu-accelerator": ["tpu-v6e-slice"], "cloud.google.com/gke-tpu-topology": ["2x2"]},
         ("google.com/tpu", "present")),
        ("intel-gaudi3", None, "habana.ai/gaudi", {}, None),
        ("nvidia-tesla-t4", "gke", "nvidia.com/gpu", {"cloud.google.com/gke-accelerator": ["nvidia-tesla-t4"]},
         ("nvidia.com/gpu", "present")),  # GKE's name
    ],
)  # fmt: skip
def test_accelerator_and_cloud_decide_the_pod_fields(
    name: str,
    cloud: str | None,
    resource: str,
    expressions: dict[str, Any],
    taint: tuple[str, str | None] | None,
) -> None:
    count = 4 if name.startswith("google") else 1
    spec = pod(f"accelerator: {name}\nresources: {{cpu: 4, memory: 16Gi, gpu: {count}}}", cloud)
    assert spec["containers"][0]["resources"]["limits"] == {
        "cpu": "4",
        "memory": "16Gi",
        resource: str(count),
    }
    (term,) = (
        spec.get("affinity", {})
        .get("nodeAffinity", {})
        .get(REQUIRED, {"nodeSelectorTerms": [{}]})["nodeSelectorTerms"]
    )
    found = {
        expression["key"]: expression.get("values")
        for expression in term.get("matchExpressions", [])
    }
    assert found == expressions
    assert {
        expression["operator"]
        for expression in term.get("matchExpressions", [])
        if "values" not in expression
    } <= {"DoesNotExist"}
    ours = [
        (toleration["key"], toleration.get("value")) for toleration in spec.get("tolerations", [])
    ]
    assert ours == ([taint] if taint else [])


@pytest.mark.parametrize(
    ("name", "known"),
    [
        # xpk, generate_tpu_topologies: multiples of 4, in order, up to 140 cubes (v4: 64)
        ("google-tpu-v5p/4x4x12", True),
        ("google-tpu-v5p/8x8x12", True),
        ("google-tpu-v5p/12x12x12", True),
        ("google-tpu-v5p/16x20x28", True),  # 4*5*7 = 140
        ("google-tpu-v5p/16x24x24", False),  # 4*6*6 = 144
        ("google-tpu-v5p/12x4x4", False),
        ("google-tpu-v4/16x16x16", True),
        ("google-tpu-v4/16x16x20", False),
    ],
)
def test_only_topologies_of_a_torus_are_known(name: str, known: bool) -> None:
    assert (accelerators.find(name, "gke") is not None) is known


def test_the_profile_s_entry_overrides_the_built_in_one() -> None:
    own = making.profile(
        {"cloud": "gke", "accelerators": {"nvidia-h100": {"nodeLabels": {"card": "mine"}}}}
    )
    entry = hardware.accelerator(own, "nvidia-h100")
    assert entry is not None
    assert entry.node_labels == {"card": "mine"}
    assert hardware.gpu_resource(own, "nvidia-h100") == "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("name", "cloud", "message", "help"),
    [
        ("nvidia-h10", None, "nor built in", "did you mean nvidia-h100 or nvidia-h100-nvl?"),
        ("H200", None, "nor built in", "did you mean nvidia-h200?"),
        (
            "trainium",
            "eks",
            "nor built in",
            "did you mean aws-trainium1 or aws-trainium2 or aws-trainium3?",
        ),
        ("nvidia-h100/1g.10gbb", "eks", "has no slice", "use one of its slices: 1g.10gb"),
        (
            "nvidia-a100-40gb/1g.6gb",
            None,
            "has no slice '1g.6gb'",
            "use one of its slices: 1g.5gb, 1g.10gb",
        ),
        # container-engine-accelerators, pkg/gpu/nvidia/mig: an invalid partition size, and 7 parts of a card with 4
        (
            "nvidia-a100-80gb/4g.40gb",
            "gke",
            "has no slice '4g.40gb' on gke",
            "use one of its slices: 1g.10gb, 2g.20gb",
        ),
        (
            "nvidia-a100-40gb/1g.10gb",
            "gke",
            "has no slice '1g.10gb' on gke",
            "use one of its slices: 1g.5gb, 2g.10gb",
        ),
        (
            "nvidia-h100-nvl/1g.10gb",
            "aks",
            "has no slice '1g.10gb'",
            "use one of its slices: 1g.12gb",
        ),  # 94 GB
        (
            "google-tpu-v5p/4x4x6",
            "gke",
            "has no slice '4x4x6'",
            "use one of its slices: 2x2x1, 2x2x2",
        ),
        ("nvidia-t4/1g.5gb", None, "has no slice '1g.5gb'", "write nvidia-t4"),
        ("nvidia-t4/", "gke", "has no slice ''", "write nvidia-t4"),
        ("google-tpu-v5e", "eks", "'google-tpu-v5e' is not on eks", "it is available on gke"),
        (
            "nvidia-h100-mega",
            None,
            "only by a cloud's labels",
            "add spec.cloud to the profile: gke",
        ),
        (
            "intel-gaudi3",
            "aks",
            "'intel-gaudi3' is not on aks",
            "it is available on none of the clouds",
        ),
        ("cerebras", "aks", "nor built in", "use one of mine, nvidia-t4"),
    ],
)
def test_an_unknown_name_has_a_reason_and_a_help(
    name: str, cloud: str | None, message: str, help: str
) -> None:
    profile = making.profile({"cloud": cloud, "accelerators": {"mine": {"nodeLabels": {}}}})
    (problem,) = making.compiled(
        making.smallest(f"accelerator: {name}\nresources: {{gpu: 1}}"), None, profile
    ).problems
    assert (problem.name, problem.path) == ("spec-invalid-value", ("spec", "accelerator"))
    assert message in problem.message
    assert (problem.help or "").startswith(help)


def test_the_catalog_is_not_imported_unless_needed() -> None:
    code = (
        "import sys; from ptcompile import compile\n"
        f"compile({making.smallest('resources: {{gpu: 8}}')!r})\n"
        "heavy = {'accelerators', 'fabrics', 'rows', 'shapes'}\n"
        "print(heavy & {m.rpartition('ptcompile.hardware.')[2] for m in sys.modules})"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "set()\n"
    )
