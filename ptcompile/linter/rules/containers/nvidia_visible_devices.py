"""NVIDIA_VISIBLE_DEVICES is set by hand.

PTC113 nvidia-visible-devices: warning at run (risks), by kubelet.
Needs: nvidia visible

What: a container sets the variable to `all`, to a list of devices or, if it requests GPUs, to
`none` or `void`.

Why: the device plugin uses this variable to tell the container runtime which GPUs the container
gets, and the manifest's value wins. With `all`, or with indexes, the container takes GPUs that
belong to other pods; with `none` it sees none of its own.

Example: pod.yaml with

      - name: pytorch
    -   env:
    -     - name: NVIDIA_VISIBLE_DEVICES
    -       value: all  # <--
        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: leave the variable to the device plugin.

Source: NVIDIA device plugin 0.17 (device list strategy envvar) and NVIDIA container toolkit 1.17;
kubelet 1.36, a container's own env comes after a device plugin's.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_removing_variable, found_at

_VARIABLE = "NVIDIA_VISIBLE_DEVICES"


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        for entry in container.variables:
            if entry.name != _VARIABLE or entry.value is None or "$(" in entry.value:
                continue

            hides_all = entry.value in ("", "none", "void")
            if hides_all and not container.accelerators:
                # the usual way to hide GPUs from a container whose image requests all of them
                continue

            path = entry.value_path
            if hides_all:
                effect = "the container sees none of its GPUs"
            else:
                effect = "the container sees GPUs of other pods"

            yield found_at(
                path,
                f"{_VARIABLE}={entry.value} overrides what the device plugin sets: {effect}",
                "remove the variable",
                fix_removing_variable(entry),
            )
