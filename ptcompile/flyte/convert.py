"""Conversion of a Flyte task to a TrainingJob document. All mistakes are found at once, each with
its path in the call.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Path, Problem, has_error
from ptcompile.flyte import pods, resources as foreign
from ptcompile.flyte.findings import shape_problems
from ptcompile.flyte.keywords import (
    Knobs,
    drop_mistyped,
    named_images,
    policy_origins,
    task_resources,
    with_retries_and_timeout,
)
from ptcompile.flyte.launch import EntryPoint, task_launch
from ptcompile.flyte.problems import CallProblems, FlyteError, FlyteWarning, call_warning
from ptcompile.flyte.resources import (
    DEVICES,
    Amounts,
    entry_name,
    split_by_role,
    to_spec,
    with_plain_numbers,
)
from ptcompile.flyte.roles import CLEAN_POD_POLICY, RoleLayout, role_layout
from ptcompile.kubernetes.unstructured import Json, JsonDict
from ptcompile.source import emitter
from ptcompile.source.secrets.names import mask_value

if TYPE_CHECKING:
    from ptcompile.flyte.platforms import Platform
    from ptcompile.spec.training_job import Spec


@dataclass(frozen=True, slots=True)
class Converted:
    """A converted Flyte task: a TrainingJob document, and the problems of the conversion."""

    document: JsonDict
    problems: tuple[Problem, ...]
    """Problems with paths in the Flyte call. Warnings report what is dropped or means something
    else here.
    """
    platform: Platform | None = None
    """The platform that the task was converted for."""
    objects: tuple[JsonDict, ...] = ()
    """Manifests that the job needs in addition: the runner's ConfigMap, with `embed`."""
    origins: tuple[tuple[Path, Path], ...] = ()
    """Spec paths whose values come from other keywords than usual, such as `retries`, with their
    call paths.
    """
    task_config: Any = None
    """The task's configuration, as given."""
    keywords: Knobs = field(default_factory=Knobs)
    """The task's other keywords."""

    @property
    def ok(self) -> bool:
        """Whether there is a Spec; warnings are allowed."""
        return not has_error(self.problems)

    def spec(self) -> Spec:
        """Return the task as a Spec. It does not include `objects`.

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
        """Return the task as the text of a TrainingJob file.

        Raises:
            FlyteError: the task has a mistake.
        """
        if not self.ok:
            raise FlyteError(self.problems)
        return emitter.emit(self.document)


def to_yaml(spec: Spec) -> str:
    """Return a Spec as the text of a TrainingJob file, without fields at their defaults."""
    data = spec.document(only_set=True)
    job = order_fields(data["spec"])
    for block in (job, job.get("master"), job.get("worker")):
        if block and "resources" in block:
            block["resources"] = with_plain_numbers(block["resources"])
    head = {"apiVersion": spec.api_version, "kind": spec.kind, "metadata": data["metadata"]}
    return emitter.emit({**head, "spec": job})


def order_fields(job: Json) -> JsonDict:
    """Return a JobSpec with its fields in reading order; other fields come last."""
    order = load_table("flyte/tables.json")["order"]
    return {**{key: job[key] for key in order if key in job}, **job}


def convert(config: Any, name: str, knobs: Knobs, called: EntryPoint | None) -> Converted:
    """Convert any task: `config` is PyTorch, Elastic or None, ours or flytekitplugins-kfpytorch's.

    `called` is the task's function; it runs unless the task names another program.
    """
    problems = CallProblems()
    knobs = drop_mistyped(knobs, problems)
    amounts = task_resources(knobs, problems)
    layout = role_layout(config, knobs, problems)
    starts = task_launch(config, knobs, called, name, problems)
    platform = knobs.get("platform")
    gpu = platform.profile.spec.gpu.resource_name if platform is not None else "nvidia.com/gpu"
    has_own_start = "command" in starts.job or "elastic" in layout.job
    template = pods.read_template(
        knobs.get("pod_template"),
        amounts,
        gpu,
        named_images(knobs),
        starts=has_own_start,
        problems=problems,
    )
    if knobs.get("pod_template_name"):
        message = "a PodTemplate object of the cluster cannot be read from here"
        problems.warning(("pod_template_name",), message, "give its content as pod_template")

    spec = {**_pod_fields(knobs, template, problems), **starts.job, **layout.job}
    spec["volumes"] = [*spec["volumes"], *starts.volumes]
    spec["volumeMounts"] = [*spec["volumeMounts"], *starts.mounts]
    _set_resources(spec, knobs, amounts, layout, problems)
    _set_clean_pod_policy(spec, problems)
    policy = spec.get("runPolicy") or {}
    spec["runPolicy"] = with_retries_and_timeout(policy, knobs, problems)
    origins = policy_origins(policy, spec["runPolicy"])
    labels = {"labels": spec["podLabels"], "annotations": spec["podAnnotations"]}
    document = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": _without_unset({"name": name, "namespace": knobs.get("namespace"), **labels}),
        "spec": _without_unset(order_fields(spec)),
    }
    problems += shape_problems(document, problems, origins)
    if has_error(problems):
        # notes describe a job, but there is none
        problems[:] = [problem for problem in problems if problem.severity != "note"]

    return Converted(
        document=document,
        problems=tuple(problems),
        platform=platform,
        objects=starts.objects,
        origins=origins,
        task_config=config,
        keywords=knobs,
    )


GPU_TAINT = {"key": "flyte/gpu", "operator": "Equal", "value": "dedicated", "effect": "NoSchedule"}
"""The toleration of GPU pods without a platform: the taint of flytekit's documentation and of
Flyte's sample configuration (1.16). A platform's own `resource-tolerations` are in its profile.
"""


def _pod_fields(knobs: Knobs, template: pods.TaskPodTemplate, problems: CallProblems) -> JsonDict:
    """Return the task's pod fields, whatever its roles."""
    secret = pods.read_secrets(knobs.get("secret_requests") or (), problems)
    image = pods.image_of(
        knobs.get("container_image") or knobs.get("image"),
        ("container_image",),
        named_images(knobs),
        problems,
    )

    return {
        "target": knobs.get("target"),
        # the template's image wins over the task's, as in flytekit 1.16
        "image": template.image or image,
        "env": {**_env_fields(knobs, problems), **secret.env},
        "volumes": secret.volumes,
        "volumeMounts": secret.mounts,
        # Flyte labels pods and, since 2026-08, the job, where Kueue reads its queue label
        "podLabels": {**template.labels, **(knobs.get("labels") or {})},
        "podAnnotations": {**template.annotations, **(knobs.get("annotations") or {})},
        "podTemplate": {"spec": template.spec} if template.spec else {},
    }


def _set_resources(
    spec: JsonDict,
    knobs: Knobs,
    amounts: Amounts,
    layout: RoleLayout,
    problems: CallProblems,
) -> None:
    """Add the resources, the roles and the placement of the pods."""
    common, of_roles = split_by_role(amounts, [role.amounts for role in layout.roles.values()])
    for (key, role), role_amounts in zip(layout.roles.items(), of_roles, strict=True):
        spec[key] = _without_unset({**role.fields, "resources": to_spec(role_amounts)})
    spec["resources"] = to_spec(common)
    spec["spot"] = knobs.get("interruptible") or None
    if knobs.get("platform") is None:
        blocks = {
            key: spec[key]
            for key, role_amounts in zip(layout.roles, of_roles, strict=True)
            if "gpu" in role_amounts
        }
        for block in (spec,) if "gpu" in common else blocks.values():
            block["tolerations"] = [GPU_TAINT]

    device = foreign.read_device(knobs.get("accelerator"), problems)
    if device is None:
        return

    if any("gpu" in amounts_of_role for amounts_of_role in (common, *of_roles)):
        platform = knobs.get("platform")
        spec["accelerator"] = entry_name(
            device, platform.devices if platform is not None else DEVICES
        )
    else:
        # Flyte 1.16 reads accelerators only if a container has a GPU limit
        problems.warning(
            ("accelerator",),
            "no pod requests a GPU, so it has no effect",
            "request gpu, or remove it",
        )


def _set_clean_pod_policy(spec: JsonDict, problems: CallProblems) -> None:
    """Write out the meaning of a Flyte task without a clean_pod_policy, with a note on what
    remaining pods hold.

    Flyte 1.16 then leaves the field out, and the operator's default is None: pods that still run
    when the job is over stay. A spec's own default is Running.
    """
    policy = spec.get("runPolicy") or {}
    if spec.get("target") != "pytorchjob" or policy.get("cleanPodPolicy") is not None:
        return

    spec["runPolicy"] = {**policy, "cleanPodPolicy": "None"}
    blocks = (spec, spec.get("master", {}), spec.get("worker", {}))
    held = "their resources"
    if any("gpu" in block.get("resources", {}) for block in blocks):
        held = "their GPUs"
    message = (
        f"is not set, so Flyte deletes no pods: running pods still hold {held} when the job is over"
    )
    help = "give run_policy=RunPolicy(clean_pod_policy=CleanPodPolicy.RUNNING)"
    problems.append(call_warning(CLEAN_POD_POLICY, message, help)._replace(severity="note"))


def _without_unset(values: Json) -> JsonDict:
    """Return only the set fields: no null and nothing empty, except an empty list of arguments."""
    kept = {
        key: _without_unset(value) if key == "runPolicy" else value for key, value in values.items()
    }
    return {
        key: value
        for key, value in kept.items()
        if value is not None and value != {} and (value != [] or key == "args")
    }


def _env_fields(knobs: Knobs, problems: CallProblems) -> dict[str, str]:
    out = {}
    environment: Json = knobs.get("environment") or {}
    for name, value in environment.items():
        path: Path = ("environment", str(name))
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            message = f"{mask_value(str(name), repr(value))} is not text"
            problems.error("spec-wrong-type", path, message, "write it as a string")
        else:
            out[str(name)] = str(value)

    return out
