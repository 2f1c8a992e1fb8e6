"""The backend of torch.distributed does not work with the pod's devices.

PTC465 nccl-without-gpu: warning at run (fails), by torchrun.
Needs: nccl/rccl/hccl/xccl/ccl/xla backend/init

What: an argument or a variable of the training container, or its shell script, selects nccl as the
backend of torch.distributed, and the pod requests no accelerator; or it selects that of other
devices than the pod requests.

Why: NCCL moves data only between GPUs. init_process_group, or the first collective, ends with
"ProcessGroupNCCL is only supported with GPUs, no GPUs found". Without GPUs the backend is gloo, on
Gaudi hccl, on Intel's GPUs xccl; ROCm's PyTorch calls RCCL nccl.

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

Fix: request GPUs, or use the backend of the devices.

Source: PyTorch 2.13, torch.distributed, ProcessGroupNCCL.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import Path
from ptcompile.kubernetes.unstructured import (
    Json,
    as_list,
    as_string,
    get,
    nested_maps,
    nested_string,
)
from ptcompile.linter.devices import may_see_devices, stack_of, stacks
from ptcompile.linter.rule import Findings, Subject, found_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.launchers.command import Invocation

_BACKEND_OPTIONS = (
    "backend",
    "dist-backend",
    "ddp-backend",
    "distributed-backend",
    "torch-backend",
    "process-group-backend",
)
"""Common names of a script's backend option, dashed; the rendezvous backend is something else."""


def check(subject: Subject) -> Findings:
    # the backends that need devices, with rccl, which ROCm's PyTorch calls nccl
    backends = frozenset({"rccl"}.union(*(stack.backends for stack in stacks())))
    for path, written, view, pod in subject.views():
        if view is not pod.main:
            continue

        stack = stack_of(pod.devices)
        wrong = backends.difference(stack.backends) if stack is not None else frozenset({"nccl"})
        if stack is None and may_see_devices(pod):
            continue

        backend_path = _backend_path(path, written, wrong) or _script_path(
            path, written, pod.launch, wrong
        )
        if backend_path is not None and stack is not None:
            yield found_at(
                backend_path,
                f"the backend of {stack.name} is {stack.backends[0]}, but another one is requested",
                f"write {stack.backends[0]}",
            )
        elif backend_path is not None:
            yield found_at(
                backend_path,
                "NCCL works between GPUs, but the pod requests none",
                "request GPUs in resources.limits, or use gloo",
            )


def _backend_path(path: Path, container: Json, wrong: frozenset[str]) -> Path | None:
    """Return the path of the argument or variable that requests one of these backends, or None."""
    for key in ("command", "args"):
        words = [as_string(word) for word in as_list(container.get(key))]
        for index, word in enumerate(words):
            name, equals, value = word.partition("=")
            next_word = words[index + 1] if index + 1 < len(words) else ""
            option_value = value if equals else next_word
            if name.startswith("-") and _is_backend_option(name) and option_value in wrong:
                return (*path, key, index if equals else index + 1)

    for index, entry in enumerate(nested_maps(container, "env")):
        if nested_string(entry, "value").lower() in wrong and _is_backend_option(
            nested_string(entry, "name").removeprefix("PL_")
        ):
            return (*path, "env", index)

    return None


def _script_path(
    path: Path, container: Json, launch: Invocation, wrong: frozenset[str]
) -> Path | None:
    """Return the path of the shell script that requests such a backend for the program it
    starts, or None.
    """
    if not launch.in_shell:
        return None

    script_path = next(
        (
            (*path, key, index)
            for key in ("command", "args")
            for index, word in enumerate(as_list(container.get(key)))
            if isinstance(word, str) and any(name in word.lower() for name in wrong)
        ),
        None,
    )
    words = {"args": [*launch.entry]}
    if script_path is None:  # the script may be in a ConfigMap
        if _backend_path((), words, wrong):
            return (*path, "command")
        return None

    call = _INIT_CALL.search(get(container, script_path[len(path) :]))
    if _backend_path((), words, wrong) or (call is not None and call["backend"] in wrong):
        return script_path
    return None


_INIT_CALL = Pattern(
    r"init_process_group\(\s{0,80}(?:backend\s{0,80}=\s{0,80})?[\"'](?P<backend>\w{1,16})[\"']"
)


def _is_backend_option(name: str) -> bool:
    return name.lstrip("-").lower().replace("_", "-") in _BACKEND_OPTIONS
