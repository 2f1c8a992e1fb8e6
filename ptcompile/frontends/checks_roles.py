"""The names of the auxiliary roles: pods, tasks, containers and variables are called after them."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.findings.diagnostics import Path, Problem
from ptcompile.frontends.amounts import Parts
from ptcompile.frontends.errors import problem, such_as
from ptcompile.kubernetes import names
from ptcompile.limits import limits
from ptcompile.operators.all import OPERATORS

_TAKEN = {
    "master": "write it as spec.master",
    "worker": "write it as spec.worker",
    "node": "nodes of the job have this name",
}

_MOST = 32
"""Characters of a role's name: what is left of a pod's 63 for the job's own."""


def role_names(parts: Parts) -> Iterator[Problem]:
    """Yield an error for every name that cannot be that of an auxiliary role."""
    job = parts.job
    if not job.roles:
        return
    if len(job.roles) > (most := limits().roles):
        yield problem(
            "too-large", ("spec", "roles"), f"has more than {most} roles", "use fewer roles with more pods each"
        )
        return
    named = {name: word for (word, part), name in job.names_of_parts().items() if part != "container"}
    variables = {one.role_prefix: one.title for one in OPERATORS if one.role_prefix}
    template = parts.cluster.spec.defaults.pod_template.get("spec", {})
    sidecars = {one.get("name") for key in ("containers", "initContainers") for one in template.get(key, ())}
    for name in job.roles:
        path: Path = ("spec", "roles", name)
        if name in _TAKEN:
            yield _bad(path, f"a role that trains has the name {name!r}", f"{_TAKEN[name]}, or choose another name")
        elif name in named:
            yield _bad(
                path,
                f"spec.{named[name]} names pods that train {name!r}",
                "choose another name",
            )
        elif reason := names.why_not_dns_1035_label(name):
            yield _bad(path, f"{name!r} {reason}", such_as(name.lstrip("0123456789-_."), "loader"))
        elif len(name) > _MOST:
            message = f"{name!r} has {len(name)} characters and leaves too few for the job's name in those of its pods"
            yield _bad(path, message, f"at most {_MOST} characters, such as loader")
        elif titles := [title for start, title in variables.items() if name.startswith(start)]:
            yield _bad(path, f"the variable of {name!r} would be one that {titles[0]} sets", "choose another name")
        elif name in sidecars:
            message = f"a container of the profile's pod template is named {name!r}, as the role's would be"
            yield _bad(path, message, "choose another name")


def _bad(path: Path, message: str, help: str) -> Problem:
    return problem("spec-invalid-value", path, message, help, on_key=True)
