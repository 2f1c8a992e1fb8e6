"""An image is built for the devices of another vendor.

PTC122 image-for-other-devices: warning at run (fails), by ptcompile.
Needs: {VENDORS}

What: the name of a container's image says that it is for CUDA, ROCm, Intel's XPU, Gaudi, Ascend or
Neuron, or for CPUs only, and the container requests devices of another kind.

Why: PyTorch is built for one kind of devices. With another one, torch.cuda.is_available() is False,
or importing the vendor's module fails.

Example: pod.yaml with

    - image: pytorch/pytorch:2.7.1-cuda12.8-cudnn9-runtime  # <--
    + image: rocm/pytorch:rocm7.0_ubuntu24.04_py3.12_pytorch_release_2.7.1
      resources: {limits: {cpu: 8, memory: 64Gi, amd.com/gpu: 1}}

Fix: use an image for the devices that the container requests.

Source: the vendors' images of PyTorch: docs.nvidia.com/deeplearning/frameworks,
hub.docker.com/r/rocm/pytorch, docs.habana.ai, AWS Deep Learning Containers (2026).
"""

from __future__ import annotations

from ptcompile.linter.devices import stack_of, stack_of_image
from ptcompile.linter.rule import Findings, Subject, found_at


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        devices = stack_of(container.limits)
        if devices is None:
            continue
        built_for = stack_of_image(container.image)
        if built_for is None or built_for is devices:
            continue

        resource = next(name for name in container.limits if stack_of([name]) is devices)
        yield found_at(
            (*container.path, "image"),
            f"the image is built for {built_for.name}, but the container requests {resource}",
            f"use an image for {devices.name}",
        )
