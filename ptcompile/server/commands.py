"""What the code lenses show: manifests, and what each pod sees. A text each, with a name for it."""

from __future__ import annotations

from typing import Any, NamedTuple

from ptcompile.documents import emit
from ptcompile.findings.diagnostics import Problem
from ptcompile.server.document import Object, Open


class Shown(NamedTuple):
    """A text to show beside the one that it is about."""

    name: str
    language: str
    text: str

    def to_dict(self) -> dict[str, Any]:
        """What a client gets."""
        return self._asdict()


def manifests(opened: Open, number: int, target: str | None) -> Shown | None:
    """The manifests of one TrainingJob for a target, or why there are none; None where it is not there any more."""
    from ptcompile.compiling.compiler import compile_document

    one = _object(opened, number)
    if one is None or not one.is_spec:
        return None
    compiled = compile_document(one.data, opened.profile, target)
    used = compiled.target.name if compiled.target is not None else target or ""
    text = emit.emit_all(compiled.manifests) if compiled.manifests else _refused(used, compiled.problems)
    return Shown(f"{_stem(one)}-{used}.yaml", "yaml", text)


def _refused(target: str, problems: tuple[Problem, ...]) -> str:
    """Why there are no manifests, as comments."""
    found = [problem for problem in problems if problem.severity == "error"]
    lines = [f"# There are no manifests for {target}:"]
    for problem in found:
        lines += [f"#   {line}" for line in problem.message.splitlines()]
        lines += [f"#     help: {problem.help}"] if problem.help else []
    return "\n".join(lines) + "\n"


def pods(opened: Open, number: int) -> Shown | None:
    """What each pod of one object sees, as `simulate` says it; None where there are no pods."""
    from ptcompile.simulation.hidden import shown_jobs
    from ptcompile.simulation.overview import overview
    from ptcompile.simulation.podtext import in_full
    from ptcompile.simulation.world import World

    one = _object(opened, number)
    jobs = opened.jobs.get((one.document.index, one.under), []) if one is not None else []
    if one is None or not jobs:
        return None
    told = [in_full(pod, job) for job in shown_jobs(jobs) for _, pod in job.firsts()]
    text = "\n".join([overview(World(jobs=tuple(jobs))), *told])
    return Shown(f"{_stem(one)}-pods.txt", "plaintext", text)


def page(opened: Open) -> Shown:
    """The page of `explain --html` for a text."""
    from ptcompile.page import gather, html

    profile = opened.settings.profile_text if opened.settings.profile_path else None
    name = opened.settings.profile_path or "cluster.yaml"
    select, ignore = opened.settings.select, opened.settings.ignore
    shown = gather(
        opened.text, cluster=profile, filename=opened.path, cluster_filename=name, select=select, ignore=ignore
    )
    return Shown("page.html", "html", html(shown))


def _object(opened: Open, number: int) -> Object | None:
    return opened.objects[number] if 0 <= number < len(opened.objects) else None


def _stem(one: Object) -> str:
    """A file name made of the object's."""
    metadata = one.data.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return "".join(c if c.isalnum() or c in "-." else "-" for c in str(name or "job"))[:80].lstrip(".") or "job"
