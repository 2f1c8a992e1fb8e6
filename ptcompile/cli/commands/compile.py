"""`ptcompile compile`, and `--check`: compare manifests on disk with the compiled specs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ptcompile._internal.namedtuple import Any, NamedTuple
from ptcompile.api import compile
from ptcompile.cli import files
from ptcompile.cli.config import settings_of
from ptcompile.cli.files import InputFile, UsageError, enter_untrusted_mode
from ptcompile.cli.inputs import inputs_of
from ptcompile.cli.options import ALL, check_target
from ptcompile.cli.reporter import Reporter, map_files, quoted_lines, reporter_of
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Diagnostic
from ptcompile.kubernetes.unstructured import GENERATED, kind_of, namespace_of, object_name
from ptcompile.source.emitter import as_one_object, emit_all, emit_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from ptcompile.api.inputs import Inputs
    from ptcompile.diagnostics.selection import Selection
    from ptcompile.spec.cluster_profile import ClusterProfile

    Manifests = list[dict[str, object]]
    Outputs = dict[str, dict[str, Manifests]]
    """Manifests by target and file of specs; the target is "" in a run for one target."""
    ObjectKey = tuple[str, tuple[str, str], str, str]
    """Target, apiVersion and kind, namespace, name."""


def check(contents: Mapping[str, str], folder: str | None, form: str) -> int:
    """Compare files with what would be written to them; return 1 if they differ.

    The difference of stale files goes to standard output as a patch. Applying it makes them
    current, unless it masks a secret or escapes a character. The names of stale, missing and
    orphaned files go to standard error. Orphans are files of `folder` that ptcompile could have
    written but no spec produces any more; without `folder` they are not searched for.
    """
    from ptcompile.api import check as verb

    committed = {path: files.read(path) for path in contents if os.path.lexists(path)}
    other_files = _other_files(folder, contents, form) if folder is not None else {}
    checked = verb.check(contents, committed, other_files)
    for state, path in checked.found:
        files.print_error(f"ptcompile: {state}: {path}")
    if checked.ok:
        return 0

    files.print_error(
        "ptcompile: the same command without --check writes stale and missing files, and with "
        "--prune deletes orphans"
    )
    from ptcompile.cli import presentation
    from ptcompile.report.layout import safe_lines

    stale = [path for state, path in checked.found if state == "stale"]
    patch = verb.check(
        {path: contents[path] for path in stale}, {path: committed[path] for path in stale}
    ).patch

    if not patch:
        return 1
    return max(1, presentation.write_painted(safe_lines(patch), presentation.PATCH))


def prune(contents: Mapping[str, str], folder: str, form: str, *, deletes: bool = True) -> None:
    """Delete the orphans of a folder, or only name them: files that ptcompile wrote for a spec that
    is gone. Edited ones stay.

    Raises `UsageError` for a file that cannot be deleted.
    """
    from ptcompile.api import check as verb

    for path, text in verb.orphans(_other_files(folder, contents, form)):
        if not deletes:
            files.print_error(
                f"ptcompile: orphaned: {path}: no spec is compiled to it; --prune deletes it"
            )
        elif verb.is_unedited(text):
            files.delete(path)
            files.print_error(f"ptcompile: deleted: {path}")
        else:
            files.print_error(f"ptcompile: orphaned, but edited by hand, so it stays: {path}")


def _other_files(folder: str, contents: Mapping[str, str], form: str) -> dict[str, bytes]:
    """Return the other files of a folder that have the format's extension."""
    written = {os.path.realpath(path) for path in contents}
    paths = (
        os.path.join(folder, name) for name in (os.listdir(folder) if os.path.isdir(folder) else ())
    )
    candidates = (path for path in paths if path.endswith(f".{form}") and os.path.isfile(path))
    return {path: files.read(path) for path in candidates if os.path.realpath(path) not in written}


def targets_of(options: argparse.Namespace) -> list[str | None]:
    """Return the targets to compile for. Raises `UsageError` for options that cannot be
    combined.
    """
    if not options.paths:
        raise UsageError("no spec given; ptcompile --help shows how (- reads standard input)")
    if options.check and options.output is None:
        raise UsageError("--check compares with existing files: name them with -o FILE or -o DIR/")

    targets: list[str] = list(dict.fromkeys(options.target))
    for name in targets:
        check_target(name, extra=(ALL,), extensions=settings_of(options).extensions)
    if ALL in targets:
        from ptcompile.operators.targets import TARGETS

        targets = list(TARGETS)
    writes_folder = options.output is not None and files.names_folder(options.output)
    if options.prune and (options.check or not writes_folder):
        raise UsageError(
            "--prune deletes orphans where manifests are written: say where with -o DIR/, without "
            "--check"
        )

    prints_json = options.output is None and options.format == "json"
    if len(targets) > 1 and not (prints_json or writes_folder):
        raise UsageError(
            "several targets require -o DIR/, which gets a folder for each, or --format json"
        )

    return [*targets] or [None]


class CompiledFile(NamedTuple):
    """The result for one file."""

    manifests: Mapping[str, list[dict[str, object]]]
    """Manifests by target; the target is "" in a run for one target."""
    diagnostics: tuple[Diagnostic, ...]
    """Without duplicates, and without fixes, which only lint applies."""
    notes: Sequence[str]
    """Lines for standard error."""
    lines: Mapping[int, str]
    """The lines of the file that the report quotes."""
    suppressed: tuple[Diagnostic, ...] = ()
    """Findings that comments in the file and the configuration suppress."""


class Compiler:
    """A function from a file to its result, with everything else that the result depends on."""

    def __init__(
        self,
        options: argparse.Namespace,
        profile: ClusterProfile | None,
        targets: Sequence[str | None],
    ) -> None:
        self._options = options
        self._config = settings_of(options)
        self._profile = profile
        self._targets = targets

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the options, for spawned processes: plugins cannot be pickled."""
        return _compiler, (self._options,)

    def __call__(self, file: InputFile) -> CompiledFile:
        """Return the manifests and findings of a file."""
        notes: list[str] = []
        inputs = inputs_of([file], self._profile, self._options, only_specs=True)
        selected = None if self._options.no_lint else self._config.selection(file.name)
        results = {target: self._result(inputs, target, selected) for target in self._targets}
        if ALL in self._options.target and any(result.ok for result in results.values()):
            for target, result in [*results.items()]:
                reason = None if result.ok else _reason_not_expressible(result)
                if reason is not None:
                    notes.append(f"ptcompile: not for {target}: {reason}")
                    del results[target]

        diagnostics = _merge_findings([result.diagnostics for result in results.values()])
        several = len(self._targets) > 1
        manifests = {
            (target or "") if several else "": list(result.manifests)
            for target, result in results.items()
        }
        suppressed = _merge_findings([result.meant for result in results.values()])

        return CompiledFile(
            manifests,
            diagnostics,
            notes,
            quoted_lines(file, diagnostics, self._options),
            suppressed,
        )

    def _result(
        self, inputs: Inputs, target: str | None, selected: Selection | None
    ) -> compile.Result:
        options = self._options
        result = compile.compile_inputs(inputs, target, selected)
        if not options.set and options.name is None:
            return result
        from ptcompile.cli import overrides

        return result._replace(
            diagnostics=tuple(overrides.point_at_options(result.diagnostics, options))
        )


def _merge_findings(runs: Sequence[tuple[Diagnostic, ...]]) -> tuple[Diagnostic, ...]:
    """Return the findings for all targets without duplicates and without fixes, which only lint
    applies.
    """
    if not any(runs):
        return ()
    from ptcompile.compiler.advice import targets_by_finding

    return tuple(targets_by_finding(runs))


def _reason_not_expressible(result: compile.Result) -> str | None:
    """Return why a target cannot express a job that other targets can, or None if the target has
    other errors.
    """
    errors = [error for error in result.diagnostics if error.severity == "error"]
    if any(error.name != "unsupported-by-target" for error in errors):
        return None
    return errors[0].message


def _compiler(options: argparse.Namespace) -> Compiler:
    if options.untrusted:
        enter_untrusted_mode()
    content = None if options.cluster is None else files.read(options.cluster)
    return Compiler(options, load_profile(content)[0], targets_of(options))


def run(options: argparse.Namespace) -> int:
    """Compile all specs of all files; write nothing if any of them has an error."""
    targets = targets_of(options)
    reporter = reporter_of(options, extensions=settings_of(options).extensions)
    inputs, unreadable = files.read_all(options.paths, require_match=not options.allow_empty)
    if options.name is not None and len(inputs) > 1:
        raise UsageError(f"--name names one job, but {len(inputs)} files were given")

    reporter.report_unreadable(unreadable)
    profile = reporter.read_profile(options.cluster)
    outputs: Outputs = {}
    names: dict[ObjectKey, str] = {}
    if profile is not None:
        compiler = Compiler(options, profile, targets)
        results = map_files(compiler, inputs, options.jobs)
        try:
            for file, compiled in zip(inputs, results, strict=True):
                _collect(file, compiled, outputs, reporter)
                if repeated := _repeated_objects(file, compiled.manifests, names):
                    reporter.add(file, repeated)
        finally:
            results.close()

    status = reporter.finish()
    if status:
        return status
    if not outputs and not options.allow_empty:
        return reporter.report_no_jobs(options.paths)

    return _finish(outputs, inputs, options)


def _finish(outputs: Outputs, inputs: Sequence[InputFile], options: argparse.Namespace) -> int:
    """Write the manifests, or compare or prune what is written; return the exit status."""
    if options.output is None:
        return write(outputs, None, options.format) if outputs else 0

    contents, folder = _contents(outputs, options.output, options.format)
    if inputs and all(file.named for file in inputs):
        # other files of the folder may come from specs that are not named
        folder = None
    if options.check:
        return check(contents, folder, options.format)
    if options.prune and folder is None:
        raise UsageError("--prune needs a directory or a glob of specs, and one target")

    files.write_files(contents)
    if folder is not None:
        prune(contents, folder, options.format, deletes=options.prune)

    return 0


def _collect(file: InputFile, compiled: CompiledFile, outputs: Outputs, reporter: Reporter) -> None:
    """Add the manifests of a file to `outputs` and its findings to `reporter`."""
    for note in compiled.notes:
        files.print_error(note)
    manifests = [manifest for group in compiled.manifests.values() for manifest in group]
    result = compile.Result(tuple(manifests), compiled.diagnostics, compiled.suppressed)
    if reporter.add_compiled(file, result, compiled.lines):
        for target, group in compiled.manifests.items():
            outputs.setdefault(target, {})[file.name] = group


def _repeated_objects(
    file: InputFile, manifests: Mapping[str, Manifests], names: dict[ObjectKey, str]
) -> list[Diagnostic]:
    """Return an error for each earlier file that defines an object that this file defines too.

    `names` maps each object to its file; the objects of this file are added.
    """
    repeated: dict[str, tuple[str, str]] = {}
    for target, group in manifests.items():
        for manifest in group:
            name = object_name(manifest)
            if not name or name.endswith(GENERATED):
                continue
            other_file = names.setdefault(
                (target, kind_of(manifest), namespace_of(manifest), name), file.name
            )
            if other_file != file.name:
                repeated.setdefault(other_file, (name, f"{manifest['kind']}/{name}"))

    if not repeated:
        return []

    from ptcompile.source import streams

    documents = streams.read(file.content, file.name).documents
    by_name = {object_name(document.data): document for document in reversed(documents)}
    diagnostics = []
    for other_file, (name, resource) in repeated.items():
        problem = streams.repeated_in_other_file(resource, other_file)
        document = by_name.get(name, documents[0])
        diagnostics.append(streams.to_diagnostic(problem, document, file.name))

    return diagnostics


def write(outputs: Outputs, output: str | None, form: str) -> int:
    """Write the manifests to their destination; return the exit status."""
    if output is None:
        return files.write_stdout(_single_text(outputs, form))
    files.write_files(_contents(outputs, output, form)[0])
    return 0


def _single_text(outputs: Outputs, form: str) -> str:
    """Return all manifests as one text; for several targets, a JSON object by target."""
    by_target = {
        target: [manifest for group in by_file.values() for manifest in group]
        for target, by_file in outputs.items()
    }
    if [*by_target] == [""]:
        return _format_manifests(by_target[""], form)
    return emit_json({target: as_one_object(group) for target, group in by_target.items()})


def _contents(outputs: Outputs, output: str, form: str) -> tuple[dict[str, str], str | None]:
    """Return the texts by file, and their directory if -o names one."""
    if not files.names_folder(output):
        specs = list(dict.fromkeys(name for by_file in outputs.values() for name in by_file))
        if not outputs:
            return {}, None
        return {output: _header(specs, output, form) + _single_text(outputs, form)}, None
    contents: dict[str, str] = {}
    for target, by_file in outputs.items():
        contents |= _folder_contents(by_file, os.path.join(output, target), form)
    return contents, output if [*outputs] in ([""], []) else None


def _folder_contents(by_file: dict[str, Manifests], folder: str, form: str) -> dict[str, str]:
    """Return the texts of a directory's files: one per file of specs, with its name."""
    contents: dict[str, str] = {}
    for name, manifests in by_file.items():
        path = files.path_for(name, folder, form, contents)
        contents[path] = _header([name], path, form) + _format_manifests(manifests, form)
    return contents


def _header(specs: Sequence[str], path: str, form: str) -> str:
    """Return the first line of a file of manifests, which says where it comes from; JSON has no
    comments.
    """
    if form != "yaml":
        return ""
    from ptcompile.api.check import header

    return header([_relative(spec, os.path.dirname(path)) for spec in specs])


def _relative(spec: str, folder: str) -> str:
    """Return the path of a spec from a folder, so that a file is the same wherever the command
    runs.
    """
    if spec == "<stdin>":
        return "standard input"
    try:
        return os.path.relpath(spec, folder or ".").replace(os.sep, "/")
    except ValueError:
        # Windows: on another drive
        return os.path.basename(spec)


def _format_manifests(manifests: Manifests, form: str) -> str:
    if form == "yaml":
        return emit_all(manifests)
    return emit_json(as_one_object(manifests))
