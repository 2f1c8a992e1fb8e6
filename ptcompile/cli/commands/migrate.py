"""`ptcompile import` and `ptcompile convert`: turn existing manifests into specs, or into another
operator's manifests.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial

from ptcompile._internal.files import SUFFIXES
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.inputs import File, Inputs, read_file
from ptcompile.cli import files
from ptcompile.cli.config import check_schemas, settings_of
from ptcompile.cli.files import InputFile, UsageError
from ptcompile.cli.options import check_target
from ptcompile.cli.reporter import Reporter, map_files
from ptcompile.diagnostics import has_error
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.selectors import ALL, Chosen
from ptcompile.kubernetes.unstructured import Json
from ptcompile.source.documents import is_batch_script
from ptcompile.source.emitter import emit, emit_all, emit_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.api.compile import Result
    from ptcompile.api.import_manifests import Imported, Known
    from ptcompile.converter.report import ConvertedFile
    from ptcompile.spec.cluster_profile import ClusterProfile


FILES_PER_PROCESS = 30
"""Number of files that justifies a process: importing one takes as long as linting three."""


def run_convert(options: argparse.Namespace) -> int:
    """Convert all files. Without a directory as output, write nothing if any of them has an
    error.
    """
    check_target(options.target)
    reporter = Reporter(options.output_format)
    inputs = reporter.read_files(options.paths)
    profile = reporter.read_profile(options.cluster)
    converted = _convert_files(inputs, profile, options, reporter) if profile is not None else []
    status = reporter.finish()
    contents: dict[str, str] = {}
    if options.report and profile is not None:
        from ptcompile.converter.report import to_markdown

        contents[options.report] = to_markdown(converted, options.target)

    output: str | None = options.output
    names_file = (
        output is None
        or (len(inputs) < 2 and all(file.named for file in inputs))
        or output.endswith(SUFFIXES)
        or os.path.isfile(output)
    )
    if output is not None and (files.names_folder(output) or not names_file):
        contents |= _converted_files(converted, output)
    elif not status:
        text = emit_all([manifest for file in converted for manifest in file.manifests])
        if output is None:
            status = files.write_stdout(text)
        else:
            contents[output] = text

    files.write_files(contents)
    return status


def _convert_files(
    inputs: Sequence[InputFile],
    profile: ClusterProfile,
    options: argparse.Namespace,
    reporter: Reporter,
) -> list[ConvertedFile]:
    """Return the conversion of each file that has a job, or that was named, together with the
    other files' objects.
    """
    from ptcompile.converter.report import ConvertedFile

    given_profile = profile if options.cluster else None
    sources = [read_file(file.content, file.name, given_profile) for file in inputs]
    objects = {file.name: [item.manifest for item in Inputs([file]).items] for file in sources}
    chosen = Chosen(frozenset(options.kind), frozenset(map(_parse_label, options.select)))
    check_schemas(settings_of(options).schemas)
    converter = partial(
        _convert_file,
        profile=given_profile,
        objects=objects,
        options=options,
        chosen=chosen,
        known={},
    )
    converted: list[ConvertedFile] = []
    with closing(map_files(converter, sources, options.jobs, FILES_PER_PROCESS)) as results:
        for file, result in zip(inputs, results, strict=True):
            diagnostics = result.diagnostics
            if (not file.named or chosen != ALL) and {item.name for item in diagnostics} == {
                "nothing-to-import"
            }:
                # a file without jobs has no findings
                diagnostics = ()
            reporter.add(file, diagnostics)
            converted.append(
                ConvertedFile(file.name, objects[file.name], result.manifests, diagnostics, chosen)
            )

    return converted


def _convert_file(
    file: File,
    *,
    profile: ClusterProfile | None,
    objects: Mapping[str | None, Sequence[Json]],
    options: argparse.Namespace,
    chosen: Chosen,
    known: Known,
) -> Result:
    """Return the conversion of a file. `objects` has the objects of each file; those of the other
    files are related to this one's.
    """
    from ptcompile.api.convert import convert_inputs

    beside = Objects(
        data for name, others in objects.items() if name != file.name for data in others
    )
    settings = settings_of(options)
    inputs = Inputs(
        [file], profile, beside=beside, schemas=settings.schemas, extensions=settings.extensions
    )

    return convert_inputs(inputs, options.target, lossy=options.lossy, chosen=chosen, known=known)


def _parse_label(text: str) -> tuple[str, str]:
    """Return the key and the value of a --select."""
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise UsageError(f"--select {text}: must be KEY=VALUE, such as team=vision")
    return key, value


def _converted_files(converted: Sequence[ConvertedFile], folder: str) -> dict[str, str]:
    """Return the contents of a file for each converted one, with the same path below the folder."""
    names = [file.name for file in converted]
    root = os.path.commonpath([os.path.dirname(name) or "." for name in names]) if names else "."
    return {
        os.path.join(folder, os.path.relpath(file.name, root)): emit_all(file.manifests)
        for file in converted
        if file.manifests and not has_error(file.diagnostics)
    }


def run_import(options: argparse.Namespace) -> int:
    """Import all files; write the specs that are proved to mean the same and report the rest."""
    if options.profile and options.cluster:
        raise UsageError(
            "--profile writes a profile and --cluster reads one: give only one of them"
        )

    reporter = Reporter(options.output_format)
    inputs = reporter.read_files(options.paths)
    values = dict(_parse_variable(text) for text in options.set)
    profile = reporter.read_profile(options.cluster)
    if profile is not None:
        imports = _import_files(inputs, values, profile, options, reporter)
    else:
        imports = {}

    status = reporter.finish()
    if imports:
        return max(status, _write_specs(imports, options))

    return max(status, reporter.report_no_jobs(options.paths))


class ImportedFile(NamedTuple):
    """The import of a file."""

    imported: Imported
    text: str
    """The specs in the format of the command; empty without any, and if the profile to be
    written changes them.
    """


def _import_files(
    inputs: Sequence[InputFile],
    values: dict[str, str],
    profile: ClusterProfile,
    options: argparse.Namespace,
    reporter: Reporter,
) -> dict[str, ImportedFile]:
    """Return the import of each file that has a job, or that was named, by the file's name."""
    from ptcompile.importer.profiles import minimal_cluster

    check_schemas(settings_of(options).schemas)
    minimal = minimal_cluster() if options.profile else None
    importer = partial(
        _import_file,
        values=values,
        profile=profile if options.cluster else minimal,
        options=options,
        known={},
    )
    imports: dict[str, ImportedFile] = {}
    with closing(map_files(importer, inputs, options.jobs, FILES_PER_PROCESS)) as results:
        for file, result in zip(inputs, results, strict=True):
            diagnostics = result.imported.diagnostics
            names = {diagnostic.name for diagnostic in diagnostics}
            if file.named or result.imported.found or names != {"nothing-to-import"}:
                reporter.add(
                    file._replace(content=_substitute(file.content, values, file.name)), diagnostics
                )
                imports[file.name] = result

    return imports


def _import_file(
    file: InputFile,
    *,
    values: dict[str, str],
    profile: ClusterProfile | None,
    options: argparse.Namespace,
    known: Known,
) -> ImportedFile:
    from ptcompile.api.import_manifests import import_inputs

    source = read_file(_substitute(file.content, values, file.name), file.name, profile)
    settings = settings_of(options)
    inputs = Inputs([source], profile, schemas=settings.schemas, extensions=settings.extensions)
    imported = import_inputs(
        inputs, lossy=options.lossy, exact=options.exact, script_values=values, known=known
    )
    is_printed = imported.found and not options.profile
    return ImportedFile(imported, _format_specs(imported, options.format) if is_printed else "")


def _parse_variable(text: str) -> tuple[str, str]:
    """Return the name and the value of a --set."""
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*|\d{1,3}|(?:partition|account|qos)\.\S+", name):
        raise UsageError(f"--set {name}: must be NAME=VALUE, such as REPLICAS=4")
    return name, value


def _substitute(content: bytes, values: dict[str, str], filename: str | None = None) -> bytes:
    """Replace `$NAME` and `${NAME}` as envsubst does; other names stay unchanged, and so does a
    batch script.
    """
    text = content.decode("utf-8-sig", errors="surrogateescape") if values else ""
    if not values or is_batch_script(text, filename):
        return content
    filled = re.sub(
        r"\$(\{)?(?P<name>[A-Za-z_]\w*)(?(1)\})",
        lambda match: values.get(match["name"], match.group()),
        text,
    )
    return filled.encode("utf-8", errors="surrogateescape")


def _write_specs(results: Mapping[str, ImportedFile], options: argparse.Namespace) -> int:
    from ptcompile.importer.profiles import MINIMAL, factor_out_profile, needed_profile

    imports = {name: result.imported for name, result in results.items()}
    texts = {name: result.text for name, result in results.items() if result.imported.found}
    profile = None
    if options.profile:
        documents = [spec.document for imported in imports.values() for spec in imported.found]
        specs, profile, notes = factor_out_profile(documents, needed_profile(documents))
        remaining = iter(specs)
        imports = {name: imported.with_documents(remaining) for name, imported in imports.items()}
        texts = {name: _format_specs(imports[name], options.format) for name in texts}
        for line in notes:
            files.print_error(f"ptcompile: {line}")

    _print_summary(imports, options)
    contents: dict[str, str] = {}
    needed = profile or next(
        (imported.profile for imported in imports.values() if imported.profile is not None), None
    )
    if options.output is None:
        status = files.write_stdout(_join_specs(texts, options.format))
    else:
        contents |= _spec_files(texts, options)
        status = 0
    if options.profile:
        contents[options.profile] = emit(needed or {**MINIMAL, "spec": {}})
    kept = [manifest for imported in imports.values() for manifest in imported.kept]
    if kept and options.output is not None:
        contents[_kept_file(options.output)] = emit_all(kept)
    files.write_files(contents)

    return status


def _kept_file(output: str) -> str:
    """Return where the objects go that no spec emits: a folder below the specs, or a file next
    to the one spec.
    """
    if files.names_folder(output):
        return os.path.join(output, "kept", "kept.yaml")
    return f"{os.path.splitext(output)[0]}.kept.yaml"


def _spec_files(texts: Mapping[str, str], options: argparse.Namespace) -> dict[str, str]:
    """Return the contents of the files to write, by path; `texts` are the specs by the file they
    are imported from.
    """
    if not files.names_folder(options.output):
        if texts:
            return {options.output: _join_specs(texts, options.format)}
        return {}
    texts_by_path: dict[str, str] = {}
    for name, text in texts.items():
        texts_by_path[files.path_for(name, options.output, options.format, texts_by_path)] = text
    return texts_by_path


def _format_specs(imported: Imported, form: str) -> str:
    if form == "yaml":
        return imported.yaml()
    return emit_json(imported.to_dict())


def _join_specs(texts: Mapping[str, str], form: str) -> str:
    return ("" if form == "json" else "---\n").join(texts.values())


def _print_summary(imports: Mapping[str, Imported], options: argparse.Namespace) -> None:
    """Print how many specs are proved, and what else has to be done."""
    specs = [spec for imported in imports.values() for spec in imported.found]
    same_manifests = sum(spec.same_manifest for spec in specs)
    same_worlds = sum(spec.same_world for spec in specs)
    scripts = sum(not spec.target for spec in specs)
    kept = sum(len(imported.kept) for imported in imports.values())
    if options.output is not None:
        place = f"in {_kept_file(options.output)}"
    else:
        place = "and written if -o says where"

    kept_note = f"; {kept} objects are kept unchanged, {place}" if kept else ""
    if scripts:
        files.print_error(
            f"ptcompile: {scripts} imported from batch scripts: read the findings before you "
            "compile"
        )
    if scripts == len(specs) > 0:
        return

    files.print_error(
        f"ptcompile: {len(specs) - scripts} imported: {same_worlds} with the same world, "
        f"{same_manifests} of them with the same manifest{kept_note}"
    )
    if not options.profile and any(imported.profile is not None for imported in imports.values()):
        files.print_error(
            "ptcompile: the built-in profile adds tolerations to pods with GPUs that the "
            "manifests do not have: "
            "import again with --profile FILE, and compile with --cluster FILE"
        )
