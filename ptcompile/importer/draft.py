"""A manifest as a complete, explicit spec, with placeholders for images that are filled in elsewhere.

compile takes no placeholder, so the spec does not compile until the user writes the image.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile.diagnostics import Path, Problem, field_path
from ptcompile.importer.pod_template import pod_words
from ptcompile.ir import pods as pod_template
from ptcompile.kubernetes.images import is_placeholder
from ptcompile.kubernetes.unstructured import as_mappings, as_string, nested_map
from ptcompile.registry.reading import MAIN, Read, ReadRole, without_empty
from ptcompile.spec.pod_words import in_holder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.unstructured import Json

    SpecData = dict[str, Any]
    """A TrainingJob as plain data."""


_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_SHM = "sharedMemory"
"""A word that roles do not have."""
_IN_POD = {word: field for holder in ("spec", "metadata") for field, word in in_holder(holder).items()}
"""Words of the job that auxiliary roles inherit, by their fields of a pod template."""
_IN_MAIN = tuple(word for word in in_holder("main") if word not in {"image", "command", "args", "env", "resources"})
"""The same of the container that trains."""
_INHERITED_NOT = frozenset({"command", "args", "resources", "restartPolicy", "podTemplate"})
"""Words of the job that are not those of the auxiliary roles."""


def draft(manifest: Json, read: Read, gpu: str) -> SpecData:
    """The spec that says all that was read. `gpu` is what the profile calls a GPU."""
    metadata = nested_map(manifest, "metadata")
    annotations = {k: v for k, v in nested_map(metadata, "annotations").items() if k != _LAST_APPLIED}
    name = as_string(metadata.get("name")) or as_string(metadata.get("generateName")).rstrip("-.")
    head = {"name": name, "namespace": metadata.get("namespace"), "labels": metadata.get("labels")}
    spec: SpecData = {"target": read.target, **_pods(read, gpu)}
    for word, value in read.words.items():
        own = spec.get(word)
        spec[word] = {**own, **value} if isinstance(own, Mapping) and isinstance(value, Mapping) else value
    spec = {word: value for word, value in spec.items() if value != {} or word in {"master", "worker"}}
    return {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": without_empty({**head, "annotations": annotations}),
        "spec": spec,
    }


def one_name(manifest: Json, read: Read) -> tuple[Json, Read]:
    """The object with one name for the container that trains, where each role has its own: a spec has one for all.

    Nothing but `kubectl logs -c` asks for the name.
    """
    trainers = [pods for pods in read.pods if pods.trains]
    if len({pods.main for pods in trainers}) < 2:
        return manifest, read
    called = trainers[0].main
    renamed = []
    for pods in read.pods:
        taken = called in [one.get("name") for one in as_mappings(nested_map(pods.template, "spec").get("containers"))]
        if pods.trains and pods.main != called and not taken and pods.path and not pods.holder:
            template = _renamed(pods.template, pods.main, called)
            manifest = _put(manifest, pods.path, template)
            renamed.append(pods._replace(template=template, main=called))
        else:
            renamed.append(pods)
    return manifest, read._replace(pods=tuple(renamed))


def _renamed(template: Json, name: str, called: str) -> SpecData:
    spec = nested_map(template, "spec")
    containers = [
        {**one, "name": called} if one.get("name") == name else one for one in as_mappings(spec.get("containers"))
    ]
    return {**template, "spec": {**spec, "containers": containers}}


def _put(data: Any, path: Sequence[str | int], value: Any) -> Any:
    """A copy of the data with another value at a path."""
    if not path:
        return value
    head, *rest = path
    if isinstance(head, int):
        return [_put(one, rest, value) if place == head else one for place, one in enumerate(data)]
    return {**data, head: _put(data[head], rest, value)}


def _pods(read: Read, gpu: str) -> SpecData:
    trainers = [pods for pods in read.pods if pods.trains]
    pod_blocks = [pod_words(pods, gpu) for pods in trainers]
    said = [block[_SHM] for block in pod_blocks if _SHM in block]
    if any(one != said[0] for one in said):  # then no word of the job's says it for all
        pod_blocks, said = [pod_words(pods, gpu, shm=False) for pods in trainers], [False]
    pod_blocks = [{word: value for word, value in block.items() if word != _SHM} for block in pod_blocks]
    job = _common(pod_blocks)
    out = job | ({_SHM: said[0]} if said else {})
    for pods, block in zip(trainers, pod_blocks, strict=True) if len(trainers) > 1 else ():
        own = {word: value for word, value in block.items() if job.get(word) != value}
        out[pods.role] = {**_replicas(pods), **own}
    beside = {pods.role: (pods, _of_role(pods, gpu, said)) for pods in read.pods if not pods.trains}
    if beside:
        others = [words for _, words in beside.values()]
        apart = [word for word in (*_IN_POD, *_IN_MAIN) if any(one.get(word) != job.get(word) for one in others)]
        own = _as_patch({word: out.pop(word) for word in apart if word in out})
        out["podTemplate"] = pod_template.merge(own, out.get("podTemplate", {}))
        job = {word: value for word, value in job.items() if word not in apart}
        out["roles"] = {name: _beside(pods, words, job) for name, (pods, words) in beside.items()}
    return out


def _as_patch(words: SpecData) -> SpecData:
    """Words of the nodes that a role beside them does not share, as a podTemplate, which roles do not inherit."""
    pod = {_IN_POD[word]: value for word, value in words.items() if word in _IN_POD}
    if words.get("hostNetwork"):
        pod["dnsPolicy"] = "ClusterFirstWithHostNet"
    metadata = {key: pod.pop(key) for key in ("labels", "annotations") if key in pod}
    main = {word: value for word, value in words.items() if word in _IN_MAIN}
    if main:
        pod["containers"] = [{"name": MAIN, **main}]
    return without_empty({"metadata": metadata, "spec": pod})


def _of_role(pods: ReadRole, gpu: str, said: list[Any]) -> SpecData:
    """The words of an auxiliary role, which gets shared memory without a size where the nodes have any."""
    words = pod_words(pods, gpu)
    own = words.pop(_SHM, None)
    if own is None or own is False or (own is True and said != [False]):
        return words
    words = pod_words(pods, gpu, shm=False)
    del words[_SHM]
    return words


def _replicas(pods: ReadRole) -> SpecData:
    return {} if pods.role == "master" else {"replicas": pods.replicas}


def _common(pod_blocks: list[SpecData]) -> SpecData:
    """The words that all roles say alike."""
    first, *others = pod_blocks
    return {word: value for word, value in first.items() if all(one.get(word) == value for one in others)}


def _beside(pods: ReadRole, words: SpecData, job: SpecData) -> SpecData:
    own = {word: value for word, value in words.items() if word in _INHERITED_NOT or job.get(word) != value}
    return {"replicas": pods.replicas, **own}


_WRITTEN = frozenset(
    {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "OMP_NUM_THREADS", "TORCH_DISABLE_SHARE_RDZV_TCP_STORE"}
)
"""Variables that compile may write by itself."""


def may_be_written(name: str, job: SpecData) -> bool:
    """Whether a variable of this name may be compile's own."""
    return name in _WRITTEN or name in {f"{role.upper().replace('-', '_')}_HOSTS" for role in job.get("roles", {})}


def blocks(job: SpecData) -> list[tuple[tuple[str, ...], SpecData]]:
    """The job and its roles, with their paths."""
    roles = [(("spec", role), job[role]) for role in ("master", "worker") if role in job]
    return [(("spec",), job), *roles, *((("spec", "roles", name), one) for name, one in job.get("roles", {}).items())]


def without_written(spec: SpecData) -> SpecData:
    """The spec without variables that compile may write itself; where it does not they come back (`residue`).

    Nothing is taken where a variable refers to another, since then their order counts.
    """
    job = spec["spec"]

    def left(block: SpecData) -> SpecData:
        env = block.get("env") or {}
        if any("$(" in str(value) for value in env.values()):
            return block
        own = {name: value for name, value in env.items() if not may_be_written(name, job)}
        rest = {word: value for word, value in block.items() if word != "env"}
        return {**rest, "env": own} if own else rest

    port = (job.get("env") or {}).get("MASTER_PORT")
    out = left(job)
    if isinstance(port, str) and port.isdecimal() and 1 <= int(port) <= 65535:
        out.setdefault("masterPort", int(port))
    for role in ("master", "worker"):
        if role in out:
            out[role] = left(out[role])
    if "roles" in out:
        out["roles"] = {name: left(block) for name, block in out["roles"].items()}
    return {**spec, "spec": out}


def found(value: Any, path: Path = ()) -> dict[str, Path]:
    """Every placeholder in an image field of an object, with the first place where it stands."""
    out: dict[str, Path] = {}
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key == "image" and isinstance(inner, str) and is_placeholder(inner):
            out.setdefault(inner, (*path, key))
        else:
            out = found(inner, (*path, key)) | out
    return out


def stand_ins(images: dict[str, Path], manifest: Json) -> dict[str, str]:
    """An image for each placeholder, with a tag or without: so that no imagePullPolicy in the object is its default."""
    tag = ":1" if "Always" in str(manifest) else ""
    return {image: f"stand-in-{place}{tag}" for place, image in enumerate(images)}


def replaced(value: Any, images: dict[str, str]) -> Any:
    """Data with other images."""
    if isinstance(value, dict):
        return {key: replaced(inner, images) for key, inner in value.items()}
    if isinstance(value, list):
        return [replaced(inner, images) for inner in value]
    return images.get(value, value) if isinstance(value, str) else value


def told(image: str, path: Path) -> Problem:
    """A warning that a spec with this image waits for a real one."""
    message = f"{field_path(path)}: {image!r} is a placeholder: the spec compiles once it names an image"
    help = "write the image into the spec, or import with --set NAME=VALUE"
    return Problem("import-differs", path, message, help, "warning", "style", "ptcompile")
