"""Images that stand for others, such as `<image>` or `${IMAGE}`: a template's manifest is proved with stand-ins.

compile takes no placeholder, so the spec does not compile until the user writes the image.
"""

from __future__ import annotations

from ptcompile.findings.diagnostics import Path, Problem, field_path
from ptcompile.kubernetes.images import is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.kubernetes.untyped import Json


def found(value: Any, path: Path = ()) -> dict[str, Path]:
    """Every placeholder in an image field of an object, with the first place where it stands."""
    out: dict[str, Path] = {}
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        if key == "image" and isinstance(inner, str) and is_placeholder(inner):
            out.setdefault(inner, (*path, key))
        else:
            out = found(inner, (*path, key)) | out
    return out


def stand_ins(images: dict[str, Path], manifest: Json) -> dict[str, str]:
    """An image for each placeholder, with a tag or without: so that no imagePullPolicy in the object is its default."""
    tag = ":1" if "Always" in str(manifest) else ""
    return {image: f"stand-in-{place}{tag}" for place, image in enumerate(images)}


def replaced(value: Any, images: dict[str, str]) -> Any:
    """Data with other images."""
    if isinstance(value, dict):
        return {key: replaced(inner, images) for key, inner in value.items()}
    if isinstance(value, list):
        return [replaced(inner, images) for inner in value]
    return images.get(value, value) if isinstance(value, str) else value


def told(image: str, path: Path) -> Problem:
    """A warning that a spec with this image waits for a real one."""
    message = f"{field_path(path)}: {image!r} is a placeholder: the spec compiles once it names an image"
    help = "write the image into the spec, or import with --set NAME=VALUE"
    return Problem("import-differs", path, message, help, "warning", "style", "ptcompile")
