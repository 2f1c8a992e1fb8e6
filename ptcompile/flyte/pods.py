"""Pod templates, secrets and images of a Flyte task."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ptcompile.diagnostics import Path, Problem
from ptcompile.flyte import resources as foreign
from ptcompile.flyte.problems import call_error, call_note, call_warning
from ptcompile.flyte.resources import Amounts
from ptcompile.spec.checks import MAIN

_TEMPLATE = re.compile(r"\{\{\s*\.images?\.([a-zA-Z0-9_-]+)(?:\.([a-zA-Z0-9_-]+))?\s*\}\}", re.IGNORECASE)
"""`{{.image.NAME}}`, `{{.image.NAME.fqn}}` or `{{.image.NAME.version}}` (flytekit 1.16)."""


def image_of(value: Any, path: Path, images: Mapping[str, str], found: list[Problem]) -> str | None:
    """An image's reference: text with its templates filled from `images`, or what an ImageSpec will be called."""
    if value is None or isinstance(value, str):
        return _filled(value, path, images, found) if value else None
    name = getattr(value, "image_name", None)
    text = name() if callable(name) else None
    if not isinstance(text, str):
        message = f"{type(value).__name__} is not an image"
        found.append(call_error("spec-wrong-type", path, message, 'such as "acme/llama:2"'))
        return None
    if getattr(value, "registry", None):
        found.append(
            call_note(
                "image-contents", path, f"an ImageSpec, which is built and pushed by `pyflyte build`: nodes pull {text}"
            )
        )
    else:
        message = f"an ImageSpec without a registry: {text} exists only where it is built, and nodes cannot pull it"
        found.append(call_warning(path, message, "give the ImageSpec a registry"))
    return text


def _filled(text: str, path: Path, images: Mapping[str, str], found: list[Problem]) -> str | None:
    """The text with each template replaced by the image of its name, as flytekit does when it registers a task."""
    missing = [name for name, _ in _TEMPLATE.findall(text) if name not in images]
    for name in dict.fromkeys(missing):
        message = f"{text} takes the image {name!r} from Flyte's configuration, which is not known here"
        flag = "--image IMAGE" if name == "default" else f"--image {name}=IMAGE"
        found.append(call_error("spec-missing-field", path, message, f"{flag}, or images={{{name!r}: ...}}"))
    if missing:
        return None
    # a version that is a digest is joined with @
    text = re.sub(r":(?=\{\{[^}]*\.version\s*\}\})", "", text)
    return _TEMPLATE.sub(lambda match: _part(images[match[1]], match[2]), text)


def _part(reference: str, part: str | None) -> str:
    """A whole reference, its name (`fqn`), or its tag or digest (`version`) with the sign in front."""
    found = re.fullmatch(r"(.+?)((?::[^:/@]+)?(?:@.+)?)", reference)
    name, version = (found[1], found[2]) if found else (reference, "")
    return {"fqn": name, "version": version}.get((part or "").lower(), reference)


SECRETS = "/etc/flyte/secrets"
"""Where Flyte's webhook mounts secrets (flyte 1.16)."""

_KEYS = {"cpu": "cpu", "memory": "memory", "ephemeralStorage": "ephemeral-storage"}
_STARTS = frozenset({"command", "args"})


class TaskPodTemplate(NamedTuple):
    """A pod template with the container that trains under the name `pytorch`."""

    spec: dict[str, Any]
    labels: dict[str, str]
    annotations: dict[str, str]
    image: str | None


def template(
    value: Any, amounts: Amounts, gpu: str, known: Mapping[str, str], *, starts: bool, found: list[Problem]
) -> TaskPodTemplate:
    """A PodTemplate of flytekit 1.16 or of ours, or a Kubernetes pod template as plain data.

    What the task itself says wins, key by key: its amounts over the container's, its command over the container's
    (`starts`). The template's image wins over the task's, as in flytekit. `gpu` is the name of the resource that
    `gpu` means, `known` has the images of templates.
    """
    if value is None:
        return TaskPodTemplate({}, {}, {}, None)
    spec, labels, annotations, primary = _parts(value)
    containers = foreign.mapping(spec).get("containers") or []
    if not isinstance(spec, dict) or not isinstance(containers, list) or not all(map(_is_mapping, containers)):
        found.append(call_error("spec-wrong-type", ("pod_template",), "a pod's spec has a list of containers"))
        return TaskPodTemplate({}, labels, annotations, None)
    primary = primary or _likely(containers)
    others = [one for one in containers if one.get("name") != primary]
    main = next((dict(one) for one in containers if one.get("name") == primary), {})
    image = main.pop("image", None)
    drop = _STARTS if starts else frozenset()
    main = {key: item for key, item in main.items() if key not in drop}
    main["resources"] = _rest_of(main.get("resources") or {}, {*(_KEYS.get(key, gpu) for key in amounts)}, gpu, amounts)
    main = {key: item for key, item in {**main, "name": MAIN}.items() if item not in ({}, [], None)}
    kept = [main] if len(main) > 1 else []
    spec = {key: item for key, item in spec.items() if key != "containers"}
    if kept or others:
        spec["containers"] = [*kept, *others]
    return TaskPodTemplate(spec, labels, annotations, image_of(image, ("pod_template", "image"), known, found))


def _parts(value: Any) -> tuple[Any, dict[str, str], dict[str, str], str | None]:
    if isinstance(value, Mapping):
        data = foreign.kubernetes(value)
        metadata = foreign.mapping(data.get("metadata"))
        labels, annotations = (foreign.mapping(metadata.get(key)) for key in ("labels", "annotations"))
        return data.get("spec") or {}, labels, annotations, None
    spec = foreign.kubernetes(getattr(value, "pod_spec", None)) or {}
    labels, annotations = getattr(value, "labels", None) or {}, getattr(value, "annotations", None) or {}
    return spec, dict(labels), dict(annotations), getattr(value, "primary_container_name", None)


def _likely(containers: list[Mapping[str, Any]]) -> str:
    """The container that trains where a plain template does not say: by Flyte's and our names, else the only one."""
    names = [str(one.get("name")) for one in containers]
    usual = next((name for name in (MAIN, "primary") if name in names), None)
    return usual or (names[0] if len(names) == 1 else MAIN)


def _rest_of(resources: Any, named: set[str], gpu: str, task: Amounts) -> dict[str, Any]:
    """A container's own resources without those that the task names."""
    if "gpu" in task:
        named = {*named, "gpu", gpu}
    halves = {half: foreign.mapping(amounts) for half, amounts in foreign.mapping(resources).items()}
    lists = {half: {k: v for k, v in amounts.items() if k not in named} for half, amounts in halves.items()}
    return {half: left for half, left in lists.items() if left}


def _is_mapping(value: object) -> bool:
    return isinstance(value, Mapping)


class Secrets(NamedTuple):
    """What a task's secret requests become."""

    env: dict[str, Any]
    volumes: list[dict[str, Any]]
    mounts: list[dict[str, Any]]


def secrets(requests: Iterable[Any], found: list[Problem]) -> Secrets:
    """Secrets as Flyte's webhook hands them over (flytekit 1.16 names): `_FSEC_<GROUP>_<KEY>`, or files.

    A group is the name of a Kubernetes Secret and a key one of its keys. ANY is a file, as in Flyte's webhook. The
    variable FLYTE_SECRETS_DEFAULT_DIR tells flytekit where the files are.
    """
    out = Secrets({}, [], [])
    for i, one in enumerate(requests):
        group, key = getattr(one, "group", None), getattr(one, "key", None)
        if not isinstance(group, str) or not group:
            why = f"is missing: Union finds {key!r} in its own store, Kubernetes in a Secret, whose name is the group"
            help = f'Secret(group="NAME-OF-THE-SECRET", key={key!r})'
            found.append(call_error("spec-missing-field", ("secret_requests", i, "group"), why, help))
            continue
        kind = getattr(one, "mount_requirement", "ANY")
        kind = kind if isinstance(kind, str) else getattr(kind, "name", "ANY")
        if kind == "ENV_VAR" and not key:
            found.append(
                call_error("spec-missing-field", ("secret_requests", i, "key"), "is missing: a variable holds one key")
            )
        elif kind == "ENV_VAR":
            parts = [part.upper() for part in (group, getattr(one, "group_version", None), key) if part]
            name = getattr(one, "env_var", None) or "_FSEC_" + "_".join(parts)
            out.env[name] = {"secretKeyRef": {"name": group, "key": key}}
        else:
            _as_file(out, group, getattr(one, "group_version", None), key, getattr(one, "env_var", None))
    return out


def _as_file(out: Secrets, group: str, version: str | None, key: str | None, env_var: str | None) -> None:
    """One more key of a Secret as a file, or the whole Secret where no key is named."""
    folder = "/".join(part.lower() for part in (SECRETS, group, version) if part)
    volume = next((one for one in out.volumes if one["secret"]["secretName"] == group), None)
    if volume is None:
        volume = {"name": f"secret-{len(out.volumes)}", "secret": {"secretName": group}}
        out.volumes.append(volume)
        out.mounts.append({"name": volume["name"], "mountPath": folder, "readOnly": True})
        if key:
            volume["secret"]["items"] = []
    if not key:
        volume["secret"].pop("items", None)
    elif "items" in volume["secret"] and all(item["key"] != key for item in volume["secret"]["items"]):
        volume["secret"]["items"].append({"key": key, "path": key.lower()})
    out.env["FLYTE_SECRETS_DEFAULT_DIR"] = SECRETS
    if env_var and key:
        out.env[env_var] = f"{folder}/{key.lower()}"
