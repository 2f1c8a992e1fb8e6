"""TrainJob: the mutating and the validating webhook of Trainer 2.2 and 2.3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.kubernetes import names
from ptcompile.kubernetes.untyped import at, integer, items, string_map, text, texts
from ptcompile.operators.common import roundtrip
from ptcompile.operators.common.decode import undecodable
from ptcompile.operators.common.roundtrip import ZERO
from ptcompile.operators.common.verdict import refusal
from ptcompile.operators.record import Request
from ptcompile.operators.trainer import runtimes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json

_say = refusal("trainer")
_RESERVED = ("PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT")
_OWN_ENV = ("node", "dataset-initializer", "model-initializer")
_ENV = [roundtrip.POD_SPEC["containers"][0]["env"][0]]
_PATCH_CONTAINER: roundtrip.Shape = {
    ZERO: {"name": ""},
    "env": _ENV,
    "volumeMounts": roundtrip.POD_SPEC["containers"][0]["volumeMounts"],
}
SPEC: roundtrip.Shape = {
    "initializer": {"dataset": {"env": _ENV}, "model": {"env": _ENV}},
    "trainer": {"env": _ENV, "command": roundtrip.STRINGS, "args": roundtrip.STRINGS},
}
LOOSE: roundtrip.Shape = {}


def default(manifest: Json, *, complete: bool = False) -> Json:
    """Group and kind of the runtime, suspend, managedBy (Trainer 2.3)."""
    given = manifest.get("spec")
    if not isinstance(given, Mapping):
        return manifest
    spec: dict[str, Any] = {**roundtrip.as_go_reads(dict(given), SPEC, LOOSE, complete=complete)}
    if isinstance(spec.get("runtimeRef"), Mapping):
        ref = {k: v for k, v in spec["runtimeRef"].items() if v is not None}
        spec["runtimeRef"] = {"apiGroup": runtimes.GROUP, "kind": runtimes.KINDS[0], **ref}
    spec["suspend"] = False if spec.get("suspend") is None else spec["suspend"]
    if spec.get("managedBy") is None:
        spec["managedBy"] = f"{runtimes.GROUP}/trainjob-controller"
    return {**manifest, "spec": spec}


def check(manifest: Json, request: Request) -> Iterator[Problem]:
    """Every condition at creation. A runtime that neither a file nor a release shows is taken to exist.

    Of such a one only a namesake of a built-in runtime is judged, as the copy of it that it most likely is.

    `request.others` are the objects of the same stream, among them runtimes.
    """
    spec = at(manifest, "spec")
    ref = at(spec, "runtimeRef")
    kind = _kind(ref)
    if kind not in _SUPPORTED:
        text_ = f"Invalid value: unsupported runtime: {kind}" if ref else "Required value"
        yield _say(("spec", "runtimeRef"), text_, f"use kind {' or '.join(runtimes.KINDS)} of {runtimes.GROUP}")
        return
    found = runtimes.find(manifest, request.others)
    if not request.established.decodes:
        yield from undecodable(spec, _say, ("spec",))
    yield from _patches(items(spec.get("runtimePatches")))
    if found.assumed and text(ref.get("name")) not in runtimes.BUILTIN:
        return  # what a runtime in no file demands is unknown
    yield from _initializers(spec, found.source, mounted=request.versions.trainer >= (2, 3))
    if runtimes.policy_of(found.source) == "torch":
        yield from _torch(spec, found.source)
    if at(found.source, "spec", "podGroupPolicy").get("volcano") is not None:
        yield from _queue(manifest, found.source)


_SUPPORTED = tuple(f"{kind}.{runtimes.GROUP}" for kind in runtimes.KINDS)


def _kind(ref: Json) -> str:
    """Kind and group as Go prints a GroupKind."""
    kind, group = text(ref.get("kind")), text(ref.get("apiGroup"))
    return f"{kind}.{group}" if group else kind


def _initializers(spec: Json, runtime: Json, *, mounted: bool) -> Iterator[Problem]:
    for step, name in (("dataset", "dataset-initializer"), ("model", "model-initializer")):
        if not isinstance(at(spec, "initializer").get(step), Mapping):
            continue
        path = ("spec", "initializer", step)
        job = next((j for j in runtimes.replicated_jobs(runtime) if j.get("name") == name), None)
        container = runtimes.container(job, name) if job else None
        ref = "use a runtime that has it, or remove the initializer"
        if job is None:
            yield _say(path, f"Invalid value: the runtime must have a replicatedJob {name}", ref)
        elif container is None:
            yield _say(path, f"Invalid value: the runtime's job {name} must have a container {name}", ref)
        elif mounted and not any(m.get("name") == "initializer" for m in items(container.get("volumeMounts"))):
            text_ = f"Invalid value: the runtime's container {name} must have a volumeMount with name initializer"
            yield _say(path, text_, "use a runtime whose initializer keeps what it loads on a volume")


def _torch(spec: Json, runtime: Json) -> Iterator[Problem]:
    for i, entry in enumerate(items(at(spec, "trainer").get("env"))):
        name = text(entry.get("name"))
        if name in _RESERVED:
            text_ = f"Forbidden: {name} is reserved: the runtime's torch policy sets it"
            help = "remove it; use numNodes and numProcPerNode" if "N" in name[4:6] else "remove it"
            yield _say(("spec", "trainer", "env", i, "name"), text_, help)
    for target in items(at(runtime, "spec", "mlPolicy", "torch", "envInjection").get("targets")):
        yield from _injection(target, runtime)
    if texts(at(spec, "trainer").get("command")) == ["tune", "run"]:
        yield from _tune(spec)


def _injection(target: Json, runtime: Json) -> Iterator[Problem]:
    path = ("spec", "runtimeRef")
    name = text(target.get("jobName"))
    job = next((j for j in runtimes.replicated_jobs(runtime) if j.get("name") == name), None)
    if job is None:
        yield _say(
            path,
            f"Invalid value: the runtime's envInjection names a job {name!r} that does not exist",
            "fix the runtime",
        )
        return
    pod = at(job, "template", "spec", "template", "spec")
    known = [c.get("name") for key in ("containers", "initContainers") for c in items(pod.get(key))]
    for container in texts(target.get("containerNames")):
        if container not in known:
            text_ = (
                f"Invalid value: the runtime's envInjection names a container {container!r} that {name} does not have"
            )
            yield _say(path, text_, "fix the runtime")


_MODELS = ("llama3_2/1B", "llama3_2/3B", "llama3_3/70B", "qwen2_5/1.5B")
_MANY_NODES = "llama3_3/70B"


def _tune(spec: Json) -> Iterator[Problem]:
    """`tune run`: the model is read from the runtime's name."""
    runtime = text(at(spec, "runtimeRef").get("name"))
    model = runtimes.tune_model(runtime)
    path: Path = ("spec", "runtimeRef", "name")
    args = texts(at(spec, "trainer").get("args"))
    lora = any(a.startswith("model.lora_attn_modules") for a in args)
    if model not in _MODELS:
        text_ = f'Invalid value: "{runtime}": `tune run` must have a supported pretrained model'
        help = "use a torchtune runtime, such as torchtune-llama3.2-1b, or use another command"
        yield _say(path, text_, help)
    nodes = integer(at(spec, "trainer").get("numNodes"), 1)
    if nodes > 1 and (model != _MANY_NODES or lora):
        reason = "LoRA fine-tuning" if lora and model == _MANY_NODES else f"the model {model or 'of this runtime'}"
        yield _say(("spec", "trainer", "numNodes"), f"Invalid value: {nodes}: must be 1 for {reason}", "use one node")
    if "model.quantize_base=True" in args and lora and model.startswith("qwen"):
        index = args.index("model.quantize_base=True")
        yield _say(("spec", "trainer", "args", index), "Invalid value: QLoRA is not supported for qwen", "use LoRA")


def _queue(manifest: Json, runtime: Json) -> Iterator[Problem]:
    key = "scheduling.volcano.sh/queue-name"
    annotations = string_map(at(runtime, "spec", "template", "metadata").get("annotations"))
    if annotations.get(key) == "":
        yield _say(("spec", "runtimeRef"), f"Invalid value: the runtime's annotation {key} is empty", "name a queue")
    if string_map(at(manifest, "metadata").get("annotations")).get(key) == "":
        yield _say(("metadata", "annotations", key), 'Invalid value: "": must not be empty', "name a queue")


def _patches(patches: Sequence[Json]) -> Iterator[Problem]:
    for i, patch in enumerate(patches):
        path: Path = ("spec", "runtimePatches", i)
        manager = text(patch.get("manager"))
        if manager and (why := names.why_not_domain_prefixed_path(manager)):
            yield _say(
                (*path, "manager"), f'Invalid value: "{manager}": {why}', "write DOMAIN/NAME, such as acme.io/foo"
            )
        for where, container in patched_containers(patch, path):
            name = text(container.get("name"))
            if name in _OWN_ENV and items(container.get("env")):
                word = "spec.trainer.env" if name == "node" else "spec.initializer"
                text_ = f"Forbidden: env of the container {name} may not be patched"
                yield _say((*where, "env"), text_, f"use {word}")


def patched_containers(patch: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    """Each container that a runtime patch speaks of, with its path."""
    spec = at(patch, "trainingRuntimeSpec", "template", "spec")
    base: Path = (*path, "trainingRuntimeSpec", "template", "spec", "replicatedJobs")
    for i, job in enumerate(items(spec.get("replicatedJobs"))):
        pod = at(job, "template", "spec", "template", "spec")
        for key in ("initContainers", "containers"):
            for j, container in enumerate(items(pod.get(key))):
                yield (*base, i, "template", "spec", "template", "spec", key, j), container
