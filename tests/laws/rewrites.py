"""Changes of a stream that no cluster sees: its namespace, the order of its objects, noise in its scripts."""

from __future__ import annotations

from ptcompile.apiserver.admission.request import ClusterState, is_namespaced
from ptcompile.kubernetes.unstructured import kind_of
from tests.laws.moves import inline_script
from tests.laws.worlds import Json, as_text, containers_of, namespace

_NAMESPACE = "some-team"

NOISE = {
    "comment": "# wait for the data, and if there is none, then read it: see . for more",
    "echo": 'echo "waiting for peers if they are late; then go on"',
    "set-e": "set -e",
    "wait-loop": "until [ -f /data/ready ]; do sleep 1; done",
    "sourced": ". /etc/profile.d/colors.sh",
    "echoed-launch": 'echo "torchrun --standalone --nnodes=9 other.py & sleep infinity" # torchrun other.py',
    "unused-function": "usage() { echo torchrun --nnodes=9; torchrun --standalone other.py; exit 1; }",
    "case": 'case "$1" in --help) exit 0 ;; esac',
    "trap": "trap 'echo interrupted' INT TERM",
    "guard": "if [ ! -d /tmp/scratch ]; then mkdir -p /tmp/scratch; fi",
}
"""By name, a line that changes nothing for the launcher in the lines after it."""


def namespace_added(objects: list[Json]) -> bool:
    """Write one namespace into each object, and return whether the stream had none at all."""
    if "namespace" in as_text(objects).lower() or ".default" in as_text(objects):
        return False
    return _set_namespace(objects, _NAMESPACE)


def namespace_removed(objects: list[Json]) -> bool:
    """Take the namespace away, and return whether all objects had the same one and nothing else names it."""
    names = {namespace(manifest) for manifest in _namespaced(objects)}
    if len(names) != 1 or names == {""}:
        return False
    (name,) = names
    _set_namespace(objects, "")
    return name not in as_text(objects) and "Namespace" not in {
        manifest["kind"] for manifest in objects
    }


def _set_namespace(objects: list[Json], name: str) -> bool:
    changed = False
    for manifest in _namespaced(objects):
        if isinstance(manifest.get("metadata"), dict):
            manifest["metadata"].pop("namespace", None)
            manifest["metadata"] |= {"namespace": name} if name else {}
            changed = True
    return changed


def _namespaced(objects: list[Json]) -> list[Json]:
    state = ClusterState(objects)
    return [manifest for manifest in objects if is_namespaced(kind_of(manifest), state)]


def noise_added(objects: list[Json], line: str) -> bool:
    """Write a line at the top of each shell script, and return whether there is one."""
    changed = False
    for manifest in objects:
        for container in containers_of(manifest):
            script = inline_script(container)
            if script is None or script[2].startswith("#!"):
                continue
            field = "args" if container.get("args") else "command"
            container[field][-1] = f"{line}\n{script[2]}"
            changed = True
    return changed
