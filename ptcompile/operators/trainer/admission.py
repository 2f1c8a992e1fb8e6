"""The validation of TrainJobs and runtimes by Trainer's webhooks and CRDs, at creation and on
updates.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from ptcompile.apiserver import roundtrip
from ptcompile.apiserver.webhooks import decode_problems, entries, invalid_value, webhook_rejection
from ptcompile.diagnostics import Path, Problems
from ptcompile.kinds.model import Established, KindContext, Rejections
from ptcompile.kubernetes import names
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    nested_int,
    nested_map,
    nested_maps,
    nested_string,
    nested_string_map,
    nested_strings,
    nested_value,
    without_none,
)
from ptcompile.operators.jobset.admission import FIXED_FIELDS, jobset_spec_rules
from ptcompile.operators.trainer import runtimes
from ptcompile.operators.trainer.controller import check_runtime, check_train_job, controller_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.versions import Versions


_match_dns_label = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])?").fullmatch
_match_uri = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\n]+").fullmatch
_MANAGERS = ("trainer.kubeflow.org/trainjob-controller", "kueue.x-k8s.io/multikueue")


def train_job_rules(manifest: Json) -> Problems:
    """Yield the violations of the CEL rules for a TrainJob's name and spec."""
    spec = nested_map(manifest, "spec")
    yield from _check_name(nested_map(manifest, "metadata"))
    initializer = nested_map(spec, "initializer")
    for part in ("dataset", "model"):
        uri = nested_value(initializer, part, "storageUri")
        if isinstance(uri, str) and uri and _match_uri(uri) is None:
            yield invalid_value(
                ("spec", "initializer", part, "storageUri"),
                "storageUri may be empty, or it must be a valid URI (scheme://...)",
                'write a URI such as "hf://org/name" or "s3://bucket/path"',
            )

    manager = spec.get("managedBy")
    if isinstance(manager, str) and manager not in _MANAGERS:
        yield invalid_value(
            ("spec", "managedBy"),
            f"ManagedBy must be {' or '.join(_MANAGERS)} if set",
            "remove it, or name one",
        )

    count = nested_value(spec, "trainer", "numProcPerNode")
    if type(count) is int and count < 1:
        yield invalid_value(
            ("spec", "trainer", "numProcPerNode"),
            "numProcPerNode must be greater than or equal to 1",
            "write 1 or more",
        )


def _check_name(metadata: Json) -> Problems:
    name = metadata.get("name")
    key = "name"
    if not name:
        # the server first generates the name from generateName, which adds five characters
        prefix = metadata.get("generateName")
        key = "generateName"
        name = f"{prefix[:58]}xxxxx" if isinstance(prefix, str) and prefix else None
    if not isinstance(name, str):
        return

    if _match_dns_label(name) is None:
        yield invalid_value(
            ("metadata", key),
            "metadata.name must match RFC 1035 DNS label format",
            "use lower-case letters, digits and dashes; begin with a letter; end with a letter or "
            "digit",
        )
    elif len(name) > 63:
        yield invalid_value(
            ("metadata", key),
            "metadata.name must be no more than 63 characters",
            "shorten the name",
        )


def training_runtime_rules(manifest: Json) -> Problems:
    """Yield the violations of the CEL rules for a runtime's mlPolicy and the JobSet spec in its
    template.
    """
    spec = nested_map(manifest, "spec")
    policy = nested_map(spec, "mlPolicy")
    path = ("spec", "mlPolicy")
    set_policies = [name for name in runtimes.POLICIES if policy.get(name) is not None]
    for second in set_policies[1:2]:
        yield invalid_value(
            (*path, second),
            "Only one of the policy can be configured",
            f"keep one of {', '.join(set_policies)}",
        )

    for name in ("flux", "mpi"):
        count = nested_value(policy, name, "numProcPerNode")
        if type(count) is int and count < 1:
            yield invalid_value(
                (*path, name, "numProcPerNode"),
                f"NumProcPerNode in {name}Policy must be >= 1",
                "write 1 or more",
            )

    yield from _check_injection_targets(
        nested_map(policy, "torch", "envInjection"), (*path, "torch", "envInjection")
    )
    yield from jobset_spec_rules(nested_map(spec, "template", "spec"), ("spec", "template", "spec"))


def _check_injection_targets(injection: Json, path: Path) -> Problems:
    for index, target in entries(injection, "targets"):
        names = target.get("containerNames")
        if isinstance(names, list) and "node" in names:
            yield invalid_value(
                (*path, "targets", index, "containerNames", names.index("node")),
                "containerNames must not include the main node container "
                "because PET_* envs are always injected into it",
                'remove "node"',
            )


_PATCHED_POD = "runtimePatches.*.trainingRuntimeSpec.template.spec.replicatedJobs.*.template.spec.template.spec"
FIXED = tuple(
    (f"spec.{path}", "field is immutable")
    for path in (
        "runtimeRef",
        "initializer",
        "trainer",
        "activeDeadlineSeconds",
        "managedBy",
        f"{_PATCHED_POD}.serviceAccountName",
        f"{_PATCHED_POD}.volumes",
        f"{_PATCHED_POD}.initContainers",
        f"{_PATCHED_POD}.containers",
        f"{_PATCHED_POD}.imagePullSecrets",
        f"{_PATCHED_POD}.securityContext",
        f"{_PATCHED_POD}.terminationGracePeriodSeconds",
    )
)
"""Fields that the TrainJob CRD makes immutable (Trainer 2.3)."""

_PATCH_TITLES = {
    "podSpecOverrides": "PodSpecOverrides",
    "podTemplateOverrides": "PodTemplateOverrides",
    "runtimePatches": "RuntimePatches",
}
"""The patch field of each release, newest last, with the webhook's name for it."""


def validate_update(update: Update) -> Problems:
    """Yield what the webhook rejects of a change; `update.touched` lists the paths that differ."""
    was_suspended, is_suspended = update.values("spec", "suspend")
    if was_suspended is True or (is_suspended is True and update.versions.trainer >= (2, 3)):
        return

    for name, title in _PATCH_TITLES.items():
        if update.under("spec", name):
            condition = "before or after the update" if update.versions.trainer >= (2, 3) else ""
            rule = f"{title} can only be modified when the TrainJob is suspended {condition}"
            yield _rejection(
                ("spec", name),
                f"Forbidden: {rule}".rstrip(),
                "suspend the TrainJob first (spec.suspend: true), or give it another name for "
                "each run",
            )
            return


_rejection = webhook_rejection("trainer")
_TRAINER_CONTAINERS = ("node", "dataset-initializer", "model-initializer")
_ENV_SHAPE = [roundtrip.POD_SPEC["containers"][0]["env"][0]]
SPEC: roundtrip.FieldShapes = {
    "initializer": {
        "dataset": {"env": _ENV_SHAPE},
        "model": {"env": _ENV_SHAPE},
    },
    "trainer": {"env": _ENV_SHAPE, "command": roundtrip.STRINGS, "args": roundtrip.STRINGS},
}
LOOSE: roundtrip.FieldShapes = {}


def default(manifest: Json, *, complete: bool) -> Json:
    """Fill in group and kind of the runtime, suspend and managedBy (Trainer 2.3)."""
    user_spec = manifest.get("spec")
    if not isinstance(user_spec, Mapping):
        return manifest

    spec: JsonDict = {**roundtrip.as_go_reads(dict(user_spec), SPEC, LOOSE, complete=complete)}
    if isinstance(spec.get("runtimeRef"), Mapping):
        ref = without_none(spec["runtimeRef"])
        spec["runtimeRef"] = {"apiGroup": runtimes.GROUP, "kind": runtimes.CLUSTER_KIND, **ref}
    if spec.get("suspend") is None:
        spec["suspend"] = False
    if spec.get("managedBy") is None:
        spec["managedBy"] = f"{runtimes.GROUP}/trainjob-controller"

    return {**manifest, "spec": spec}


def validate(manifest: Json, request: KindContext) -> Problems:
    """Yield the webhook's rejections at creation. A runtime that neither a file nor a release
    defines is assumed to exist.

    An assumed runtime is checked only if it has a built-in runtime's name, of which it is most
    likely a copy. What follows from an example of Trainer that no file shows is a warning.
    `request.related` are the objects of the same stream, among them runtimes.
    """
    spec = nested_map(manifest, "spec")
    ref = nested_map(spec, "runtimeRef")
    kind = nested_string(ref, "kind")
    # as Go prints a GroupKind
    if group := nested_string(ref, "apiGroup"):
        kind = f"{kind}.{group}"
    if kind not in _SUPPORTED:
        message = f"Invalid value: unsupported runtime: {kind}" if ref else "Required value"
        yield _rejection(
            ("spec", "runtimeRef"),
            message,
            f"use kind {' or '.join(runtimes.KINDS)} of {runtimes.GROUP}",
        )
        return

    runtime = runtimes.find_runtime(manifest, request.related)
    if not request.established.decodes:
        yield from decode_problems(spec, _rejection, ("spec",))
    yield from _check_patches(nested_maps(spec, "runtimePatches"))
    if runtime.assumed and nested_string(ref, "name") not in runtimes.BUILTIN:
        return  # the requirements of a runtime in no file are unknown

    is_example = ref.get("name") not in runtimes.BUILTIN and all(
        runtime.source is not item for item in request.related
    )
    for problem in _check_with_runtime(manifest, runtime.source, request.versions):
        # the cluster's runtime may have no more than the name in common with an example of Trainer
        yield problem._replace(severity="warning") if is_example else problem


def _check_with_runtime(manifest: Json, runtime: Json, versions: Versions) -> Problems:
    spec = nested_map(manifest, "spec")
    yield from _check_initializers(spec, runtime, needs_mount=versions.trainer >= (2, 3))
    if runtimes.policy_of(runtime) == "torch":
        yield from _check_torch(spec, runtime)
    if nested_value(runtime, "spec", "podGroupPolicy", "volcano") is not None:
        yield from _check_queue(manifest, runtime)


_SUPPORTED = tuple(f"{kind}.{runtimes.GROUP}" for kind in runtimes.KINDS)


def _check_initializers(spec: Json, runtime: Json, *, needs_mount: bool) -> Problems:
    for step, name in (("dataset", "dataset-initializer"), ("model", "model-initializer")):
        if not isinstance(nested_value(spec, "initializer", step), Mapping):
            continue

        path = ("spec", "initializer", step)
        job = runtimes.find_job(runtime, name)
        help = "use a runtime that has it, or remove the initializer"
        if job is None:
            yield _rejection(
                path, f"Invalid value: the runtime must have a replicatedJob {name}", help
            )
            continue

        container = runtimes.find_container(job, name)
        if container is None:
            yield _rejection(
                path, f"Invalid value: the runtime's job {name} must have a container {name}", help
            )
            continue

        mounts = [mount.get("name") for mount in nested_maps(container, "volumeMounts")]
        if needs_mount and "initializer" not in mounts:
            yield _rejection(
                path,
                f"Invalid value: the runtime's container {name} must have a volumeMount with name "
                "initializer",
                "use a runtime whose initializer keeps what it loads on a volume",
            )


def _check_torch(spec: Json, runtime: Json) -> Problems:
    for i, entry in enumerate(nested_maps(spec, "trainer", "env")):
        name = nested_string(entry, "name")
        if name in runtimes.RESERVED_ENV:
            message = f"Forbidden: {name} is reserved: the runtime's torch policy sets it"
            if name.startswith("PET_MASTER_"):
                help = "remove it"
            else:
                help = "remove it; use numNodes and numProcPerNode"
            yield _rejection(("spec", "trainer", "env", i, "name"), message, help)

    for target in nested_maps(runtime, "spec", "mlPolicy", "torch", "envInjection", "targets"):
        yield from _check_injection(target, runtime)

    if nested_strings(spec, "trainer", "command") == ["tune", "run"]:
        yield from _check_tune(spec)


def _check_injection(target: Json, runtime: Json) -> Problems:
    path = ("spec", "runtimeRef")
    name = nested_string(target, "jobName")
    job = runtimes.find_job(runtime, name)
    if job is None:
        yield _rejection(
            path,
            f"Invalid value: the runtime's envInjection names a job {name!r} that does not exist",
            "fix the runtime",
        )
        return

    pod = nested_map(job, "template", "spec", "template", "spec")
    containers = [
        c.get("name") for key in ("containers", "initContainers") for c in nested_maps(pod, key)
    ]
    for container in nested_strings(target, "containerNames"):
        if container not in containers:
            yield _rejection(
                path,
                f"Invalid value: the runtime's envInjection names a container {container!r} that "
                f"{name} does not have",
                "fix the runtime",
            )


_MODELS = ("llama3_2/1B", "llama3_2/3B", "llama3_3/70B", "qwen2_5/1.5B")
_MULTI_NODE_MODEL = "llama3_3/70B"


def _check_tune(spec: Json) -> Problems:
    """Check `tune run`; the runtime's name gives the model."""
    runtime = nested_string(spec, "runtimeRef", "name")
    model = runtimes.tune_model(runtime)
    path = ("spec", "runtimeRef", "name")
    args = nested_strings(spec, "trainer", "args")
    lora = any(a.startswith("model.lora_attn_modules") for a in args)
    if model not in _MODELS:
        yield _rejection(
            path,
            f'Invalid value: "{runtime}": `tune run` must have a supported pretrained model',
            "use a torchtune runtime, such as torchtune-llama3.2-1b, or use another command",
        )

    nodes = nested_int(spec, "trainer", "numNodes", default=1)
    if nodes > 1 and (model != _MULTI_NODE_MODEL or lora):
        if lora and model == _MULTI_NODE_MODEL:
            reason = "LoRA fine-tuning"
        else:
            reason = f"the model {model or 'of this runtime'}"
        yield _rejection(
            ("spec", "trainer", "numNodes"),
            f"Invalid value: {nodes}: must be 1 for {reason}",
            "use one node",
        )
    if "model.quantize_base=True" in args and lora and model.startswith("qwen"):
        yield _rejection(
            ("spec", "trainer", "args", args.index("model.quantize_base=True")),
            "Invalid value: QLoRA is not supported for qwen",
            "use LoRA",
        )


def _check_queue(manifest: Json, runtime: Json) -> Problems:
    key = "scheduling.volcano.sh/queue-name"
    annotations = nested_string_map(runtime, "spec", "template", "metadata", "annotations")
    if annotations.get(key) == "":
        yield _rejection(
            ("spec", "runtimeRef"),
            f"Invalid value: the runtime's annotation {key} is empty",
            "name a queue",
        )
    if nested_string_map(manifest, "metadata", "annotations").get(key) == "":
        yield _rejection(
            ("metadata", "annotations", key), 'Invalid value: "": must not be empty', "name a queue"
        )


def _check_patches(patches: Sequence[Json]) -> Problems:
    for i, patch in enumerate(patches):
        path = ("spec", "runtimePatches", i)
        manager = nested_string(patch, "manager")
        if manager and (why := names.why_not_domain_prefixed_path(manager)):
            yield _rejection(
                (*path, "manager"),
                f'Invalid value: "{manager}": {why}',
                "write DOMAIN/NAME, such as acme.io/foo",
            )

        for container_path, container in patched_containers(patch, path):
            name = nested_string(container, "name")
            if name in _TRAINER_CONTAINERS and nested_maps(container, "env"):
                user_field = "spec.trainer.env" if name == "node" else "spec.initializer"
                yield _rejection(
                    (*container_path, "env"),
                    f"Forbidden: env of the container {name} may not be patched",
                    f"use {user_field}",
                )


def patched_containers(patch: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    """Yield each container that a runtime patch changes, with its path."""
    spec = nested_map(patch, "trainingRuntimeSpec", "template", "spec")
    base = (*path, "trainingRuntimeSpec", "template", "spec", "replicatedJobs")
    for i, job in enumerate(nested_maps(spec, "replicatedJobs")):
        pod = nested_map(job, "template", "spec", "template", "spec")
        for key in ("initContainers", "containers"):
            for j, container in enumerate(nested_maps(pod, key)):
                yield (*base, i, "template", "spec", "template", "spec", key, j), container


_CONTAINERS = {
    "trainer": "node",
    "dataset-initializer": "dataset-initializer",
    "model-initializer": "model-initializer",
}
_VALIDATION_LABEL = f"{runtimes.GROUP}/webhook-validation"


def validate_runtime(manifest: Json, request: KindContext) -> Problems:
    """Check that jobs with an ancestor label run once and have the container that a TrainJob fills
    in.

    The webhook skips a runtime whose label disables validation; its rejections are then reported at
    stage "run".
    """
    is_disabled = (
        nested_string_map(manifest, "metadata", "labels").get(_VALIDATION_LABEL) == "disabled"
    )
    for problem in _check_runtime(manifest, request.established):
        yield problem._replace(stage="run") if is_disabled else problem


def _check_runtime(manifest: Json, established: Established) -> Problems:
    if not established.decodes:
        yield from decode_problems(nested_map(manifest, "spec"), _rejection, ("spec",))
    for i, job in enumerate(runtimes.replicated_jobs(manifest)):
        step = runtimes.step_label(job)
        if step not in _CONTAINERS:
            continue

        path = ("spec", "template", "spec", "replicatedJobs", i)
        if job.get("replicas") not in (None, 1):
            message = f"Invalid value: {job['replicas']}: always must be 1 for the ancestor {step}"
            yield _rejection(
                (*path, "replicas"), message, "remove replicas; a TrainJob says how many nodes"
            )
        if runtimes.find_container(job, _CONTAINERS[step]) is None:
            message = (
                f"Required value: must have the container {_CONTAINERS[step]} for the ancestor "
                f"{step}"
            )
            yield _rejection(
                (*path, "template", "spec", "template", "spec", "containers"),
                message,
                f"call the container {_CONTAINERS[step]}",
            )


REJECTIONS = Rejections(
    crd_rules=train_job_rules,
    validate=validate,
    controller_errors=controller_errors,
    check_children=check_train_job,
    immutable_fields=FIXED,
    validate_update=validate_update,
)
REJECTIONS_OF_RUNTIMES = Rejections(
    crd_rules=training_runtime_rules,
    validate=validate_runtime,
    check_children=check_runtime,
    immutable_fields=tuple(
        (f"spec.template.spec.{path}", "Value is immutable") for path in FIXED_FIELDS
    ),
    unseen_changes=lambda _old: (
        (("spec",), "running TrainJobs are unchanged; it applies to later ones"),
    ),
)
