"""A manifest as a complete, explicit spec, with image placeholders that other code fills in.

compile does not accept placeholders, so the spec does not compile until the user writes the image.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile._internal.schema_files import load_table
from ptcompile._internal.spelling import is_short_number
from ptcompile.compiler.frontend.parts import NOT_INHERITED, spec_fields_in
from ptcompile.diagnostics import Path, Problem, own_problem
from ptcompile.importer.pod_template import pod_fields
from ptcompile.kinds.reading import MAIN_CONTAINER, Read, ReadRole, without_empty
from ptcompile.kubernetes.images import is_placeholder
from ptcompile.kubernetes.merging import merge
from ptcompile.kubernetes.unstructured import (
    LAST_APPLIED,
    Json,
    JsonDict,
    as_int,
    nested_map,
    nested_string,
    nested_value,
    placed_values,
    with_leaves,
    without_keys,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    SpecData = JsonDict
    """A TrainingJob as plain data."""


_COMPILED_VARIABLES = frozenset(load_table("importer/fields.json")["compiled"])
_SHM_FIELD = "sharedMemory"
"""A field that roles do not have."""
_POD_FIELDS = {
    field: key for holder in ("spec", "metadata") for key, field in spec_fields_in(holder).items()
}
"""Pod template fields of the job fields that auxiliary roles inherit, keyed by job field."""
_CONTAINER_FIELDS = tuple(
    field
    for field in spec_fields_in("main")
    if field not in {"image", "command", "args", "env", "resources"}
)
"""The inherited fields of the main container."""


def draft(manifest: Json, read: Read, gpu: str) -> SpecData:
    """Return the spec with everything that was read. `gpu` is the profile's resource name for
    GPUs.
    """
    metadata = nested_map(manifest, "metadata")
    annotations = without_keys(nested_map(metadata, "annotations"), LAST_APPLIED)
    name = nested_string(metadata, "name") or nested_string(metadata, "generateName").rstrip("-.")
    head = {"name": name, "namespace": metadata.get("namespace"), "labels": metadata.get("labels")}
    spec = {"target": read.target, **_pod_blocks(read, gpu)}
    for field, value in read.fields.items():
        existing = spec.get(field)
        spec[field] = (
            {**existing, **value}
            if isinstance(existing, Mapping) and isinstance(value, Mapping)
            else value
        )

    spec = {
        field: value
        for field, value in spec.items()
        if value != {} or field in {"master", "worker"}
    }

    return {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": without_empty({**head, "annotations": annotations}),
        "spec": spec,
    }


_COMPLETION_INDEX = "JOB_COMPLETION_INDEX"
_INDEX_SOURCES = tuple(
    f"metadata.{holder}['batch.kubernetes.io/job-completion-index']"
    for holder in ("annotations", "labels")
)
_IGNORED_METADATA = frozenset({"name", "generateName", "namespace"})
"""Fields of a pod template's metadata that controllers set themselves."""


def without_ignored(manifest: Json) -> SpecData:
    """Return a manifest without what has no effect: names in pod templates, and the variable
    JOB_COMPLETION_INDEX with the value that the Job controller gives it anyway.
    """
    spec = nested_map(manifest, "spec")
    is_indexed = "replicatedJobs" in spec or spec.get("completionMode") == "Indexed"
    copy: SpecData = _without_ignored(manifest, is_indexed=is_indexed)
    return copy


def _without_ignored(value: Any, *, is_indexed: bool) -> Any:
    if isinstance(value, list):
        items = [item for item in value if not (is_indexed and _is_own_index(item))]
        return [_without_ignored(item, is_indexed=is_indexed) for item in items]
    if not isinstance(value, Mapping):
        return value

    copy = {key: _without_ignored(inner, is_indexed=is_indexed) for key, inner in value.items()}
    template = copy.get("template")
    if isinstance(template, dict) and "containers" in nested_map(template, "spec"):
        metadata = nested_map(template, "metadata")
        kept = without_keys(metadata, *_IGNORED_METADATA)
        copy["template"] = without_empty({**template, "metadata": kept})

    return copy


def _is_own_index(item: Any) -> bool:
    source = nested_value(item, "valueFrom", "fieldRef", "fieldPath")
    return nested_value(item, "name") == _COMPLETION_INDEX and source in _INDEX_SOURCES


def is_ignored(path: Sequence[str]) -> bool:
    """Return whether a changed field is one that `without_ignored` removes."""
    *above, last = path
    in_template = above[-2:] == ["template", "metadata"] and last in _IGNORED_METADATA
    return last.strip("[]") == _COMPLETION_INDEX or in_template or above[-1:] == ["template"]


def name_containers(read: Read) -> Read:
    """Return the reading with a name for the training container of each role if they differ."""
    training = [pods for pods in read.pods if pods.trains]
    if len({pods.main for pods in training}) < 2:
        return read
    by_role = {
        f"{pods.role}Container": pods.main for pods in training if pods.main != MAIN_CONTAINER
    }
    names = without_keys(nested_map(read.fields, "names"), "container")
    return read._replace(fields={**read.fields, "names": {**names, **by_role}})


def _pod_blocks(read: Read, gpu: str) -> SpecData:
    training = [pods for pods in read.pods if pods.trains]
    pod_blocks = [pod_fields(pods, gpu) for pods in training]
    shm = [block[_SHM_FIELD] for block in pod_blocks if _SHM_FIELD in block]
    if any(value != shm[0] for value in shm):  # no job-level field fits all roles
        pod_blocks = [pod_fields(pods, gpu, shm=False) for pods in training]
        shm = [False]
    pod_blocks = [without_keys(block, _SHM_FIELD) for block in pod_blocks]
    job = _common_fields(pod_blocks)
    out = job | ({_SHM_FIELD: shm[0]} if shm else {})
    if len(training) > 1:
        for pods, block in zip(training, pod_blocks, strict=True):
            role_fields = {
                field: value for field, value in block.items() if job.get(field) != value
            }
            out[pods.role] = {**_replicas(pods), **role_fields}
    auxiliary = {
        pods.role: (pods, _auxiliary_fields(pods, gpu, shm))
        for pods in read.pods
        if not pods.trains
    }
    if auxiliary:
        blocks_of_roles = [fields for _, fields in auxiliary.values()]
        unshared = [
            w
            for w in (*_POD_FIELDS, *_CONTAINER_FIELDS)
            if any(role.get(w) != job.get(w) for role in blocks_of_roles)
        ]
        patch = _as_patch({field: out.pop(field) for field in unshared if field in out})
        out["podTemplate"] = merge(patch, out.get("podTemplate", {}))
        job = without_keys(job, *unshared)
        out["roles"] = {
            name: _auxiliary_block(pods, fields, job) for name, (pods, fields) in auxiliary.items()
        }

    return out


def _as_patch(fields: SpecData) -> SpecData:
    """Return the nodes' fields that auxiliary roles do not share as a podTemplate, which roles
    do not inherit.
    """
    pod = {_POD_FIELDS[field]: value for field, value in fields.items() if field in _POD_FIELDS}
    if fields.get("hostNetwork"):
        pod["dnsPolicy"] = "ClusterFirstWithHostNet"
    metadata = {key: pod.pop(key) for key in ("labels", "annotations") if key in pod}
    main = {field: value for field, value in fields.items() if field in _CONTAINER_FIELDS}
    if main:
        pod["containers"] = [{"name": MAIN_CONTAINER, **main}]
    return without_empty({"metadata": metadata, "spec": pod})


def _auxiliary_fields(pods: ReadRole, gpu: str, nodes_shm: list[Any]) -> SpecData:
    """Return the fields of an auxiliary role. It gets shared memory without a size limit if the
    nodes have shared memory.
    """
    fields = pod_fields(pods, gpu)
    shm = fields.pop(_SHM_FIELD, None)
    if shm is None or shm is False or (shm is True and nodes_shm != [False]):
        return fields
    fields = pod_fields(pods, gpu, shm=False)
    del fields[_SHM_FIELD]
    return fields


def _replicas(pods: ReadRole) -> SpecData:
    return {} if pods.role == "master" else {"replicas": pods.replicas}


def _common_fields(pod_blocks: list[SpecData]) -> SpecData:
    """Return the fields that have the same value in all blocks."""
    first, *rest = pod_blocks
    return {
        field: value
        for field, value in first.items()
        if all(block.get(field) == value for block in rest)
    }


def _auxiliary_block(pods: ReadRole, fields: SpecData, job: SpecData) -> SpecData:
    role_fields = {
        field: value
        for field, value in fields.items()
        if field in NOT_INHERITED or job.get(field) != value
    }
    return {"replicas": pods.replicas, **role_fields}


def may_be_compiled(name: str, job: SpecData) -> bool:
    """Return whether compile may set a variable of this name itself."""
    return name in _COMPILED_VARIABLES or name in {
        f"{role.upper().replace('-', '_')}_HOSTS" for role in job.get("roles", {})
    }


def blocks(job: SpecData) -> list[tuple[tuple[str, ...], SpecData]]:
    """Return the job and its roles with their paths."""
    roles = [(("spec", role), job[role]) for role in ("master", "worker") if role in job]
    return [
        (("spec",), job),
        *roles,
        *((("spec", "roles", name), block) for name, block in job.get("roles", {}).items()),
    ]


def without_compiled_env(spec: SpecData) -> SpecData:
    """Return the spec without the variables that compile may set itself; `residue` restores those
    it does not set.

    A block keeps its variables if one of them refers to another, because their order then matters.
    """
    job = spec["spec"]

    def without_env(block: SpecData) -> SpecData:
        env = block.get("env") or {}
        if any("$(" in str(value) for value in env.values()):
            return block
        kept = {name: value for name, value in env.items() if not may_be_compiled(name, job)}
        rest = without_keys(block, "env")
        return {**rest, "env": kept} if kept else rest

    # compile sets MASTER_PORT from masterPort
    port = (job.get("env") or {}).get("MASTER_PORT")
    out = without_env(job)
    if isinstance(port, str) and is_short_number(port) and 1 <= int(port) <= 65535:
        out.setdefault("masterPort", int(port))
    for role in ("master", "worker"):
        if role in out:
            out[role] = without_env(out[role])
    if "roles" in out:
        out["roles"] = {name: without_env(block) for name, block in out["roles"].items()}

    return {**spec, "spec": out}


def placeholder_images(value: Any) -> dict[str, Path]:
    """Return each placeholder image in an object with the first path that uses it."""
    images: dict[str, Path] = {}
    for path, inner in placed_values(value):
        if path[-1:] == ("image",) and isinstance(inner, str) and is_placeholder(inner):
            images.setdefault(inner, path)
    return images


def substitute_images(images: dict[str, Path], manifest: Json) -> dict[str, str]:
    """Return a valid image for each placeholder, tagged so that a missing imagePullPolicy keeps
    its default.
    """
    tag = ":1" if "Always" in str(manifest) else ""
    return {image: f"stand-in-{index}{tag}" for index, image in enumerate(images)}


def replace_images(value: Any, images: dict[str, str]) -> Any:
    """Return the data with images replaced."""
    return with_leaves(value, lambda leaf: images.get(leaf, leaf))


def placeholder_warning(image: str, path: Path) -> Problem:
    """Return the warning that the spec needs a real image before it compiles."""
    message = f"{image!r} is a placeholder: the spec compiles once it names an image"
    help = "write the image into the spec, or import with --set NAME=VALUE"
    return own_problem("import-differs", path, message, help, "warning", "style")


def unsupported_kind(manifest: Json) -> Problem:
    """Return the error for a job of a kind that no target writes."""
    kind = nested_string(manifest, "kind")
    message = f"{kind}: no target writes this kind"
    help = "keep the manifest as it is"
    if kind == "MPIJob":
        workers = nested_map(manifest, "spec", "mpiReplicaSpecs", "Worker")
        launcher = "deepspeed" if "deepspeed" in str(manifest.get("spec")) else "mpirun"
        message = (
            f"{kind}: no target starts the processes of all nodes from one pod, as {launcher} does"
        )
        nodes = as_int(workers.get("replicas"), 1)
        help = (
            f"keep it, or write a TrainingJob with nodes: {nodes}, where torchrun starts the "
            "script on each node"
        )

    return Problem("not-importable", ("kind",), message, help, authority="ptcompile")
