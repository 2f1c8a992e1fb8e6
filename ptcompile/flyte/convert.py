"""A Flyte task to a TrainingJob document. Every mistake is found in one go, at its place in the Flyte call."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptcompile.diagnostics import Path, Problem
from ptcompile.flyte import pods, resources as foreign
from ptcompile.flyte.findings import read
from ptcompile.flyte.keywords import Knobs, deadline, named, sound, task_amounts
from ptcompile.flyte.launch import EntryPoint, launch
from ptcompile.flyte.problems import FlyteError, FlyteWarning, call_error, call_warning
from ptcompile.flyte.resources import DEVICES, Amounts, entry_name, plain, spread, to_spec
from ptcompile.flyte.roles import CONFIG, RoleLayout, shape
from ptcompile.source import emitter
from ptcompile.source.secrets.names import mask_value

if TYPE_CHECKING:
    from ptcompile.flyte.platforms import Platform
    from ptcompile.spec.training_job import Spec


@dataclass(frozen=True, slots=True)
class Converted:
    """What became of a Flyte task: a TrainingJob document, and all there is to say about it."""

    document: dict[str, Any]
    problems: tuple[Problem, ...]
    """Paths are those of the Flyte call. Warnings say what is not carried over, or means something else here."""
    platform: Platform | None = None
    """The platform that the task was converted for."""
    objects: tuple[dict[str, Any], ...] = ()
    """Manifests that the job needs beside its own: the runner's ConfigMap, with `embed`."""

    @property
    def ok(self) -> bool:
        """Whether there is a Spec. Warnings are fine."""
        return all(problem.severity != "error" for problem in self.problems)

    def spec(self) -> Spec:
        """The task as a Spec. It does not include `objects`.

        Each warning is issued as a `FlyteWarning`.

        Raises:
            FlyteError: the task has a mistake; all of them are in its `problems`.
        """
        from ptcompile.spec.training_job import Spec

        if not self.ok:
            raise FlyteError(self.problems)
        for problem in self.problems:
            if problem.severity == "warning":
                warnings.warn(problem.message, FlyteWarning, stacklevel=3)
        return Spec.model_validate(self.document)

    def yaml(self) -> str:
        """The task as the text of a TrainingJob file.

        Raises:
            FlyteError: the task has a mistake.
        """
        if not self.ok:
            raise FlyteError(self.problems)
        return emitter.emit(self.document)


def to_yaml(spec: Spec) -> str:
    """A Spec as the text of a TrainingJob file: what was said, and nothing that is a default."""
    data = spec.document(given=True)
    job = in_order(data["spec"])
    for block in (job, job.get("master"), job.get("worker")):
        if block and "resources" in block:
            block["resources"] = plain(block["resources"])
    head = {"apiVersion": spec.api_version, "kind": spec.kind, "metadata": data["metadata"]}
    return emitter.emit({**head, "spec": job})


def in_order(job: Mapping[str, Any]) -> dict[str, Any]:
    """A JobSpec with the words in the order in which a person reads them, and the others behind."""
    return {**{key: job[key] for key in _ORDER if key in job}, **job}


def convert(config: Any, name: str, knobs: Knobs, called: EntryPoint | None = None) -> Converted:
    """Any task: `config` is one of PyTorch, Elastic or None, ours or flytekitplugins-kfpytorch's.

    `called` is the task's function; it is what runs where nothing else is named.
    """
    found: list[Problem] = []
    knobs = sound(knobs, found)
    amounts = task_amounts(knobs, found)
    form = shape(config, knobs, found)
    starts = launch(config, knobs, called, name, found)
    platform = knobs.get("platform")
    gpu = platform.profile.spec.gpu.resource_name if platform is not None else "nvidia.com/gpu"
    own_start = "command" in starts.job or "elastic" in form.job
    template = pods.template(knobs.get("pod_template"), amounts, gpu, named(knobs), starts=own_start, found=found)
    if knobs.get("pod_template_name"):
        message = "a PodTemplate object of the cluster cannot be read from here"
        found.append(call_warning(("pod_template_name",), message, "give its content as pod_template"))
    spec = {**_pods(knobs, template, found), **starts.job, **form.job}
    spec["volumes"], spec["volumeMounts"] = [*spec["volumes"], *starts.volumes], [*spec["volumeMounts"], *starts.mounts]
    _place(spec, knobs, amounts, form, found)
    _left(spec, found)
    spec["runPolicy"] = deadline(spec.get("runPolicy") or {}, knobs, found)
    labels = {"labels": spec["podLabels"], "annotations": spec["podAnnotations"]}
    document = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": _said({"name": name, "namespace": knobs.get("namespace"), **labels}),
        "spec": _said(in_order(spec)),
    }
    found += read(document, found)
    if any(one.severity == "error" for one in found):
        found = [one for one in found if one.severity != "note"]  # there is no job that they could be about
    return Converted(document, tuple(found), platform, starts.objects)


GPU_TAINT = {"key": "flyte/gpu", "operator": "Equal", "value": "dedicated", "effect": "NoSchedule"}
"""What pods with GPUs tolerate where no platform is given: the taint of flytekit's documents and of Flyte's sample
configuration (1.16). A platform's own `resource-tolerations` stand in its profile."""

_ORDER = (
    "target", "image", "command", "script", "module", "args", "elastic", "master", "worker", "resources", "accelerator",
    "spot", "sharedMemory", "env", "envFrom", "volumes", "volumeMounts", "runPolicy", "podLabels", "podAnnotations",
    "imagePullPolicy", "hostNetwork", "securityContext", "podSecurityContext", "tolerations", "affinity", "podTemplate",
)  # fmt: skip


def _pods(knobs: Knobs, template: pods.TaskPodTemplate, found: list[Problem]) -> dict[str, Any]:
    """What the task says of its pods, whatever its shape."""
    secret = pods.secrets(knobs.get("secret_requests") or (), found)
    image = pods.image_of(knobs.get("container_image") or knobs.get("image"), ("container_image",), named(knobs), found)
    return {
        "target": knobs.get("target"),
        # the template's image stands over the task's, as in flytekit 1.16
        "image": template.image or image,
        "env": {**_env(knobs, found), **secret.env},
        "volumes": secret.volumes,
        "volumeMounts": secret.mounts,
        # Flyte marks pods and, since 2026-08, the job: Kueue looks for its queue's label there
        "podLabels": {**template.labels, **(knobs.get("labels") or {})},
        "podAnnotations": {**template.annotations, **(knobs.get("annotations") or {})},
        "podTemplate": {"spec": template.spec} if template.spec else {},
    }


def _place(spec: dict[str, Any], knobs: Knobs, amounts: Amounts, form: RoleLayout, found: list[Problem]) -> None:
    """Add the resources, the roles and what decides where the pods go."""
    common, of_roles = spread(amounts, [role.amounts for role in form.roles.values()])
    for (key, role), own in zip(form.roles.items(), of_roles, strict=True):
        spec[key] = _said({**role.fields, "resources": to_spec(own)})
    spec["resources"] = to_spec(common)
    spec["spot"] = knobs.get("interruptible") or None
    if knobs.get("platform") is None:
        blocks = {key: spec[key] for key, own in zip(form.roles, of_roles, strict=True) if "gpu" in own}
        for block in (spec,) if "gpu" in common else blocks.values():
            block["tolerations"] = [GPU_TAINT]
    device = foreign.device(knobs.get("accelerator"), found)
    if device is None:
        return
    if any("gpu" in one for one in (common, *of_roles)):
        platform = knobs.get("platform")
        spec["accelerator"] = entry_name(device, platform.devices if platform is not None else DEVICES)
    else:
        # Flyte 1.16 looks at accelerators only where a container has a limit of one
        found.append(
            call_warning(("accelerator",), "no pod requests a GPU, so it has no effect", "request gpu, or remove it")
        )


def _left(spec: dict[str, Any], found: list[Problem]) -> None:
    """Write out what a Flyte task without a clean_pod_policy means, and say what that holds.

    Flyte 1.16 leaves the field out then, and the operator's default is None: pods that still run when the job is over
    stay. A spec's own default is Running.
    """
    policy = spec.get("runPolicy") or {}
    if spec.get("target") != "pytorchjob" or policy.get("cleanPodPolicy") is not None:
        return
    spec["runPolicy"] = {**policy, "cleanPodPolicy": "None"}
    blocks = (spec, spec.get("master", {}), spec.get("worker", {}))
    gpus = "their GPUs" if any("gpu" in block.get("resources", {}) for block in blocks) else "what they asked for"
    message = f"is not set, so Flyte deletes no pods: when the job is over, running pods still hold {gpus}"
    help = "give run_policy=RunPolicy(clean_pod_policy=CleanPodPolicy.RUNNING)"
    found.append(call_warning((*CONFIG, "run_policy", "clean_pod_policy"), message, help)._replace(severity="note"))


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    """Only what is said: no null and nothing empty, except an empty list of arguments."""
    kept = {key: _said(value) if key == "runPolicy" else value for key, value in values.items()}
    return {
        key: value
        for key, value in kept.items()
        if value is not None and value != {} and (value != [] or key == "args")
    }


def _env(knobs: Knobs, found: list[Problem]) -> dict[str, str]:
    out = {}
    given: Mapping[str, Any] = knobs.get("environment") or {}
    for name, value in given.items():
        path: Path = ("environment", str(name))
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            message = f"{mask_value(str(name), repr(value))} is not text"
            found.append(call_error("spec-wrong-type", path, message, "write it as a string"))
        else:
            out[str(name)] = str(value)
    return out
