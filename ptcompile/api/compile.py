"""`compile`: every TrainingJob of a stream as manifests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.api.inputs import AnyProfile, Inputs, JobSource, OverridePairs
from ptcompile.diagnostics import Diagnostic, has_error
from ptcompile.diagnostics.selection import NO_CODES, Selection, selection
from ptcompile.kubernetes.unstructured import JsonDict
from ptcompile.source import emitter, streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.extending import Extensions
    from ptcompile.operators.handles import Handle
    from ptcompile.source.overrides import OverriddenDocument


class CompileError(Exception):
    """Raised by `unwrap()` when a spec does not compile."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        super().__init__(
            "\n".join(f"{d.code} {d.message}" for d in diagnostics if d.severity == "error")
        )

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle with the diagnostics: by default the exception is rebuilt from its message, which
        hangs a process pool.
        """
        return type(self), (self.diagnostics,), self.__dict__


class Result(NamedTuple):
    """The result of compiling: manifests as plain data, and all diagnostics.

    A document with an error yields no manifests; the other documents of its stream do.
    """

    manifests: tuple[JsonDict, ...]
    """The objects to apply, in order; empty if an error prevents them."""
    diagnostics: tuple[Diagnostic, ...]
    """Mistakes, and the findings of rules."""
    meant: tuple[Diagnostic, ...] = ()
    """Findings of rules that comments in the file or `ignore` suppress; `diagnostics` does not
    contain them.
    """

    @property
    def ok(self) -> bool:
        """Whether there are no errors. Warnings are allowed."""
        return not has_error(self.diagnostics)

    def yaml(self) -> str:
        """Return the manifests as one YAML stream."""
        return emitter.emit_all(self.manifests)

    @property
    def handles(self) -> tuple[Handle, ...]:
        """A handle for each job, in the order of the manifests: how to apply, follow, suspend
        and delete it.
        """
        from ptcompile.operators.handles import handles

        return tuple(handles(self.manifests))

    @property
    def handle(self) -> Handle:
        """The handle of the only job. Raises `CompileError` if there is an error, ValueError for
        several jobs.
        """
        job_handles = self.handles
        if len(job_handles) == 1:
            return job_handles[0]
        if not self.ok:
            raise CompileError(self.diagnostics)
        raise ValueError(
            f"handle: the result has {len(job_handles)} jobs; `handles` has one for each"
        )

    def unwrap(self) -> tuple[JsonDict, ...]:
        """Return the manifests. Raises `CompileError` if there is an error."""
        if not self.ok:
            raise CompileError(self.diagnostics)
        return self.manifests


def compile(
    spec: JobSource,
    *,
    target: str | None = None,
    cluster: AnyProfile | None = None,
    name: str | None = None,
    filename: str | None = None,
    overrides: OverridePairs = (),
    variants: Iterable[str] = (),
    lint: bool = True,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    severity: Mapping[str, str] | None = None,
    extensions: Extensions | None = None,
) -> Result:
    """Compile every TrainingJob of a stream into manifests.

    `target` overrides the spec's own. `cluster` is a ClusterProfile in any form; by default it is
    the built-in one. `name` names the job of this run: it is set before other names and addresses
    are derived from it, and allows only one job. `filename` is used only for positions in
    diagnostics. `overrides` are pairs of path and value, such as ("spec.args[1]", "x") or (("spec",
    "args", 1), "x"), applied to each document before anything else; a problem that an override
    causes is reported for the file `overrides[N]`. `variants` are names of variants, or of whole
    jobs without the document's own name; without any, all are compiled.

    With `lint`, the rules check the compiled manifests, as the function `lint` checks a spec; a
    document for which a rule reports an error yields no manifests. `select`, `ignore` and the keys
    of `severity` are codes, prefixes of codes, or names; like comments in the file, they apply to
    the findings of the rules. `extensions` are rules, passes and targets of plugins, from
    `ptcompile.extensions`.

    Mistakes in the spec or profile never raise. Raises ValueError for a selector that selects
    nothing.
    """
    arguments.check(target=target, extensions=extensions)
    codes = extensions.codes if extensions is not None else NO_CODES
    selected = selection(select, ignore, codes, severity) if lint else None
    inputs = Inputs.read(
        spec,
        parameter="spec",
        filename=filename,
        cluster=cluster,
        name=name,
        overrides=overrides,
        variants=variants,
        extensions=extensions,
        only_specs=True,
    )

    return compile_inputs(inputs, target, selected)


def compile_inputs(inputs: Inputs, target: str | None, selected: Selection | None = None) -> Result:
    """Compile every document of a file for `target`, else for its own target, with the findings
    of selected rules.
    """
    if inputs.has_wrong_settings:
        return Result((), inputs.limited())

    seen: set[tuple[str, str]] = set()
    diagnostics = [*inputs.text_diagnostics, *inputs.variant_diagnostics]
    compiled = [
        _compile_one(document, inputs, target, selected, seen, diagnostics)
        for document in inputs.documents
    ]
    diagnostics += inputs.surplus_documents
    result = _to_result(compiled, diagnostics, inputs, selected)
    if not inputs.settings_diagnostics:
        return result

    return result._replace(diagnostics=(*inputs.settings_diagnostics, *result.diagnostics))


class _CompiledDocument(NamedTuple):
    """The compilation of one document, with the findings of the rules."""

    manifests: tuple[JsonDict, ...]
    advice: Sequence[Diagnostic] = ()
    ignored: Sequence[Diagnostic] = ()


def _compile_one(
    document: OverriddenDocument,
    inputs: Inputs,
    target: str | None,
    selected: Selection | None,
    seen: set[tuple[str, str]],
    diagnostics: list[Diagnostic],
) -> _CompiledDocument:
    """Compile one document, and append its findings to `diagnostics`; `seen` are the names of
    earlier jobs.
    """
    from ptcompile.compiler.pipeline import compile_document

    compiled = compile_document(document.data, inputs.profile, target, inputs.extensions)
    repeated = streams.repeated_spec(document.data, seen)
    diagnostics += document.to_diagnostics((*repeated, *compiled.problems), inputs.filename)
    if document.rejected:
        return _CompiledDocument(())

    manifests = () if repeated else compiled.manifests
    if selected is None:
        return _CompiledDocument(manifests)

    from ptcompile.compiler.advice import findings_of_rules

    stamp = partial(document.to_diagnostic, filename=inputs.filename)
    findings = findings_of_rules(
        compiled, document.data, inputs.profile, selected, stamp, inputs.extensions
    )
    diagnostics += findings.reported

    return _CompiledDocument(manifests, findings.reported, findings.suppressed)


def _to_result(
    compiled: Sequence[_CompiledDocument],
    diagnostics: Sequence[Diagnostic],
    inputs: Inputs,
    selected: Selection | None,
) -> Result:
    """Return the result after suppressions, without manifests that have a rule's error."""
    if selected is None and not diagnostics:
        return Result(
            tuple([manifest for document in compiled for manifest in document.manifests]), ()
        )

    from ptcompile.compiler.advice import apply_suppressions

    reported, suppressed = apply_suppressions(
        inputs.files[0].source, diagnostics, selected, inputs.filename
    )
    suppressed_ids = {id(finding) for finding in suppressed}
    manifests = (
        manifest
        for document in compiled
        if not any(
            finding.severity == "error" and id(finding) not in suppressed_ids
            for finding in document.advice
        )
        for manifest in document.manifests
    )
    all_suppressed = (
        *suppressed,
        *(finding for document in compiled for finding in document.ignored),
    )

    return Result(tuple(manifests), tuple(inputs.once_each(reported)), all_suppressed)
