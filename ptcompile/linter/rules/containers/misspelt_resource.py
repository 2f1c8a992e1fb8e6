"""A resource name is almost that of an accelerator.

PTC110 misspelt-resource: warning at run (waits), by ptcompile.
Needs: {VENDORS} limits/requests

What: a name in requests or limits differs from an accelerator's only in letter case, a plural s, a
missing `.com` or the hyphen in `mig-`.

Why: the API server accepts any qualified name. No device plugin offers this one, so no node ever
has it: the pod stays Pending.

Example: pod.yaml with

      resources:
        limits:
          cpu: 8
          memory: 64Gi
    -     nvidia.com/gpus: 1  # <--
    +     nvidia.com/gpu: 1

Fix: write the name that the device plugin registers.

Source: the documents of the device plugins of NVIDIA, AMD, Intel, Habana, Google and AWS.
"""

from __future__ import annotations

from ptcompile._internal.lazy import Pattern
from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes.resources import is_accelerator
from ptcompile.linter.rule import Findings, Subject, found_at

_MIG = Pattern(r"nvidia\.com/mig[-_.]?(?P<slice>[1-9]g\.[0-9]+gb(?:\.[0-9]+gb)?)")


def check(subject: Subject) -> Findings:
    for container in subject.containers:
        paths: dict[str, list[Path]] = {}
        for path, name, _ in container.resources:
            paths.setdefault(name, []).append(path)

        for name, places in paths.items():
            suggestion = _intended_resource(name) if "/" in name else None
            if suggestion is not None:
                edits = tuple(Edit("rename", path, suggestion) for path in places)
                yield found_at(
                    places[0],
                    f"no node has {name}, so the pod stays Pending (did you mean {suggestion}?)",
                    f"write {suggestion}",
                    Fix(f"rename {name} to {suggestion}", edits),
                    on_key=True,
                )


def _intended_resource(name: str) -> str | None:
    """Return the accelerator resource that `name` almost spells, or None for any other name."""
    if is_accelerator(name):
        return None

    lower = name.lower()
    mig = _MIG.fullmatch(lower) if "mig" in lower else None
    if mig is not None:
        return f"nvidia.com/mig-{mig['slice']}"

    domain, _, rest = lower.partition("/")
    if "." not in domain:
        domain += ".com"
    candidate = f"{domain}/{rest}"

    return next(
        (
            resource
            for resource in (candidate, candidate.removesuffix("s"))
            if is_accelerator(resource)
        ),
        None,
    )
