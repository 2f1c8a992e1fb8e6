"""NCCL is requested, but the pod has no GPU.

What: an argument or a variable of the container that trains says nccl for the backend of torch.distributed, and the pod
requests no accelerator.

Why: NCCL moves data only between GPUs. init_process_group, or the first collective, ends with "ProcessGroupNCCL is
only supported with GPUs, no GPUs found". Without GPUs the backend is gloo.

Example:

      apiVersion: kubeflow.org/v1
      kind: PyTorchJob
      metadata: {name: train}
      spec:
        nprocPerNode: "1"
        runPolicy: {backoffLimit: 3, cleanPodPolicy: Running}
        pytorchReplicaSpecs:
          Master:
            replicas: 1
            restartPolicy: OnFailure
            template:
              spec:
                containers:
                  - name: pytorch
                    image: ghcr.io/acme/mnist:1.0
    -               args: [--backend, nccl]  # <--
    +               args: [--backend, gloo]
                    resources: {limits: {cpu: 8, memory: 64Gi}}

Fix: request GPUs, or use gloo.

Source: PyTorch 2.13, torch.distributed, ProcessGroupNCCL.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import as_mappings, as_string
from ptcompile.linter.devices import may_see_devices
from ptcompile.linter.rule import Finding, Rule, found_at
from ptcompile.linter.subject import Subject
from ptcompile.linter.workload import container_views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json

_OPTIONS = ("backend", "dist-backend", "ddp-backend", "distributed-backend", "torch-backend", "process-group-backend")
"""What scripts call the option, by its dashed name; the backend of a rendezvous is another."""


def _check(subject: Subject) -> Iterator[Finding]:
    for path, written, view, pod in container_views(subject):
        main = pod.main is not None and (view.name, view.init) == (pod.main.name, False)
        if not main or may_see_devices(pod):
            continue
        place = _asked(path, written) or (path if _asked(path, view.spec) else None)  # a TrainJob's runtime may ask too
        if place is not None:
            yield found_at(
                place,
                "NCCL works between GPUs, and the pod requests none",
                "request GPUs in resources.limits, or use gloo",
            )


def _asked(path: Path, container: Json) -> Path | None:
    """The word or the variable that asks for NCCL."""
    for key in ("command", "args"):
        words = container.get(key)
        words = [as_string(word) for word in words] if isinstance(words, list) else []
        for at, word in enumerate(words):
            name, equals, value = word.partition("=")
            said = value if equals else words[at + 1] if at + 1 < len(words) else ""
            if name.startswith("-") and _names(name) and said == "nccl":
                return (*path, key, at if equals else at + 1)
    for at, entry in enumerate(as_mappings(container.get("env"))):
        if as_string(entry.get("value")).lower() == "nccl" and _names(as_string(entry.get("name")).removeprefix("PL_")):
            return (*path, "env", at)
    return None


def _names(name: str) -> bool:
    return name.lstrip("-").lower().replace("_", "-") in _OPTIONS


RULE = Rule("nccl-without-gpu", _check, severity="warning", stage="run", authority="torchrun")
