"""Gloo takes interface names, not patterns.

PTC436 gloo-interface-pattern: warning at run (fails), by ptcompile.
Needs: gloo

What: GLOO_SOCKET_IFNAME begins with ^ or =, as NCCL_SOCKET_IFNAME may.

Why: NCCL reads ^lo as any interface but lo. Gloo looks for an interface with exactly this name, and
ends with "Unable to find address for" it.

Example: jobset.yaml with

      - name: pytorch
        env:
    -     - {name: GLOO_SOCKET_IFNAME, value: ^lo}  # <--
    +     - {name: GLOO_SOCKET_IFNAME, value: eth0}
        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}

Fix: write the interface's name, or several with commas, or remove the variable.

Source: PyTorch 2.13, torch/csrc/distributed/c10d/ProcessGroupGloo.cpp; NCCL 2.27,
NCCL_SOCKET_IFNAME.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject, fix_setting, found_at


def check(subject: Subject) -> Findings:
    for entry in subject.variables:
        value = entry.text
        if entry.name == "GLOO_SOCKET_IFNAME" and value.startswith(("^", "=")):
            plain = value.removeprefix("=")
            exact = fix_setting(f"write {plain}", entry.value_path, plain, safe=True)
            yield found_at(
                entry.place,
                f"Gloo looks for an interface named {value!r}: it takes names, not patterns",
                "write the interface's name, such as eth0",
                exact if value.startswith("=") and plain else None,
            )
