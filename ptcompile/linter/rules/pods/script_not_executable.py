"""The command is a file of a ConfigMap or Secret that is not executable.

What: a command starts a file in a mounted ConfigMap, Secret or projected volume, and neither defaultMode nor the item's
mode makes the file executable.

Why: such files have mode 0644 by default. The container does not start: "permission denied".

Example:

      apiVersion: v1
      kind: Pod
      metadata: {name: train}
      spec:
        restartPolicy: Never
        volumes:
          - name: scripts
    -       configMap: {name: train-scripts}
    +       configMap: {name: train-scripts, defaultMode: 0755}
        containers:
          - name: pytorch
            image: ghcr.io/acme/train:1.0
            command: [/scripts/run.sh]  # <--
            resources: {limits: {cpu: 8, memory: 64Gi}}
            volumeMounts: [{name: scripts, mountPath: /scripts}]

Fix: set defaultMode to 0755, or start it with its interpreter: [bash, /scripts/run.sh].

Source: Kubernetes 1.36, modes of ConfigMap, Secret and projected volumes.
"""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes.unstructured import as_int, as_mapping, as_mappings, as_string, nested_map
from ptcompile.linter.rule import Finding, Rule, Subject, found_at
from ptcompile.linter.volumes import mount_for, mount_path, volume_of
from ptcompile.world.templates import ManifestContainer, ManifestTemplate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.unstructured import Json

_SOURCES = ("configMap", "secret", "projected")
_READ_ONLY = 0o644
_EXECUTABLE = 0o755


def _check(subject: Subject) -> Iterator[Finding]:
    for template in subject.templates:
        for container in template.containers:
            if container.spec.get("command") and container.argv and container.argv[0].text.startswith("/"):
                yield from _check_command(template, container)


def _check_command(template: ManifestTemplate, container: ManifestContainer) -> Iterator[Finding]:
    word = container.argv[0]
    mount = mount_for(container, word.text)
    volume = volume_of(template, mount[1]) if mount is not None else None
    if mount is None or volume is None:
        return
    source = next((key for key in _SOURCES if nested_map(volume[1], key)), None)
    if source is None:
        return
    inside = as_string(mount[1].get("subPath")) or word.text.removeprefix(mount_path(mount[1])).lstrip("/")
    mode = _file_mode(nested_map(volume[1], source), inside)
    if mode & 0o111:
        return
    default: Path = (*volume[0], source, "defaultMode")
    yield found_at(
        word.path,
        f"{word.text} is a file of the volume {as_string(volume[1].get('name'))} with mode "
        f"{mode:04o}, which is not executable",
        "set the volume's defaultMode to 0755, or start the file with its interpreter",
        Fix("make the files executable", (Edit("set", default, _EXECUTABLE),), safe=True)
        if mode == _READ_ONLY
        else None,
    )


def _file_mode(source: Json, inside: str) -> int:
    """Return the mode of a file in the volume: that of its item, else the volume's default."""
    sources = [
        as_mapping(projection) for part in as_mappings(source.get("sources")) for projection in part.values()
    ] or [source]
    for group in sources:
        for item in as_mappings(group.get("items")):
            if as_string(item.get("path")) == inside and item.get("mode") is not None:
                return as_int(item.get("mode"))
    return as_int(source.get("defaultMode"), _READ_ONLY)


RULE = Rule("script-not-executable", _check, severity="error", stage="run", authority="kubelet")
