"""The verb `compile` as a function: text, bytes, a mapping or a `Spec` in, a result out. No files, no printing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from ptcompile import arguments, streams
from ptcompile.documents import emit
from ptcompile.documents.source import Source
from ptcompile.findings.diagnostics import Diagnostic, Path, Problem
from ptcompile.findings.selection import NO_CODES, Selection, selection
from ptcompile.typed import Any, NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.arguments import Given
    from ptcompile.compiling.overrides import Laid
    from ptcompile.explaining.explanation import Explanation
    from ptcompile.extending import Extensions
    from ptcompile.operators.handles import Handle
    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.spec import Spec


class CompileError(Exception):
    """A spec that does not compile, for those who asked for an exception with `unwrap()`."""

    def __init__(self, diagnostics: tuple[Diagnostic, ...]) -> None:
        self.diagnostics = diagnostics
        super().__init__("\n".join(f"{d.code} {d.message}" for d in diagnostics if d.severity == "error"))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled with its findings: an exception is rebuilt from its text otherwise, and a process pool hangs."""
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
        """Whether there is no error. Warnings are fine."""
        return not any(d.severity == "error" for d in self.diagnostics)

    def yaml(self) -> str:
        """The manifests as one YAML stream."""
        return emit.emit_all(self.manifests)

    @property
    def handles(self) -> tuple[Handle, ...]:
        """A handle for each job, in the order of the manifests: how to apply, follow, suspend and delete it."""
        from ptcompile.operators.handles import handles

        return tuple(handles(self.manifests))

    @property
    def handle(self) -> Handle:
        """The handle of the one job. Raises `CompileError` where there is an error, ValueError for several jobs."""
        found = self.handles
        if len(found) == 1:
            return found[0]
        if not self.ok:
            raise CompileError(self.diagnostics)
        raise ValueError(f"handle: there are {len(found)} jobs; `handles` has one for each")

    def unwrap(self) -> tuple[dict[str, Any], ...]:
        """The manifests. Raises `CompileError` where there is an error."""
        if not self.ok:
            raise CompileError(self.diagnostics)
        return self.manifests


def compile(
    spec: Given | Spec,
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
    from ptcompile.compiling import overrides as laying

    arguments.check(target=target, name=name, filename=filename, extensions=extensions)
    asked = selection(select, ignore, extensions.codes if extensions is not None else NO_CODES) if lint else None
    read = streams.read(spec, filename, "spec")
    filename = arguments.filename(spec, filename)
    profile, of_cluster = read_cluster(cluster)
    found = [streams.stamp(problem, None, filename) for problem in read.problems]
    given = laying.read(arguments.pairs(overrides, "overrides"), name)
    found += given.diagnostics
    if profile is None or given.diagnostics:
        return Result((), (*of_cluster, *found))
    one = partial(_of_document, profile=profile, target=target, filename=filename, asked=asked, extensions=extensions)
    every = [laying.lay(document, given) for document in read.documents]
    named, others = (every, []) if name is None else (every[:1], every[1:])
    made = [one(laid, found) for laid in named]
    found += [laid.second_of_a_name(name) for laid in others if name is not None]
    if not read.documents and not any(problem.severity == "error" for problem in read.problems):
        found.append(streams.stamp(streams.nothing(), None, filename))
    result = _judged(made, found, read, filename, asked)
    return result._replace(diagnostics=(*of_cluster, *result.diagnostics)) if of_cluster else result


class _Made(NamedTuple):
    """What one document was compiled to, and what the rules say of it."""

    manifests: tuple[dict[str, Any], ...]
    advice: Sequence[Diagnostic] = ()
    ignored: Sequence[Diagnostic] = ()


def _of_document(
    laid: Laid,
    found: list[Diagnostic],
    *,
    profile: ClusterProfile,
    target: str | None,
    filename: str | None,
    asked: Selection | None,
    extensions: Extensions | None,
) -> _Made:
    """Compile one document, and put what is said of it into `found`."""
    from ptcompile.compiling.compiler import compile_document

    compiled = compile_document(laid.data, profile, target, extensions)
    found += laid.told(compiled.problems, filename)
    if laid.refused or asked is None:
        return _Made(() if laid.refused else compiled.manifests)
    from ptcompile.compiling.advice import advice

    stamp = partial(laid.stamp, filename=filename)
    said = advice(compiled, laid.data, profile, asked, stamp, extensions)
    found += said.told
    return _Made(compiled.manifests, said.told, said.meant)


def _judged(
    made: Sequence[_Made], found: Sequence[Diagnostic], read: Source, filename: str | None, asked: Selection | None
) -> Result:
    """The result: the findings that comments in the file leave, and no manifests that a rule calls an error."""
    if asked is None and not found:
        return Result(tuple([manifest for document in made for manifest in document.manifests]), ())
    from ptcompile.compiling.advice import left

    told, meant = left(read, found, (one for document in made for one in document.advice), asked, filename)
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
    spec: Given | Spec,
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
    from ptcompile.explaining import explanation

    arguments.check(target=target, filename=filename, cluster_filename=cluster_filename, extensions=extensions)
    asked = selection(select, ignore, extensions.codes if extensions is not None else NO_CODES) if lint else None
    filename = arguments.filename(spec, filename)
    profile, found = read_cluster(cluster, filename=cluster_filename)
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


def read_cluster(
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None, *, filename: str | None = None
) -> tuple[ClusterProfile | None, list[Diagnostic]]:
    """A ClusterProfile in any form, the built-in one for None; or None and what is wrong with it."""
    from ptcompile.vocabulary.from_schema import default_cluster

    if cluster is None:
        return default_cluster(), []
    from ptcompile.compiling.kubernetes_parts import freeform_cluster, read_profile
    from ptcompile.vocabulary.fields import Profile

    if isinstance(cluster, Profile):
        refused = [streams.stamp(problem, None, filename) for problem in freeform_cluster(cluster)]
        return None if refused else cluster, refused
    read = streams.read(cluster, filename, "cluster")
    found = [streams.stamp(problem, None, filename) for problem in read.problems]
    if any(one.severity == "error" for one in found):
        return None, found
    documents = streams.profiles(read)
    if len(documents) != 1:
        message = f"a profile is one document of kind ClusterProfile, got {len(documents)}"
        problem = Problem("no-documents", (), message, "give one", authority="ptcompile")
        return None, [*found, streams.stamp(problem, None, filename)]
    profile, problems = read_profile(documents[0].data)
    return profile, [*found, *(streams.stamp(problem, documents[0], filename) for problem in problems)]
