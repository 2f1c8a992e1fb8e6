"""Everything that a page shows: the explanation of a spec for each target, and its world."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from ptcompile import arguments, streams
from ptcompile.compiling.advice import of_all
from ptcompile.documents import source
from ptcompile.explaining import explanation
from ptcompile.explaining.explanation import Explanation
from ptcompile.findings.diagnostics import Diagnostic, Problem
from ptcompile.findings.selection import NO_CODES, selection
from ptcompile.kubernetes.untyped import object_name
from ptcompile.limits import limits
from ptcompile.operators.targets import TARGETS
from ptcompile.page.listing import inside, listing
from ptcompile.page.model import Finding, Page, Panel, Text
from ptcompile.verbs import compile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.explaining.variants import File
    from ptcompile.extending import Extensions


def gather(
    spec: str | bytes,
    *,
    target: str | None = None,
    cluster: str | bytes | None = None,
    filename: str = "spec.yaml",
    cluster_filename: str = "cluster.yaml",
    lint: bool = True,
    select: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    extensions: Extensions | None = None,
) -> Page:
    """The page of a spec for one target, or for all of them. Raises nothing for what a user may have written.

    `spec` and `cluster` are texts: a page is about their lines. A profile that is wrong leaves no listings, and so does
    a spec above the limit. The other arguments are those of `explain`.
    """
    arguments.check(target=target, filename=filename, cluster_filename=cluster_filename, extensions=extensions)
    sources: dict[File, source.Source] = {"spec": streams.read(spec, filename)}
    if cluster is not None:
        sources["cluster"] = streams.read(cluster, cluster_filename)
    if sum(map(_weight, sources.values())) > limits().page:
        return _too_large(filename)
    files: dict[File, str] = {"spec": filename, "cluster": cluster_filename}
    profile, found = compile.read_cluster(cluster, filename=cluster_filename)
    explain = partial(
        explanation.explain,
        sources["spec"],
        profile,
        sources.get("cluster"),
        filename=filename,
        found=found,
        asked=selection(select, ignore, extensions.codes if extensions is not None else NO_CODES) if lint else None,
        extensions=extensions,
    )
    wanted, taken, explanations = _explained(explain, target)
    versions = profile.versions() if profile is not None else None
    return Page(
        ", ".join(filter(None, (object_name(one.data) for one in sources["spec"].documents))) or filename,
        tuple(_panel(file, files[file], read, wanted) for file, read in sources.items()),
        tuple(listing(name, one, versions) for name, one in explanations.items()) if versions is not None else (),
        tuple(_findings(explanations, sources, files)),
        taken,
        wanted.diagnostics,
    )


def _weight(read: source.Source) -> int:
    """Count the values of a file, aliases expanded, and the lines of its texts; 500 characters are a line too."""
    total = 0
    stack: list[object] = [one.data for one in read.documents]
    while stack and total <= limits().page:
        value = stack.pop()
        total += 1
        if isinstance(value, Mapping):
            stack += value.values()
        elif isinstance(value, list):
            stack += value
        elif isinstance(value, str):
            total += value.count("\n") + len(value) // 500
    return total


def _too_large(filename: str) -> Page:
    message = f"the spec and its profile have more than {limits().page:,} values and lines of texts for one page"
    cure = "explain one path instead, such as `ptcompile explain spec.yaml spec.template.spec.volumes`"
    found = streams.stamp(Problem("too-large", (), message, cure, authority="ptcompile"), None, filename)
    shown = Finding(found, tuple(TARGETS), "spec", 0)
    return Page(filename, (Panel("spec", filename, None),), (), (shown,), "", (found,))


def _explained(
    explain: Callable[..., Explanation], target: str | None
) -> tuple[Explanation, str, dict[str, Explanation]]:
    """What the caller asked for, the target to show of it, and the explanation for each target."""
    wanted = explain(target=target)
    taken = list(dict.fromkeys(job.target for job in wanted.jobs))
    explanations: dict[str, Explanation] = {}
    for name in TARGETS if target is None else (target,):
        own = target is not None or taken == [name]
        explanations[name] = wanted if own else explain(target=name)
    taken = [name for name in taken if name in explanations]  # and none of a plugin
    able = [name for name, one in explanations.items() if one.jobs]
    if not wanted.jobs and able:  # the target of a job without one is a matter of taste
        wanted = explanations[able[0]]
    return wanted, next(iter([*taken, *able, *explanations])), explanations


def _panel(file: File, filename: str, read: source.Source, explanation: Explanation) -> Panel:
    """A file with its secrets masked; without its lines where parts of it could not be read."""
    masked = explanation.texts.get(file)
    if masked is None or any(problem.severity == "error" for problem in read.problems):
        return Panel(file, filename, None)
    lines = masked.lines[:-1] if masked.lines[-1:] == ("",) else masked.lines
    return Panel(file, filename, Text(lines, inside(read)))


def _findings(
    explanations: Mapping[str, Explanation], sources: Mapping[File, source.Source], files: Mapping[File, str]
) -> Iterator[Finding]:
    """What was found for any target, each once, in the order of the lines."""
    names = list(explanations)
    found = [
        Finding(one, tuple(names[number] for number in numbers), file, _line(one, sources[file]))
        for one, numbers in of_all([each.diagnostics for each in explanations.values()]).items()
        for file in [_file(one, sources, files)]
    ]
    yield from sorted(found, key=lambda one: (one.file != "spec", one.line))


def _file(one: Diagnostic, sources: Mapping[File, source.Source], files: Mapping[File, str]) -> File:
    return "cluster" if "cluster" in sources and one.filename == files["cluster"] != files["spec"] else "spec"


def _line(one: Diagnostic, read: source.Source) -> int:
    """The line to show a finding at: for a mapping of several lines that of its key."""
    if one.span is None:
        return 0
    if one.span.line < one.span.end_line:
        document = next((d for d in read.documents if d.index == one.document), None)
        span = document.span(one.path, on_key=True) if document is not None and one.path else None
        return span.line if span is not None else one.span.line
    return one.span.line
