"""Pod templates, secrets and images of a Flyte task."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ptcompile.diagnostics import Path
from ptcompile.flyte import resources as foreign
from ptcompile.flyte.problems import CallProblems
from ptcompile.flyte.resources import Amounts
from ptcompile.kubernetes.unstructured import JsonDict, without_falsy, without_keys
from ptcompile.spec.checks import MAIN

_IMAGE_TEMPLATE = re.compile(
    r"\{\{\s*\.images?\.(?P<name>[a-zA-Z0-9_-]+)(?:\.(?P<part>[a-zA-Z0-9_-]+))?\s*\}\}",
    re.IGNORECASE,
)
"""Matches `{{.image.NAME}}`, `{{.image.NAME.fqn}}` and `{{.image.NAME.version}}` (flytekit
1.16).
"""


def image_of(
    value: Any, path: Path, images: Mapping[str, str], problems: CallProblems
) -> str | None:
    """Return an image reference: text with its templates filled from `images`, or the future
    name of an ImageSpec.
    """
    if value is None or isinstance(value, str):
        if value:
            return _fill_templates(value, path, images, problems)
        return None

    name = getattr(value, "image_name", None)
    text = name() if callable(name) else None
    if not isinstance(text, str):
        message = f"{type(value).__name__} is not an image"
        problems.error(
            "spec-wrong-type", path, message, 'use an image reference, such as "acme/llama:2"'
        )
        return None

    if getattr(value, "registry", None):
        problems.note(
            "image-contents",
            path,
            f"an ImageSpec, which is built and pushed by `pyflyte build`: nodes pull {text}",
        )
    else:
        message = (
            f"an ImageSpec without a registry: {text} exists only where it is built, and nodes "
            "cannot pull it"
        )
        problems.warning(path, message, "give the ImageSpec a registry")

    return text


def _fill_templates(
    text: str, path: Path, images: Mapping[str, str], problems: CallProblems
) -> str | None:
    """Replace each template by the image of its name, as flytekit does when it registers a task."""
    missing = [name for name, _ in _IMAGE_TEMPLATE.findall(text) if name not in images]
    for name in dict.fromkeys(missing):
        message = (
            f"{text} takes the image {name!r} from Flyte's configuration, which is unknown here"
        )
        flag = "--image IMAGE" if name == "default" else f"--image {name}=IMAGE"
        problems.error("spec-missing-field", path, message, f"{flag}, or images={{{name!r}: ...}}")

    if missing:
        return None

    # a version that is a digest is joined with @
    text = re.sub(r":(?=\{\{[^}]*\.version\s*\}\})", "", text)
    return _IMAGE_TEMPLATE.sub(
        lambda match: _reference_part(images[match["name"]], match["part"]), text
    )


def _reference_part(reference: str, part: str | None) -> str:
    """Return a whole reference, its name (`fqn`), or its tag or digest with the leading sign
    (`version`).
    """
    match = re.fullmatch(r"(.+?)((?::[^:/@]+)?(?:@.+)?)", reference)
    name, version = match.groups() if match else (reference, "")
    return {"fqn": name, "version": version}.get((part or "").lower(), reference)


SECRETS_PATH = "/etc/flyte/secrets"
"""Mount path of secrets from Flyte's webhook (flyte 1.16)."""

_RESOURCE_NAMES = {"cpu": "cpu", "memory": "memory", "ephemeralStorage": "ephemeral-storage"}
_START_FIELDS = frozenset({"command", "args"})


class TaskPodTemplate(NamedTuple):
    """A pod template whose main container is named `pytorch`."""

    spec: JsonDict
    labels: dict[str, str]
    annotations: dict[str, str]
    image: str | None


def read_template(
    value: Any,
    amounts: Amounts,
    gpu: str,
    images: Mapping[str, str],
    *,
    starts: bool,
    problems: CallProblems,
) -> TaskPodTemplate:
    """Read a PodTemplate of flytekit 1.16 or ours, or a Kubernetes pod template as plain data.

    The task's own settings win, key by key: its resources over the container's, its command over
    the container's (`starts`). The template's image wins over the task's, as in flytekit. `gpu` is
    the resource name behind `gpu`; `images` has the images of templates.
    """
    if value is None:
        return TaskPodTemplate({}, {}, {}, None)

    spec, labels, annotations, primary = _template_parts(value)
    containers = foreign.as_dict(spec).get("containers") or []
    if (
        not isinstance(spec, dict)
        or not isinstance(containers, list)
        or not all(isinstance(container, Mapping) for container in containers)
    ):
        problems.error(
            "spec-wrong-type", ("pod_template",), "a pod's spec has a list of containers"
        )
        return TaskPodTemplate({}, labels, annotations, None)

    names = [str(container.get("name")) for container in containers]
    primary = primary or _guess_main(names)
    if names and primary not in names:
        message = (
            f"no container is called {primary!r}, so the task runs in another container, beside "
            f"{', '.join(names)}"
        )
        help = f"name the task's container {primary}, or set primary_container_name"
        problems.note("unlike-flyte", ("pod_template",), message, help)

    sidecars = [container for container in containers if container.get("name") != primary]
    main = next(
        (dict(container) for container in containers if container.get("name") == primary), {}
    )
    image = main.pop("image", None)
    dropped = _START_FIELDS if starts else frozenset()
    main = without_keys(main, *dropped)
    main["resources"] = _without_named(
        main.get("resources") or {},
        {*(_RESOURCE_NAMES.get(key, gpu) for key in amounts)},
        gpu,
        amounts,
    )
    main = {key: item for key, item in {**main, "name": MAIN}.items() if item not in ({}, [], None)}
    kept = [main] if len(main) > 1 else []
    spec = without_keys(spec, "containers")
    if kept or sidecars:
        spec["containers"] = [*kept, *sidecars]

    return TaskPodTemplate(
        spec, labels, annotations, image_of(image, ("pod_template", "image"), images, problems)
    )


def _template_parts(value: Any) -> tuple[Any, dict[str, str], dict[str, str], str | None]:
    """Return the spec, labels, annotations and main container's name of a Flyte pod template."""
    if isinstance(value, Mapping):
        data = foreign.to_plain_data(value)
        metadata = foreign.as_dict(data.get("metadata"))
        labels = foreign.as_dict(metadata.get("labels"))
        return data.get("spec") or {}, labels, foreign.as_dict(metadata.get("annotations")), None

    spec = foreign.to_plain_data(getattr(value, "pod_spec", None)) or {}
    labels = getattr(value, "labels", None) or {}
    annotations = getattr(value, "annotations", None) or {}

    return spec, dict(labels), dict(annotations), getattr(value, "primary_container_name", None)


def _guess_main(names: list[str]) -> str:
    """Return the main container of a plain template: by Flyte's and our names, else the only
    one.
    """
    usual = next((name for name in (MAIN, "primary") if name in names), None)
    return usual or (names[0] if len(names) == 1 else MAIN)


def _without_named(resources: Any, named: set[str], gpu: str, task: Amounts) -> JsonDict:
    """Return a container's own resources except those that the task sets."""
    if "gpu" in task:
        named = {*named, "gpu", gpu}
    halves = {
        half: foreign.as_dict(amounts) for half, amounts in foreign.as_dict(resources).items()
    }
    return without_falsy({half: without_keys(amounts, *named) for half, amounts in halves.items()})


class Secrets(NamedTuple):
    """Variables, volumes and mounts for a task's secret requests."""

    env: JsonDict
    volumes: list[JsonDict]
    mounts: list[JsonDict]


def read_secrets(requests: Iterable[Any], problems: CallProblems) -> Secrets:
    """Return secrets the way Flyte's webhook provides them (flytekit 1.16 names):
    `_FSEC_<GROUP>_<KEY>`, or files.

    A group is the name of a Kubernetes Secret and a key one of its keys. ANY is a file, as in
    Flyte's webhook. The variable FLYTE_SECRETS_DEFAULT_DIR gives flytekit the directory of the
    files.
    """
    out = Secrets({}, [], [])
    for i, request in enumerate(requests):
        group = getattr(request, "group", None)
        key = getattr(request, "key", None)
        if not isinstance(group, str) or not group:
            why = (
                f"is missing: Union finds {key!r} in its own store, Kubernetes in a Secret, whose "
                "name is the group"
            )
            help = f'Secret(group="NAME-OF-THE-SECRET", key={key!r})'
            problems.error("spec-missing-field", ("secret_requests", i, "group"), why, help)
            continue

        version = getattr(request, "group_version", None)
        env_var = getattr(request, "env_var", None)
        kind = getattr(request, "mount_requirement", "ANY")
        if not isinstance(kind, str):
            kind = getattr(kind, "name", "ANY")
        if kind == "ENV_VAR" and not key:
            problems.error(
                "spec-missing-field",
                ("secret_requests", i, "key"),
                "is missing: a variable holds one key",
            )
        elif kind == "ENV_VAR":
            parts = [part.upper() for part in (group, version, key) if part]
            name = env_var or "_FSEC_" + "_".join(parts)
            out.env[name] = {"secretKeyRef": {"name": group, "key": key}}
        else:
            _add_secret_file(out, group, version, key, env_var)

    return out


def _add_secret_file(
    out: Secrets, group: str, version: str | None, key: str | None, env_var: str | None
) -> None:
    """Add a key of a Secret as a file, or the whole Secret if no key is named."""
    folder = "/".join(part.lower() for part in (SECRETS_PATH, group, version) if part)
    volume = next(
        (candidate for candidate in out.volumes if candidate["secret"]["secretName"] == group), None
    )
    if volume is None:
        volume = {"name": f"secret-{len(out.volumes)}", "secret": {"secretName": group}}
        out.volumes.append(volume)
        out.mounts.append({"name": volume["name"], "mountPath": folder, "readOnly": True})
        if key:
            volume["secret"]["items"] = []

    secret = volume["secret"]
    if not key:
        secret.pop("items", None)
    elif "items" in secret and all(item["key"] != key for item in secret["items"]):
        secret["items"].append({"key": key, "path": key.lower()})

    out.env["FLYTE_SECRETS_DEFAULT_DIR"] = SECRETS_PATH
    if env_var and key:
        out.env[env_var] = f"{folder}/{key.lower()}"
