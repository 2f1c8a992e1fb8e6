"""Images as Flyte's users name them: text, an ImageSpec, and templates that Flyte fills from its configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.flyte.found import changed, noted, wrong

_TEMPLATE = re.compile(r"\{\{\s*\.images?\.([a-zA-Z0-9_-]+)(?:\.([a-zA-Z0-9_-]+))?\s*\}\}", re.IGNORECASE)
"""`{{.image.NAME}}`, `{{.image.NAME.fqn}}` or `{{.image.NAME.version}}` (flytekit 1.16)."""


def image(value: Any, path: Path, images: Mapping[str, str], found: list[Problem]) -> str | None:
    """An image's reference: text with its templates filled from `images`, or what an ImageSpec will be called."""
    if value is None or isinstance(value, str):
        return _filled(value, path, images, found) if value else None
    name = getattr(value, "image_name", None)
    text = name() if callable(name) else None
    if not isinstance(text, str):
        message = f"{type(value).__name__} is not an image"
        found.append(wrong("spec-wrong-type", path, message, 'such as "acme/llama:2"'))
        return None
    if getattr(value, "registry", None):
        found.append(
            noted(
                "image-contents", path, f"an ImageSpec, which is built and pushed by `pyflyte build`: nodes pull {text}"
            )
        )
    else:
        message = f"an ImageSpec without a registry: {text} exists only where it is built, and nodes cannot pull it"
        found.append(changed(path, message, "give the ImageSpec a registry"))
    return text


def _filled(text: str, path: Path, images: Mapping[str, str], found: list[Problem]) -> str | None:
    """The text with each template replaced by the image of its name, as flytekit does when it registers a task."""
    missing = [name for name, _ in _TEMPLATE.findall(text) if name not in images]
    for name in dict.fromkeys(missing):
        message = f"{text} takes the image {name!r} from Flyte's configuration, which is not known here"
        flag = "--image IMAGE" if name == "default" else f"--image {name}=IMAGE"
        found.append(wrong("spec-missing-field", path, message, f"{flag}, or images={{{name!r}: ...}}"))
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
