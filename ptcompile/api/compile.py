"""`compile` and `explain`, for text, bytes, a mapping or a `Spec`. They read no files and print nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Diagnostic, Path, blocking_text
from ptcompile.diagnostics.selection import NO_CODES, Selection, selection
from ptcompile.source import emitter, streams
from ptcompile.source.documents import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile._internal.arguments import ProfileSource, StreamSource
    from ptcompile.explainer.explanation import Explanation
    from ptcompile.extending import Extensions
    from ptcompile.registry.handles import Handle
    from ptcompile.source.overrides import OverriddenDocument
    from ptcompile.spec.cluster_profile import ClusterProfile
    from ptcompile.spec.training_job import Spec


class CompileError(Exception):
    """Raised by `unwrap()` when a spec does not compile."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        super().__init__("\n".join(f"{d.code} {d.message}" for d in diagnostics if d.severity == "error"))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the diagnostics: by default the exception is rebuilt from its message, which hangs a process
        pool.
        """
        return type(self), (self.diagnostics,), self.__dict__


class Result(NamedTuple):
    """The result of compiling: manifests as plain data, and all diagnostics.

    A document with an error yields no manifests; the other documents of its stream do.
    """

    manifests: tuple[dict[str, Any], ...]
    diagnostics: tuple[Diagnostic, ...]
    meant: tuple[Diagnostic, ...] = ()
    """Findings of rules that comments in the file or `ignore` suppress; `diagnostics` does not contain them."""

    @property
    def ok(self) -> bool:
        """Whether there are no errors. Warnings are allowed."""
        return not any(d.severity == "error" for d in self.diagnostics)

    def yaml(self) -> str:
        """Return the manifests as one YAML stream."""
        return emitter.emit_all(self.manifests)

    @property
    def handles(self) -> tuple[Handle, ...]:
        """A handle for each job, in the order of the manifests: how to apply, follow, suspend and delete it."""
        from ptcompile.registry.handles import handles

        return tuple(handles(self.manifests))

    @property
    def handle(self) -> Handle:
        """The handle of the only job. Raises `CompileError` if there is an error, ValueError for several jobs."""
        job_handles = self.handles
        if len(job_handles) == 1:
            return job_handles[0]
        if not self.ok:
            raise CompileError(self.diagnostics)
        raise ValueError(f"handle: the result has {len(job_handles)} jobs; `handles` has one for each")

    def unwrap(self) -> tuple[dict[str, Any], ...]:
        """Return the manifests. Raises `CompileError` if there is an error."""
        if not self.ok:
            raise CompileError(self.diagnostics)
        return self.manifests


def compile(
    spec: StreamSource | Spec,
    *,
    target: str | None = None,
    cluster: ProfileSource | ClusterProfile | None = None,
    name: str | None = None,
    filename: str | None = None,
    overrides: Sequence[tuple[str | Path, Any]] = (),
    lint: bool = True,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    severity: Mapping[str, str] | None = None,
    extensions: Extensions | None = None,
) -> Result:
    """Compile every TrainingJob of a stream into manifests.

    `target` overrides the spec's own. `cluster` is a ClusterProfile in any form; by default it is the built-in one.
    `name` names the job of this run: it is set before other names and addresses are derived from it, and allows only
    one job. `filename` is used only for positions in diagnostics. `overrides` are pairs of path and value, such as
    ("spec.args[1]", "x") or (("spec", "args", 1), "x"), applied to each document before anything else; a problem that
    an override causes is reported for the file `overrides[N]`.

    With `lint`, the rules check the compiled manifests, as the function `lint` checks a spec; a document for which a
    rule reports an error yields no manifests. `select`, `ignore` and the keys of `severity` are codes, prefixes of
    codes, or names; like comments in the file, they apply to the findings of the rules. `extensions` are rules, passes
    and targets of plugins, from `ptcompile.extensions`.

    Mistakes in the spec or profile never raise. Raises ValueError for a selector that selects nothing.
    """
    from ptcompile.source.overrides import apply_overrides, read_overrides

    arguments.check(target=target, name=name, filename=filename, extensions=extensions)
    codes = extensions.codes if extensions is not None else NO_CODES
    selected = selection(select, ignore, codes, severity) if lint else None
    parsed = streams.read(spec, filename, "spec")
    filename = arguments.filename(spec, filename)
    profile, profile_diagnostics = load_profile(cluster)
    diagnostics = [streams.to_diagnostic(problem, None, filename) for problem in blocking_text(parsed.problems)]
    parsed_overrides = read_overrides(arguments.pairs(overrides, "overrides"), name)
    diagnostics += parsed_overrides.diagnostics
    if profile is None or parsed_overrides.diagnostics:
        return Result((), (*profile_diagnostics, *diagnostics))
    seen: set[tuple[str, str]] = set()
    compile_one = partial(
        _compile_one,
        seen=seen,
        profile=profile,
        target=target,
        filename=filename,
        selected=selected,
        extensions=extensions,
    )
    documents = [apply_overrides(document, parsed_overrides) for document in parsed.documents]
    compilable, surplus = (documents, []) if name is None else (documents[:1], documents[1:])
    compiled = [compile_one(laid, diagnostics) for laid in compilable]
    diagnostics += [laid.second_job_error(name) for laid in surplus if name is not None]
    if not parsed.documents and not any(problem.severity == "error" for problem in parsed.problems):
        diagnostics.append(streams.to_diagnostic(streams.no_documents(blocks_compile=True), None, filename))
    result = _to_result(compiled, diagnostics, parsed, filename, selected)
    return result._replace(diagnostics=(*profile_diagnostics, *result.diagnostics)) if profile_diagnostics else result


class _CompiledDocument(NamedTuple):
    """The compilation of one document, with the findings of the rules."""

    manifests: tuple[dict[str, Any], ...]
    advice: Sequence[Diagnostic] = ()
    ignored: Sequence[Diagnostic] = ()


def _compile_one(
    document: OverriddenDocument,
    diagnostics: list[Diagnostic],
    *,
    seen: set[tuple[str, str]],
    profile: ClusterProfile,
    target: str | None,
    filename: str | None,
    selected: Selection | None,
    extensions: Extensions | None,
) -> _CompiledDocument:
    """Compile one document, and append its findings to `found`."""
    from ptcompile.compiler.pipeline import compile_document

    compiled = compile_document(document.data, profile, target, extensions)
    repeated = streams.repeated_spec(document.data, seen)
    diagnostics += document.to_diagnostics((*repeated, *compiled.problems), filename)
    if document.rejected or repeated or selected is None:
        return _CompiledDocument(() if document.rejected or repeated else compiled.manifests)
    from ptcompile.compiler.advice import findings_of_rules

    stamp = partial(document.to_diagnostic, filename=filename)
    findings = findings_of_rules(compiled, document.data, profile, selected, stamp, extensions)
    diagnostics += findings.reported
    return _CompiledDocument(compiled.manifests, findings.reported, findings.suppressed)


def _to_result(
    compiled: Sequence[_CompiledDocument],
    diagnostics: Sequence[Diagnostic],
    parsed: Source,
    filename: str | None,
    selected: Selection | None,
) -> Result:
    """Return the result after suppressions, without manifests that have a rule's error."""
    if selected is None and not diagnostics:
        return Result(tuple([manifest for document in compiled for manifest in document.manifests]), ())
    from ptcompile.compiler.advice import apply_suppressions

    reported, suppressed = apply_suppressions(parsed, diagnostics, selected, filename)
    suppressed_ids = {id(finding) for finding in suppressed}
    manifests = (
        manifest
        for document in compiled
        if not any(finding.severity == "error" and id(finding) not in suppressed_ids for finding in document.advice)
        for manifest in document.manifests
    )
    all_suppressed = (*suppressed, *(finding for document in compiled for finding in document.ignored))
    return Result(tuple(manifests), reported, all_suppressed)


def explain(
    spec: StreamSource | Spec,
    *,
    target: str | None = None,
    cluster: ProfileSource | ClusterProfile | None = None,
    name: str | None = None,
    filename: str | None = None,
    cluster_filename: str | None = None,
    overrides: Sequence[tuple[str | Path, Any]] = (),
    lint: bool = True,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    severity: Mapping[str, str] | None = None,
    extensions: Extensions | None = None,
) -> Explanation:
    """Return the origin of every value in a stream's manifests: the pass that wrote it, its reason, and the lines it
    depends on.

    Arguments as for `compile`; the file names are used only for positions. The findings are those of `compile`, but a
    document with an error of a rule is explained too. To find the lines that each value depends on, every document is
    compiled some hundred times, with one line changed each time (several at a time in long lists). Mistakes in the spec
    or profile never raise. Raises ValueError for a selector that selects nothing.
    """
    from ptcompile.explainer import explanation
    from ptcompile.source.overrides import read_overrides

    arguments.check(
        target=target, name=name, filename=filename, cluster_filename=cluster_filename, extensions=extensions
    )
    codes = extensions.codes if extensions is not None else NO_CODES
    selected = selection(select, ignore, codes, severity) if lint else None
    filename = arguments.filename(spec, filename)
    profile, profile_diagnostics = load_profile(cluster, filename=cluster_filename)
    profile_source = streams.read(cluster, cluster_filename, "cluster") if isinstance(cluster, str | bytes) else None
    return explanation.explain(
        streams.read(spec, filename, "spec"),
        profile,
        profile_source,
        target=target,
        filename=filename,
        read_diagnostics=profile_diagnostics,
        overrides=read_overrides(arguments.pairs(overrides, "overrides"), name),
        selection=selected,
        extensions=extensions,
    )
