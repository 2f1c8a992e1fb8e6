"""The verb `compile` as a function: text, bytes, a mapping or a `Spec` in, a result out. No files, no printing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Diagnostic, Path, blocking
from ptcompile.diagnostics.selection import NO_CODES, Selection, selection
from ptcompile.source import emitter, streams
from ptcompile.source.documents import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile._internal.arguments import StreamSource
    from ptcompile.api.overrides import Laid
    from ptcompile.explainer.explanation import Explanation
    from ptcompile.extending import Extensions
    from ptcompile.registry.handles import Handle
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
    """What compiling gave: manifests as plain data, and everything there is to say about them.

    A document with an error gives no manifest; the other documents of its stream do.
    """

    manifests: tuple[dict[str, Any], ...]
    diagnostics: tuple[Diagnostic, ...]
    meant: tuple[Diagnostic, ...] = ()
    """Findings of the rules that comments in the file and `ignore` say are meant: they are not in `diagnostics`."""

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
        found = self.handles
        if len(found) == 1:
            return found[0]
        if not self.ok:
            raise CompileError(self.diagnostics)
        raise ValueError(f"handle: there are {len(found)} jobs; `handles` has one for each")

    def unwrap(self) -> tuple[dict[str, Any], ...]:
        """Return the manifests. Raises `CompileError` if there is an error."""
        if not self.ok:
            raise CompileError(self.diagnostics)
        return self.manifests


def compile(
    spec: StreamSource | Spec,
    *,
    target: str | None = None,
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    name: str | None = None,
    filename: str | None = None,
    overrides: Sequence[tuple[str | Path, Any]] = (),
    lint: bool = True,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    extensions: Extensions | None = None,
) -> Result:
    """Compile every TrainingJob of a stream into manifests.

    `target` overrides the spec's own; `cluster` is a ClusterProfile in any form, the built-in one where absent. `name`
    is the job's name in this run: set before any name or address is derived from it, and only for one job.
    `filename` is for the positions in diagnostics only. `overrides` are values by place, such as ("spec.args[1]", "x")
    or (("spec", "args", 1), "x"), laid over each document before it is looked at; what is wrong with one of them is
    found in the file `overrides[N]`.

    `lint` asks the rules about what was compiled, as the function `lint` does of a spec: a document with an error among
    their findings gives no manifest. `select` and `ignore` are codes, beginnings of codes, or names, and choose among
    the findings of the rules; so do comments in the file. `extensions` are rules, passes and targets of plugins, by
    `ptcompile.extensions`.

    Raises nothing for what a user may have written, and ValueError for a selector that selects nothing.
    """
    from ptcompile.api import overrides as laying

    arguments.check(target=target, name=name, filename=filename, extensions=extensions)
    asked = selection(select, ignore, extensions.codes if extensions is not None else NO_CODES) if lint else None
    read = streams.read(spec, filename, "spec")
    filename = arguments.filename(spec, filename)
    profile, of_cluster = load_profile(cluster)
    found = [streams.to_diagnostic(problem, None, filename) for problem in blocking(read.problems)]
    given = laying.read(arguments.pairs(overrides, "overrides"), name)
    found += given.diagnostics
    if profile is None or given.diagnostics:
        return Result((), (*of_cluster, *found))
    seen: set[tuple[str, str]] = set()
    one = partial(
        _of_document, seen=seen, profile=profile, target=target, filename=filename, asked=asked, extensions=extensions
    )
    every = [laying.lay(document, given) for document in read.documents]
    named, others = (every, []) if name is None else (every[:1], every[1:])
    made = [one(laid, found) for laid in named]
    found += [laid.second_of_a_name(name) for laid in others if name is not None]
    if not read.documents and not any(problem.severity == "error" for problem in read.problems):
        found.append(streams.to_diagnostic(streams.no_documents(), None, filename))
    result = _judged(made, found, read, filename, asked)
    return result._replace(diagnostics=(*of_cluster, *result.diagnostics)) if of_cluster else result


class _CompiledDocument(NamedTuple):
    """The compilation of one document, with the findings of the rules."""

    manifests: tuple[dict[str, Any], ...]
    advice: Sequence[Diagnostic] = ()
    ignored: Sequence[Diagnostic] = ()


def _of_document(
    laid: Laid,
    found: list[Diagnostic],
    *,
    seen: set[tuple[str, str]],
    profile: ClusterProfile,
    target: str | None,
    filename: str | None,
    asked: Selection | None,
    extensions: Extensions | None,
) -> _CompiledDocument:
    """Compile one document, and append its findings to `found`."""
    from ptcompile.compiler.pipeline import compile_document

    compiled = compile_document(laid.data, profile, target, extensions)
    repeated = streams.repeated_spec(laid.data, seen)
    found += laid.told((*repeated, *compiled.problems), filename)
    if laid.refused or repeated or asked is None:
        return _CompiledDocument(() if laid.refused or repeated else compiled.manifests)
    from ptcompile.compiler.advice import advice

    stamp = partial(laid.stamp, filename=filename)
    said = advice(compiled, laid.data, profile, asked, stamp, extensions)
    found += said.told
    return _CompiledDocument(compiled.manifests, said.told, said.meant)


def _judged(
    made: Sequence[_CompiledDocument],
    found: Sequence[Diagnostic],
    read: Source,
    filename: str | None,
    asked: Selection | None,
) -> Result:
    """Return the result after suppressions, without manifests that have a rule's error."""
    if asked is None and not found:
        return Result(tuple([manifest for document in made for manifest in document.manifests]), ())
    from ptcompile.compiler.advice import apply_suppressions

    told, meant = apply_suppressions(read, found, asked, filename)
    fine = {id(one) for one in meant}
    manifests = (
        manifest
        for document in made
        if not any(one.severity == "error" and id(one) not in fine for one in document.advice)
        for manifest in document.manifests
    )
    every = (*meant, *(one for document in made for one in document.ignored))
    return Result(tuple(manifests), told, every)


def explain(
    spec: StreamSource | Spec,
    *,
    target: str | None = None,
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    filename: str | None = None,
    cluster_filename: str | None = None,
    lint: bool = True,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] = (),
    extensions: Extensions | None = None,
) -> Explanation:
    """Why every value of the manifests of a stream is there: the pass that wrote it, the rule, the lines behind it.

    Arguments as for `compile`; the file names are for positions only. The findings are those of `compile`, but what a
    rule calls an error is explained all the same. Compiles each document again for its lines, some hundred times: long
    lists many lines at a time. Raises nothing for what a user may have written, and ValueError for a selector that
    selects nothing.
    """
    from ptcompile.explainer import explanation

    arguments.check(target=target, filename=filename, cluster_filename=cluster_filename, extensions=extensions)
    asked = selection(select, ignore, extensions.codes if extensions is not None else NO_CODES) if lint else None
    filename = arguments.filename(spec, filename)
    profile, found = load_profile(cluster, filename=cluster_filename)
    text = streams.read(cluster, cluster_filename, "cluster") if isinstance(cluster, str | bytes) else None
    return explanation.explain(
        streams.read(spec, filename, "spec"),
        profile,
        text,
        target=target,
        filename=filename,
        found=found,
        asked=asked,
        extensions=extensions,
    )
