"""Words that a spec knows in another place, or under another name: what to say when they are written here.

People write what they know from torchrun, Kubernetes and the operators. Asked only where a field is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from ptcompile.documents.schema_files import load
from ptcompile.findings.diagnostics import Path, field_path
from ptcompile.kubernetes import names
from ptcompile.typed import NamedTuple
from ptcompile.vocabulary.blocks import SPEC_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from ptcompile.vocabulary.blocks import Block

_CONTAINERS: Final = "podTemplate.spec.containers: [{name: pytorch, %s: ...}]"

WORDS: Final = {
    "initContainers": "they go into podTemplate.spec.initContainers",
    "containers": "image, command, args and env are the main container's; others go into podTemplate.spec.containers",
    "sidecars": "they go into podTemplate.spec.containers, or initContainers with restartPolicy: Always",
    "template": "what the spec cannot express goes into podTemplate: {metadata: ..., spec: ...}",
    "environment": "it is env, a mapping: NAME: value",
    "replicas": "write nodes: the number of pods that train",
    "completions": "write nodes: the number of pods that train",
    "parallelism": "write nodes: the number of pods that train",
    "numNodes": "write nodes: the number of pods that train",
    "numProcPerNode": "it is spec.elastic.nprocPerNode",
    "labels": "the objects' labels are metadata.labels, the pods' spec.podLabels",
    "annotations": "the objects' annotations are metadata.annotations, the pods' spec.podAnnotations",
    "valueFrom": "omit valueFrom: NAME: {secretKeyRef: {name: ..., key: ...}}",
    "value": "write the value itself: NAME: value",
}
"""Of other vocabularies: torchrun's, Kubernetes' and the operators'."""


_LAUNCH: Final = ("script", "module", "elastic")
"""What an auxiliary role has no counterpart of."""


class Place(NamedTuple):
    """Where a word belongs: in words, and as a path where its value is the same there."""

    help: str
    path: Path | None = None


def elsewhere(key: str, path: Path, block: Block, root: Block) -> Place | None:
    """Where a word belongs that the `block` at `path` does not know; None where it is unknown.

    `path` ends with the word; `root` is the document.
    """
    if key in WORDS and not (key in ("value", "valueFrom") and path[-3:-2] != ("env",)):
        return Place(WORDS[key].replace("NAME", str(path[-2])) if path[-3:-2] == ("env",) else WORDS[key])
    if path[:2] == ("spec", "roles") and key in _LAUNCH:
        return Place("write command: torchrun starts only the nodes of the job")
    found = _nearest(key, path, block, root)
    if found:
        return Place(f"it is {field_path(found)}", found)
    inside = _in_a_pod(key, path, root)
    return Place(inside) if inside else None


def slip(key: str, path: Path, block: Block, root: Block) -> str | None:
    """The same for a word that is nearly one of them."""
    near = names.suggest(key, _words(root))
    found = _nearest(near, path, block, root) if near else None
    return f"did you mean {field_path(found)}?" if found else None


def _nearest(key: str, path: Path, block: Block, root: Block) -> Path | None:
    """The place of a word that shares most with where it was written; of several the highest."""
    below = ((*path[:-1], *home) for home in _homes(block).get(_letters(key), ()))
    places = [home for home in (*below, *_homes(root).get(_letters(key), ())) if home[:-1] != path[:-1]]
    return min(places, key=lambda home: (-_shared(home, path), len(home)), default=None)


def _shared(home: Path, path: Path) -> int:
    pairs = zip(home[:-1], path[:-1], strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(home), len(path)) - 1)


@cache
def _homes(block: Block) -> Mapping[str, Sequence[Path]]:
    """The places of all fields below a block, by their letters."""
    found: dict[str, list[Path]] = {}
    for home in _fields(block, ()):
        found.setdefault(_letters(str(home[-1])), []).append(home)
    return found


@cache
def _words(root: Block) -> Sequence[str]:
    """The names of all fields of a document, each once."""
    return tuple(dict.fromkeys(str(home[-1]) for home in _fields(root, ())))


_OTHERS: Final = ("master", "worker", "runtimeRef")
"""Blocks whose words are the job's own, or another object's."""


def _fields(block: Block, path: Path) -> Iterator[Path]:
    """The places of all fields."""
    for name in block.fields:
        here = (*path, name)
        yield here
        inner = block.inside(name)
        if inner is not None and name not in _OTHERS:
            yield from _fields(inner, here)


def _in_a_pod(key: str, path: Path, root: Block) -> str | None:
    """For a field of Kubernetes' pods and containers that a spec has no word for."""
    if root.file != SPEC_FILE or path[:1] != ("spec",):
        return None
    core = load("kubernetes/core.json")["$defs"]
    if key in core["PodSpec"]["properties"]:
        return f"it goes into podTemplate.spec.{key}"
    return f"it goes into {_CONTAINERS % key}" if key in core["Container"]["properties"] else None


def same(name: str | None, other: str) -> bool:
    """Whether two names differ in letter case, `_` and `-` alone."""
    return name is not None and _letters(name) == _letters(other)


def _letters(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()
