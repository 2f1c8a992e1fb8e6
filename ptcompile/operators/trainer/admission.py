"""What Trainer's webhooks and CRDs reject of TrainJobs and runtimes, at creation and on updates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ptcompile.apiserver import roundtrip
from ptcompile.apiserver.webhooks import decode_problems, entries, invalid_value, webhook_rejection
from ptcompile.diagnostics import Path, Problem
from ptcompile.kubernetes import names
from ptcompile.kubernetes.unstructured import as_int, as_mappings, as_string, as_strings, nested_map, string_map
from ptcompile.operators.jobset.admission import FIXED_FIELDS, jobset_spec_rules
from ptcompile.operators.trainer import runtimes
from ptcompile.registry.model import Established, KindContext, Update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.unstructured import Json


_LABEL = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])?").fullmatch
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\n]+").fullmatch
_MANAGERS: Final = ("trainer.kubeflow.org/trainjob-controller", "kueue.x-k8s.io/multikueue")


def train_job_rules(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """The rules of a TrainJob's name and spec."""
    spec = nested_map(manifest, "spec")
    yield from _name(nested_map(manifest, "metadata"))
    initializer = nested_map(spec, "initializer")
    for part in ("dataset", "model"):
        uri = nested_map(initializer, part).get("storageUri")
        if isinstance(uri, str) and uri and _URI(uri) is None:
            yield invalid_value(
                ("spec", "initializer", part, "storageUri"),
                "storageUri may be empty, or it must be a valid URI (scheme://...)",
                'write a URI such as "hf://org/name" or "s3://bucket/path"',
            )
    manager = spec.get("managedBy")
    if isinstance(manager, str) and manager not in _MANAGERS:
        yield invalid_value(
            ("spec", "managedBy"),
            f"ManagedBy must be {_MANAGERS[0]} or {_MANAGERS[1]} if set",
            "remove it, or name one",
        )
    count = nested_map(spec, "trainer").get("numProcPerNode")
    if type(count) is int and count < 1:
        yield invalid_value(
            ("spec", "trainer", "numProcPerNode"),
            "numProcPerNode must be greater than or equal to 1",
            "write 1 or more",
        )


def _name(metadata: Mapping[str, Any]) -> Iterator[Problem]:
    name, key = metadata.get("name"), "name"
    if not name:
        # The server makes the name of generateName before it looks: five characters are added.
        prefix, key = metadata.get("generateName"), "generateName"
        name = f"{prefix[:58]}xxxxx" if isinstance(prefix, str) and prefix else None
    if not isinstance(name, str):
        return
    if _LABEL(name) is None:
        yield invalid_value(
            ("metadata", key),
            "metadata.name must match RFC 1035 DNS label format",
            "use lower-case letters, digits and dashes; begin with a letter; end with a letter or digit",
        )
    elif len(name) > 63:
        yield invalid_value(("metadata", key), "metadata.name must be no more than 63 characters", "shorten the name")


_POLICIES: Final = ("torch", "mpi", "jax", "xgboost", "flux")


def training_runtime_rules(manifest: Mapping[str, Any]) -> Iterator[Problem]:
    """The rules of a runtime's ML policy, and of the JobSet spec in its template."""
    spec = nested_map(manifest, "spec")
    policy = nested_map(spec, "mlPolicy")
    path: Path = ("spec", "mlPolicy")
    yield from _one_policy(policy, path)
    for name in ("flux", "mpi"):
        count = nested_map(policy, name).get("numProcPerNode")
        if type(count) is int and count < 1:
            where = (*path, name, "numProcPerNode")
            yield invalid_value(where, f"NumProcPerNode in {name}Policy must be >= 1", "write 1 or more")
    yield from _targets(nested_map(policy, "torch", "envInjection"), (*path, "torch", "envInjection"))
    yield from jobset_spec_rules(nested_map(spec, "template", "spec"), ("spec", "template", "spec"))


def _one_policy(policy: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    given = [name for name in _POLICIES if policy.get(name) is not None]
    if len(given) > 1:
        yield invalid_value(
            (*path, given[1]), "Only one of the policy can be configured", f"keep one of {', '.join(given)}"
        )


def _targets(injection: Mapping[str, Any], path: Path) -> Iterator[Problem]:
    for index, target in entries(injection, "targets"):
        names = target.get("containerNames")
        if isinstance(names, list) and "node" in names:
            yield invalid_value(
                (*path, "targets", index, "containerNames", names.index("node")),
                "containerNames must not include the main node container "
                "because PET_* envs are always injected into it",
                'remove "node"',
            )


_POD: Final = "runtimePatches.*.trainingRuntimeSpec.template.spec.replicatedJobs.*.template.spec.template.spec"
FIXED: Final = tuple(
    (f"spec.{path}", "field is immutable")
    for path in (
        "runtimeRef",
        "initializer",
        "trainer",
        "activeDeadlineSeconds",
        "managedBy",
        f"{_POD}.serviceAccountName",
        f"{_POD}.volumes",
        f"{_POD}.initContainers",
        f"{_POD}.containers",
        f"{_POD}.imagePullSecrets",
        f"{_POD}.securityContext",
        f"{_POD}.terminationGracePeriodSeconds",
    )
)
"""What the CRD of TrainJob makes immutable (Trainer 2.3)."""

FIXED_IN_RUNTIMES: Final = tuple((f"spec.template.spec.{path}", "Value is immutable") for path in FIXED_FIELDS)
"""What the CRDs of runtimes make immutable: they hold a JobSet's spec."""


def later_jobs(_old: Mapping[str, Any]) -> tuple[tuple[tuple[str, ...], str], ...]:
    """What running jobs do not see of a change of their runtime."""
    return ((("spec",), "running TrainJobs stay as they are; it applies to the next ones"),)


_PATCHES: Final = {
    "podSpecOverrides": "PodSpecOverrides",
    "podTemplateOverrides": "PodTemplateOverrides",
    "runtimePatches": "RuntimePatches",
}
"""The field of each release, newest last, and what the webhook calls it."""


def validate_update(update: Update) -> Iterator[Problem]:
    """What the webhook answers to a change; what differs is `update.touched`."""
    before, after = (nested_map(one, "spec").get("suspend") is True for one in (update.old, update.new))
    if before or (after and update.versions.trainer >= (2, 3)):
        return
    for path in update.touched:
        name = path[1] if path[:1] == ("spec",) and len(path) > 1 else ""
        if name in _PATCHES:
            when = "before or after the update" if update.versions.trainer >= (2, 3) else ""
            text = (
                f"spec.{name}: Forbidden: {_PATCHES[name]} can only be modified when the TrainJob is suspended {when}"
            )
            help = "suspend the TrainJob first (spec.suspend: true), or give it another name for each run"
            yield Problem("webhook-refusal", ("spec", name), text.rstrip(), help, authority="trainer")
            return


_say = webhook_rejection("trainer")
_RESERVED = ("PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT")
_OWN_ENV = ("node", "dataset-initializer", "model-initializer")
_ENV = [roundtrip.POD_SPEC["containers"][0]["env"][0]]
SPEC: roundtrip.FieldShapes = {
    "initializer": {"dataset": {"env": _ENV}, "model": {"env": _ENV}},
    "trainer": {"env": _ENV, "command": roundtrip.STRINGS, "args": roundtrip.STRINGS},
}
LOOSE: roundtrip.FieldShapes = {}


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


def validate(manifest: Json, request: KindContext) -> Iterator[Problem]:
    """Every condition at creation. A runtime that neither a file nor a release shows is taken to exist.

    Of such a one only a namesake of a built-in runtime is judged, as the copy of it that it most likely is.

    `request.others` are the objects of the same stream, among them runtimes.
    """
    spec = nested_map(manifest, "spec")
    ref = nested_map(spec, "runtimeRef")
    kind = _kind(ref)
    if kind not in _SUPPORTED:
        text_ = f"Invalid value: unsupported runtime: {kind}" if ref else "Required value"
        yield _say(("spec", "runtimeRef"), text_, f"use kind {' or '.join(runtimes.KINDS)} of {runtimes.GROUP}")
        return
    found = runtimes.find_runtime(manifest, request.others)
    if not request.established.decodes:
        yield from decode_problems(spec, _say, ("spec",))
    yield from _patches(as_mappings(spec.get("runtimePatches")))
    if found.assumed and as_string(ref.get("name")) not in runtimes.BUILTIN:
        return  # what a runtime in no file demands is unknown
    yield from _initializers(spec, found.source, mounted=request.versions.trainer >= (2, 3))
    if runtimes.policy_of(found.source) == "torch":
        yield from _torch(spec, found.source)
    if nested_map(found.source, "spec", "podGroupPolicy").get("volcano") is not None:
        yield from _queue(manifest, found.source)


_SUPPORTED = tuple(f"{kind}.{runtimes.GROUP}" for kind in runtimes.KINDS)


def _kind(ref: Json) -> str:
    """Kind and group as Go prints a GroupKind."""
    kind, group = as_string(ref.get("kind")), as_string(ref.get("apiGroup"))
    return f"{kind}.{group}" if group else kind


def _initializers(spec: Json, runtime: Json, *, mounted: bool) -> Iterator[Problem]:
    for step, name in (("dataset", "dataset-initializer"), ("model", "model-initializer")):
        if not isinstance(nested_map(spec, "initializer").get(step), Mapping):
            continue
        path = ("spec", "initializer", step)
        job = next((j for j in runtimes.replicated_jobs(runtime) if j.get("name") == name), None)
        container = runtimes.find_container(job, name) if job else None
        ref = "use a runtime that has it, or remove the initializer"
        if job is None:
            yield _say(path, f"Invalid value: the runtime must have a replicatedJob {name}", ref)
        elif container is None:
            yield _say(path, f"Invalid value: the runtime's job {name} must have a container {name}", ref)
        elif mounted and not any(m.get("name") == "initializer" for m in as_mappings(container.get("volumeMounts"))):
            text_ = f"Invalid value: the runtime's container {name} must have a volumeMount with name initializer"
            yield _say(path, text_, "use a runtime whose initializer keeps what it loads on a volume")


def _torch(spec: Json, runtime: Json) -> Iterator[Problem]:
    for i, entry in enumerate(as_mappings(nested_map(spec, "trainer").get("env"))):
        name = as_string(entry.get("name"))
        if name in _RESERVED:
            text_ = f"Forbidden: {name} is reserved: the runtime's torch policy sets it"
            help = "remove it; use numNodes and numProcPerNode" if "N" in name[4:6] else "remove it"
            yield _say(("spec", "trainer", "env", i, "name"), text_, help)
    for target in as_mappings(nested_map(runtime, "spec", "mlPolicy", "torch", "envInjection").get("targets")):
        yield from _injection(target, runtime)
    if as_strings(nested_map(spec, "trainer").get("command")) == ["tune", "run"]:
        yield from _tune(spec)


def _injection(target: Json, runtime: Json) -> Iterator[Problem]:
    path = ("spec", "runtimeRef")
    name = as_string(target.get("jobName"))
    job = next((j for j in runtimes.replicated_jobs(runtime) if j.get("name") == name), None)
    if job is None:
        yield _say(
            path,
            f"Invalid value: the runtime's envInjection names a job {name!r} that does not exist",
            "fix the runtime",
        )
        return
    pod = nested_map(job, "template", "spec", "template", "spec")
    known = [c.get("name") for key in ("containers", "initContainers") for c in as_mappings(pod.get(key))]
    for container in as_strings(target.get("containerNames")):
        if container not in known:
            text_ = (
                f"Invalid value: the runtime's envInjection names a container {container!r} that {name} does not have"
            )
            yield _say(path, text_, "fix the runtime")


_MODELS = ("llama3_2/1B", "llama3_2/3B", "llama3_3/70B", "qwen2_5/1.5B")
_MANY_NODES = "llama3_3/70B"


def _tune(spec: Json) -> Iterator[Problem]:
    """`tune run`: the model is read from the runtime's name."""
    runtime = as_string(nested_map(spec, "runtimeRef").get("name"))
    model = runtimes.tune_model(runtime)
    path: Path = ("spec", "runtimeRef", "name")
    args = as_strings(nested_map(spec, "trainer").get("args"))
    lora = any(a.startswith("model.lora_attn_modules") for a in args)
    if model not in _MODELS:
        text_ = f'Invalid value: "{runtime}": `tune run` must have a supported pretrained model'
        help = "use a torchtune runtime, such as torchtune-llama3.2-1b, or use another command"
        yield _say(path, text_, help)
    nodes = as_int(nested_map(spec, "trainer").get("numNodes"), 1)
    if nodes > 1 and (model != _MANY_NODES or lora):
        reason = "LoRA fine-tuning" if lora and model == _MANY_NODES else f"the model {model or 'of this runtime'}"
        yield _say(("spec", "trainer", "numNodes"), f"Invalid value: {nodes}: must be 1 for {reason}", "use one node")
    if "model.quantize_base=True" in args and lora and model.startswith("qwen"):
        index = args.index("model.quantize_base=True")
        yield _say(("spec", "trainer", "args", index), "Invalid value: QLoRA is not supported for qwen", "use LoRA")


def _queue(manifest: Json, runtime: Json) -> Iterator[Problem]:
    key = "scheduling.volcano.sh/queue-name"
    annotations = string_map(nested_map(runtime, "spec", "template", "metadata").get("annotations"))
    if annotations.get(key) == "":
        yield _say(("spec", "runtimeRef"), f"Invalid value: the runtime's annotation {key} is empty", "name a queue")
    if string_map(nested_map(manifest, "metadata").get("annotations")).get(key) == "":
        yield _say(("metadata", "annotations", key), 'Invalid value: "": must not be empty', "name a queue")


def _patches(patches: Sequence[Json]) -> Iterator[Problem]:
    for i, patch in enumerate(patches):
        path: Path = ("spec", "runtimePatches", i)
        manager = as_string(patch.get("manager"))
        if manager and (why := names.why_not_domain_prefixed_path(manager)):
            yield _say(
                (*path, "manager"), f'Invalid value: "{manager}": {why}', "write DOMAIN/NAME, such as acme.io/foo"
            )
        for where, container in patched_containers(patch, path):
            name = as_string(container.get("name"))
            if name in _OWN_ENV and as_mappings(container.get("env")):
                word = "spec.trainer.env" if name == "node" else "spec.initializer"
                text_ = f"Forbidden: env of the container {name} may not be patched"
                yield _say((*where, "env"), text_, f"use {word}")


def patched_containers(patch: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    """Each container that a runtime patch speaks of, with its path."""
    spec = nested_map(patch, "trainingRuntimeSpec", "template", "spec")
    base: Path = (*path, "trainingRuntimeSpec", "template", "spec", "replicatedJobs")
    for i, job in enumerate(as_mappings(spec.get("replicatedJobs"))):
        pod = nested_map(job, "template", "spec", "template", "spec")
        for key in ("initContainers", "containers"):
            for j, container in enumerate(as_mappings(pod.get(key))):
                yield (*base, i, "template", "spec", "template", "spec", key, j), container


_CONTAINERS = {
    "trainer": "node",
    "dataset-initializer": "dataset-initializer",
    "model-initializer": "model-initializer",
}
_OFF = f"{runtimes.GROUP}/webhook-validation"


def validate_runtime(manifest: Json, request: KindContext) -> Iterator[Problem]:
    """Jobs with an ancestor label run once and have the container that a TrainJob fills in.

    The webhook does not look at a runtime whose label says so; what it would say is then said at stage "run".
    """
    off = string_map(nested_map(manifest, "metadata").get("labels")).get(_OFF) == "disabled"
    for problem in _check(manifest, request.established):
        yield problem._replace(stage="run") if off else problem


def _check(manifest: Json, known: Established) -> Iterator[Problem]:
    if not known.decodes:
        yield from decode_problems(nested_map(manifest, "spec"), _say, ("spec",))
    for i, job in enumerate(runtimes.replicated_jobs(manifest)):
        step = runtimes.step_label(job)
        if step not in _CONTAINERS:
            continue
        path: Path = ("spec", "template", "spec", "replicatedJobs", i)
        if job.get("replicas") not in (None, 1):
            text_ = f"Invalid value: {job['replicas']}: always must be 1 for the ancestor {step}"
            yield _say((*path, "replicas"), text_, "remove replicas; a TrainJob says how many nodes")
        if runtimes.find_container(job, _CONTAINERS[step]) is None:
            where = (*path, "template", "spec", "template", "spec", "containers")
            text_ = f"Required value: must have the container {_CONTAINERS[step]} for the ancestor {step}"
            yield _say(where, text_, f"call the container {_CONTAINERS[step]}")
