"""Problems at the lines of a spec: told at another place than where they were found."""

from __future__ import annotations

from collections.abc import Mapping

from ptcompile.findings.diagnostics import Path, Problem, field_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_OWN = frozenset({"command", "args", "resources", "restartPolicy", "podTemplate"})
"""What an auxiliary role does not have from the job."""


def moved(problem: Problem, path: Path) -> Problem:
    """The same problem at another place, which its message then begins with.

    A fix goes along where it is about nothing but that place, and that has the same name there.
    """
    head, colon, rest = problem.message.partition(": ")
    message = f"{field_path(path)}: {rest}" if colon and " " not in head else problem.message
    fix = problem.fix
    if fix is not None:
        here = [edit.path for edit in fix.edits] == [problem.path] and path[-1:] == problem.path[-1:]
        fix = fix._replace(edits=(fix.edits[0]._replace(path=path),)) if here else None
    return problem._replace(path=path, message=message, fix=fix)


def value_at(path: Path, data: Any) -> Any:
    """What stands at a path; None where nothing does."""
    for part in path:
        fits = isinstance(data, Mapping) if isinstance(part, str) else isinstance(data, list)
        if not fits or (isinstance(part, int) and part >= len(data)):
            return None
        data = data.get(part) if isinstance(part, str) else data[part]
    return data


def settle(problem: Problem, spec: Mapping[str, Any]) -> Problem:
    """A problem of a role's field at the job's, where the role leaves it to the job; of `nodes` where they are said."""
    path, job = problem.path, spec.get("spec")
    if path == ("spec", "nodes") and isinstance(job, Mapping) and "nodes" not in job:
        where = ("worker",) if "worker" in job else ("elastic", "nnodes")
        return moved(problem, ("spec", *where))
    depth = 3 if path[1:2] == ("roles",) else 2
    if len(path) <= depth or path[0] != "spec" or path[1] not in {"master", "worker", "roles"}:
        return problem
    role: Any = job
    for part in path[1:depth]:
        role = role.get(part) if isinstance(role, Mapping) else None
    said = isinstance(role, Mapping) and path[depth] in role
    left = isinstance(job, Mapping) and path[depth] in job and not (depth == 3 and path[depth] in _OWN)
    return moved(problem, ("spec", *path[depth:])) if left and not said else problem
