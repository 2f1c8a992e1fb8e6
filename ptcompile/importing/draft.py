"""A reading of an object as a spec: complete and explicit; `shrink` makes it small."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ptcompile.diffing.normal import SERVERS_OWN
from ptcompile.operators.common.read import Pods, Read, given
from ptcompile.operators.common.read_template import pod_words
from ptcompile.plain import Json, at, text

Spec = dict[str, Any]
"""A TrainingJob as plain data."""

_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_OF_THE_JOB = ("sharedMemory",)
"""Words that a role has not."""
_INHERITED_NOT = frozenset({"command", "args", "resources", "restartPolicy", "podTemplate"})
"""Words of the job that are not those of the roles beside the trainers."""


def draft(manifest: Json, read: Read, gpu: str) -> Spec:
    """The spec that says all that was read. `gpu` is what the profile calls a GPU."""
    metadata = at(manifest, "metadata")
    annotations = {k: v for k, v in at(metadata, "annotations").items() if k != _LAST_APPLIED}
    name = text(metadata.get("name")) or text(metadata.get("generateName")).rstrip("-.")
    head = {"name": name, "namespace": metadata.get("namespace"), "labels": metadata.get("labels")}
    spec: Spec = {"target": read.target, **_pods(read, gpu)}
    for word, value in read.words.items():
        own = spec.get(word)
        spec[word] = {**own, **value} if isinstance(own, Mapping) and isinstance(value, Mapping) else value
    spec = {word: value for word, value in spec.items() if value != {} or word in {"master", "worker"}}
    return {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": given({**head, "annotations": annotations}),
        "spec": spec,
    }


def other_metadata(manifest: Json) -> list[str]:
    """What the object's metadata has that neither a spec says nor a server writes."""
    known = {"name", "namespace", "labels", "annotations", *SERVERS_OWN}
    return [key for key in at(manifest, "metadata") if key not in known]


def _pods(read: Read, gpu: str) -> Spec:
    trainers = [pods for pods in read.pods if pods.trains]
    blocks = [pod_words(pods, gpu) for pods in trainers]
    beside = [(pods, pod_words(pods, gpu)) for pods in read.pods if not pods.trains]
    shared = [block.get("sharedMemory", True) for block in (*blocks, *(words for _, words in beside))]
    if any(one != shared[0] for one in shared) and read.pods:  # then no word of the job's says it
        blocks = [pod_words(pods, gpu, shm=False) for pods in trainers]
        beside = [(pods, pod_words(pods, gpu, shm=False)) for pods in read.pods if not pods.trains]
    job = _common(blocks)
    out = dict(job)
    for pods, block in zip(trainers, blocks, strict=True) if len(trainers) > 1 else ():
        own = {word: value for word, value in block.items() if job.get(word) != value}
        out[pods.role] = {**_replicas(pods), **own}
    if beside:
        out["roles"] = {pods.role: _beside(pods, words, job) for pods, words in beside}
    return out


def _replicas(pods: Pods) -> Spec:
    return {} if pods.role == "master" else {"replicas": pods.replicas}


def _common(blocks: list[Spec]) -> Spec:
    """The words that all roles say alike."""
    first, *others = blocks
    return {word: value for word, value in first.items() if all(one.get(word) == value for one in others)}


def _beside(pods: Pods, words: Spec, job: Spec) -> Spec:
    own = {
        word: value
        for word, value in words.items()
        if word not in _OF_THE_JOB and (word in _INHERITED_NOT or job.get(word) != value)
    }
    return {"replicas": pods.replicas, **own}
