"""The command is a file of a ConfigMap or Secret that is not executable.

PTC315 script-not-executable: error at run (fails), by kubelet.
Needs: command configMap/secret/projected

What: a command starts a file in a mounted ConfigMap, Secret or projected volume, and neither
defaultMode nor the item's mode makes the file executable.

Why: such files have mode 0644 by default. The container does not start: "permission denied".

Example: gpu_pod.yaml with

      volumes:
        - name: scripts
    -     configMap: {name: train-scripts}
    +     configMap: {name: train-scripts, defaultMode: 0755}
      containers:
        - name: pytorch
          command: [/scripts/run.sh]  # <--
          resources: {limits: {cpu: 8, memory: 64Gi}}
          volumeMounts: [{name: scripts, mountPath: /scripts}]

Fix: set defaultMode to 0755, or start it with its interpreter: [bash, /scripts/run.sh].

Source: Kubernetes 1.36, modes of ConfigMap, Secret and projected volumes.
"""

from __future__ import annotations

from ptcompile.diagnostics import Edit, Fix
from ptcompile.kubernetes.unstructured import nested_string
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.simulator.mounted import mounted_path
from ptcompile.world.templates import ManifestContainer, ManifestTemplate

_READ_ONLY = 0o644
_EXECUTABLE = 0o755


def check(subject: Subject) -> Findings:
    for template in subject.templates:
        for container in template.containers:
            if (
                container.spec.get("command")
                and container.argv
                and container.written_tokens[0].startswith("/")
            ):
                yield from _check_command(template, container)


def _check_command(template: ManifestTemplate, container: ManifestContainer) -> Findings:
    path = container.written_tokens[0]
    file = mounted_path(template.spec, container.spec, path)
    if file is None or file.mode & 0o111:
        return

    name = nested_string(file.volume, "name")
    volume_path, _ = template.volumes[name]
    edit = Edit("set", (*volume_path, file.field, "defaultMode"), _EXECUTABLE)
    yield found_at(
        container.argv[0].path,
        f"{path} is a file of the volume {name} with mode {file.mode:04o}, which is not executable",
        "set the volume's defaultMode to 0755, or start the file with its interpreter",
        Fix("make the files executable", (edit,), safe=True) if file.mode == _READ_ONLY else None,
    )
