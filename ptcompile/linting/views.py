"""The containers of a manifest beside what the operator makes of them."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path
from ptcompile.kubernetes.untyped import at, mapping
from ptcompile.linting.templates import Template
from ptcompile.linting.workload import Workload

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

    from ptcompile.kubernetes.untyped import Json
    from ptcompile.operators.pods import ContainerView
    from ptcompile.simulation import Pod

POD: Final = ("v1", "Pod")


def views(subject: Workload) -> Iterator[tuple[Path, Json, ContainerView, Pod]]:
    """Each container that is written, with its path and as it is in the first pod of its role."""
    trainer = subject.record.launch_fields.container
    for role, pod in subject.job.firsts() if subject.job is not None else ():
        if trainer:
            if pod.main is not None and role.name == "node":
                yield trainer, at(subject.manifest, *trainer), pod.main, pod
            continue
        template = template_of(subject, role.name)
        made = {(view.name, view.init): view for view in pod.containers}
        for one in template.containers if template is not None else ():
            if (one.name, one.init) in made:
                yield one.path, one.spec, made[one.name, one.init], pod


def template_of(subject: Workload, role: str) -> Template | None:
    """The pod template of a role of the simulated job."""
    if len(subject.templates) == 1:
        return subject.templates[0]
    return subject.by_role.get(role.lower())


def mapping_at(manifest: Json, path: Path) -> Json:
    """The mapping at a path, an empty one where something else stands there, or nothing."""
    found: Any = manifest
    for part in path:
        if isinstance(part, int):
            found = found[part] if isinstance(found, list) and part < len(found) else None
        else:
            found = mapping(found).get(part)
    return mapping(found)
