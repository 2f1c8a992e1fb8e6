"""A variable hides the GPU driver from the container.

PTC120 driver-hidden: warning at run (fails), by kubelet.
Needs: driver/library {VENDORS}

What: a container with NVIDIA GPUs sets NVIDIA_DRIVER_CAPABILITIES to a list without compute; or, on
GKE's nodes, sets LD_LIBRARY_PATH without /usr/local/nvidia/lib64.

Why: the first tells the container runtime which of the driver's libraries the container gets. GKE
mounts them in that folder, which the variable of NVIDIA's images contains until the manifest
replaces it. Without libcuda, torch.cuda.is_available() is False.

Example: pod.yaml with

      - name: pytorch
        env:
          - name: NVIDIA_DRIVER_CAPABILITIES
    -       value: utility  # <--
    +       value: compute,utility
        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: add compute to the list, or the folder to the path.

Source: NVIDIA container toolkit 1.20, internal/config/image/capabilities.go; GKE, running GPUs in
Standard node pools (LD_LIBRARY_PATH); scverse/scvi-tools issue 3799.
"""

from __future__ import annotations

from ptcompile.kubernetes.unstructured import nested_string_map
from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at
from ptcompile.world.templates import ManifestContainer

_CAPABILITIES = "NVIDIA_DRIVER_CAPABILITIES"
_FOLDER = "/usr/local/nvidia/lib64"


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        is_gke = any(
            key.startswith("cloud.google.com/gke-")
            for key in nested_string_map(template.spec, "nodeSelector")
        )
        for container in template.containers:
            if any(str(name).startswith("nvidia.com/") for name in container.limits):
                yield from _hidden_by(container, is_gke)


def _hidden_by(container: ManifestContainer, is_gke: bool) -> Findings:
    """Yield the variables of a container that hide the driver."""
    for entry in container.variables:
        value = entry.text
        missing = "" if not value or "$" in value else _missing_part(entry.name, value, is_gke)
        if not missing:
            continue

        separator = "," if entry.name == _CAPABILITIES else ":"
        better = f"{value}{separator}{missing}"
        yield found_at(
            entry.value_path,
            f"without {missing} the processes find no libcuda, and so no GPU",
            f"write {better}",
            fix_setting(f"add {missing}", entry.value_path, better),
        )


def _missing_part(name: str, value: str, is_gke: bool) -> str:
    """Return what a variable's list lacks, or an empty string."""
    if name == _CAPABILITIES:
        words = {word.strip() for word in value.lower().split(",")}
        return "compute" if words.isdisjoint({"compute", "all"}) else ""
    if name == "LD_LIBRARY_PATH" and is_gke and _FOLDER not in value:
        return _FOLDER
    return ""
