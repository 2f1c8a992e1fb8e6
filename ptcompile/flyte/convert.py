"""A Flyte task to a TrainingJob document. Every mistake is found in one go, at its place in the Flyte call."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ptcompile import emit
from ptcompile.diagnostics import Path, Problem
from ptcompile.flyte import foreign, pods, rest
from ptcompile.flyte.amounts import Amounts, spread, to_spec
from ptcompile.flyte.found import FlyteError, FlyteWarning, changed, wrong
from ptcompile.flyte.knobs import Knobs, deadline, task_amounts
from ptcompile.flyte.launch import launch
from ptcompile.flyte.roles import Shape, shape
from ptcompile.flyte.verdict import read

if TYPE_CHECKING:
    from ptcompile.spec import Spec


@dataclass(frozen=True, slots=True)
class Converted:
    """What became of a Flyte task: a TrainingJob document, and all there is to say about it."""

    document: dict[str, Any]
    problems: tuple[Problem, ...]
    """Paths are those of the Flyte call. Warnings say what is not carried over, or means something else here."""

    @property
    def ok(self) -> bool:
        """Whether there is a Spec. Warnings are fine."""
        return all(problem.severity != "error" for problem in self.problems)

    def spec(self) -> Spec:
        """The task as a Spec.

        Each warning is issued as a `FlyteWarning`.

        Raises:
            FlyteError: the task has a mistake; all of them are in its `problems`.
        """
        from ptcompile.spec import Spec

        if not self.ok:
            raise FlyteError(self.problems)
        for problem in self.problems:
            warnings.warn(problem.message, FlyteWarning, stacklevel=3)
        return Spec.model_validate(self.document)

    def yaml(self) -> str:
        """The task as the text of a TrainingJob file.

        Raises:
            FlyteError: the task has a mistake.
        """
        if not self.ok:
            raise FlyteError(self.problems)
        return emit.emit(self.document)


def to_yaml(spec: Spec) -> str:
    """A Spec as the text of a TrainingJob file: what was said, and nothing that is a default."""
    data = {"apiVersion": spec.api_version, "kind": spec.kind}
    return emit.emit({**data, **spec.model_dump(by_alias=True, exclude_unset=True)})


def convert(config: Any, name: str, knobs: Knobs, *, module: str | None = None) -> Converted:
    """Any task: `config` is one of PyTorch, Elastic or None, ours or flytekitplugins-kfpytorch's.

    `module` is where the decorated function stands; it is what starts where nothing else is named.
    """
    found: list[Problem] = []
    amounts = task_amounts(knobs, found)
    job, roles = shape(config, knobs, found)
    return _document(name, knobs, amounts, Shape(job, roles), launch(config, knobs, module, found), found)


def _document(
    name: str, knobs: Knobs, amounts: Amounts, form: Shape, starts: Mapping[str, Any], found: list[Problem]
) -> Converted:
    """The whole document, from what the task is, how many pods it has and what starts in them."""
    platform = knobs.get("platform")
    beneath = platform.rest if platform is not None else rest.NOTHING
    gpu = platform.profile.spec.gpu.resource_name if platform is not None else "nvidia.com/gpu"
    template = pods.template(
        knobs.get("pod_template"), amounts, gpu, starts="command" in starts or "elastic" in form.job, found=found
    )
    if knobs.get("pod_template_name"):
        message = "a PodTemplate object of the cluster cannot be read from here"
        found.append(changed(("pod_template_name",), message, "give its content as pod_template"))
    secret = pods.secrets(knobs.get("secret_requests") or (), found)
    common, of_roles = spread(amounts, [role.amounts for role in form.roles.values()])
    labels = {**template.labels, **(knobs.get("labels") or {})}
    annotations = {**template.annotations, **(knobs.get("annotations") or {})}
    device = foreign.device(knobs.get("accelerator"), found)
    has_gpu = any("gpu" in one for one in (common, *of_roles))
    if device is not None and not has_gpu:
        # Flyte 1.16 looks at accelerators only where a container has a limit of one
        found.append(changed(("accelerator",), "no pod asks for a GPU, so it means nothing", "ask for gpu, or drop it"))
        device = None
    spec = {
        "target": knobs.get("target"),
        "image": _image(knobs, found) or template.image,
        **starts,
        **form.job,
        "resources": to_spec(common),
        "accelerator": rest.catalogue_name(device, platform),
        "spot": knobs.get("interruptible") or None,
        "env": {**_env(knobs, found), **secret.env},
        "volumes": secret.volumes,
        "volumeMounts": secret.mounts,
        "podLabels": labels,
        "podAnnotations": annotations,
        "podTemplate": _patch(template, knobs, found),
        **{key: {**role.fields, "resources": to_spec(own)} for (key, role), own in zip(form.roles.items(), of_roles, strict=True)},
    }
    spec["runPolicy"] = deadline(spec.get("runPolicy") or {}, knobs, found)
    spec = {key: _bare(value) for key, value in rest.lay(spec, beneath, device).items()}
    metadata = {"name": name, "namespace": knobs.get("namespace"), "labels": labels, "annotations": annotations}
    document = {
        "apiVersion": "ptcompile/v1",
        "kind": "TrainingJob",
        "metadata": {key: value for key, value in metadata.items() if value},
        "spec": {key: value for key, value in spec.items() if value is not None and value != {} and value != []},
    }
    return Converted(document, (*found, *read(document, found)))


def _bare(value: Any) -> Any:
    """A role or a policy without what it does not say."""
    if not isinstance(value, Mapping):
        return value
    return {key: item for key, item in value.items() if item is not None and item != {} and item != []}


def _patch(template: pods.Template, knobs: Knobs, found: list[Problem]) -> dict[str, Any]:
    """The pod template patch; its image stands over the task's, as in flytekit 1.16."""
    spec = dict(template.spec)
    if template.image is None or not _image(knobs, found) or template.image == _image(knobs, found):
        return {"spec": spec} if spec else {}
    containers = list(spec.get("containers") or [])
    main = next((one for one in containers if one.get("name") == pods.MAIN), {"name": pods.MAIN})
    others = [one for one in containers if one.get("name") != pods.MAIN]
    return {"spec": {**spec, "containers": [{**main, "image": template.image}, *others]}}


def _image(knobs: Knobs, found: list[Problem]) -> str | None:
    return foreign.image(knobs.get("container_image") or knobs.get("image"), ("container_image",), found)


def _env(knobs: Knobs, found: list[Problem]) -> dict[str, str]:
    out = {}
    for name, value in (knobs.get("environment") or {}).items():
        path: Path = ("environment", str(name))
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            found.append(wrong("spec-wrong-type", path, f"{value!r} is not text", "write it as a string"))
        else:
            out[str(name)] = str(value)
    return out
