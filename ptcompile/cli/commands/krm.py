"""`ptcompile krm`: specs to manifests inside other tools, which hand over objects on standard
input.

kpt and Kustomize call KRM functions with a ResourceList, the Kustomize in kubectl calls plugins
with a stream and the name of a file, and Helm calls post-renderers with a stream:
https://github.com/kubernetes-sigs/kustomize/blob/master/cmd/config/docs/api-conventions/functions-spec.md
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile._internal.spelling import is_short_number
from ptcompile.api import compile
from ptcompile.api.inputs import Inputs, read_file, text_problems
from ptcompile.cli import files
from ptcompile.cli.config import Config, load
from ptcompile.cli.files import InputFile, UsageError
from ptcompile.cli.options import check_target
from ptcompile.cli.reporter import Reporter
from ptcompile.compiler.reader import load_profile
from ptcompile.diagnostics import Diagnostic, field_path, has_error
from ptcompile.kubernetes.unstructured import (
    Json,
    JsonDict,
    as_string,
    kind_of,
    namespace_of,
    nested_map,
    nested_string,
    object_name,
    without_keys,
)
from ptcompile.source import streams
from ptcompile.source.emitter import emit, emit_all
from ptcompile.source.overrides import NO_OVERRIDES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile


_RESOURCE_LIST = ("config.kubernetes.io/", "ResourceList")
_CALLERS_ANNOTATIONS = (
    "config.kubernetes.io/",
    "internal.config.kubernetes.io/",
    "config.k8s.io/",
    "kustomize.config.k8s.io/id",
    "postrenderer.helm.sh/",
)
"""Prefixes of the annotations with which the calling tool finds an object again."""
_PATHS = (
    "internal.config.kubernetes.io/path", "config.kubernetes.io/path", "postrenderer.helm.sh/postrender-filename"
)  # fmt: skip
"""Annotations that name the file of an object."""
_INDEX = "internal.config.kubernetes.io/index"
_LOCAL = "config.kubernetes.io/local-config"
"""The annotation of an object that is never applied."""
_SEVERITIES = {"error": "error", "warning": "warning", "note": "info"}
"""Severities of a function's results, by ours."""


class _FunctionInput(NamedTuple):
    """The input of the function, from the calling tool."""

    objects: list[Json]
    function_config: Json
    envelope: Json | None
    """The ResourceList; None for a stream."""


class _Settings(NamedTuple):
    """The settings for compiling and linting."""

    profile: ClusterProfile | None
    target: str | None
    config: Config


class _Object(NamedTuple):
    """An object of the output."""

    data: Json
    spec_codes: frozenset[str] | None = None
    """Codes of the findings of the spec that it was compiled from; None for an object of the
    input.
    """


class _Finding(NamedTuple):
    """A finding, and the object that it is about."""

    diagnostic: Diagnostic
    data: Json


def run(options: argparse.Namespace) -> int:
    """Replace the specs on standard input by their manifests, and lint all objects; return 1 if
    there is an error.

    A stream with an error is not written, so that the calling tool stops. A ResourceList is: with
    the objects as they came, and the findings as its results.
    """
    reporter = Reporter(options.output_format)
    parsed = _read(options.config, reporter)
    settings = None if parsed is None else _settings(options, parsed, reporter)
    if parsed is None or settings is None:
        return reporter.finish()

    objects, findings = _compile_specs(parsed, settings, reporter)
    findings += _lint(
        [item for item in objects if not streams.is_ours(item.data)], settings, reporter
    )
    status = reporter.finish()
    if parsed.envelope is None:
        return status or files.write_stdout(emit_all(item.data for item in objects))

    items = parsed.objects if status else [item.data for item in objects]
    results = {"results": [_as_result(finding) for finding in findings]} if findings else {}

    return max(status, files.write_stdout(emit({**parsed.envelope, "items": items, **results})))


def _read(config: str | None, reporter: Reporter) -> _FunctionInput | None:
    """Read standard input and the file of the function's configuration; None if one has an
    error, which is reported.
    """
    inputs, unreadable = files.read_all(["-"])
    if unreadable:
        raise UsageError(*unreadable)

    documents = _read_documents(inputs[0], reporter)
    configs = (
        []
        if config is None
        else _read_documents(InputFile(config, files.read(config), True), reporter)
    )
    if documents is None or configs is None:
        return None
    if config is not None and len(configs) != 1:
        raise UsageError(
            f"{config}: {len(configs)} documents; the configuration of a function is one"
        )
    if not documents and not configs:
        raise UsageError("standard input has no document: there is nothing to look at")

    function_config = configs[0] if configs else {}
    if not any(map(_is_resource_list, documents)):
        objects = [item for document in documents for _, item in streams.objects_in(document)]
        return _FunctionInput(objects, function_config, None)

    resource_list, *others = documents
    items = resource_list.get("items") or []
    if (
        others
        or not isinstance(items, list)
        or not all(item and isinstance(item, dict) for item in items)
    ):
        raise UsageError("standard input: expected one ResourceList, whose items are objects")

    return _FunctionInput(
        items, nested_map(resource_list, "functionConfig") or function_config, resource_list
    )


def _read_documents(file: InputFile, reporter: Reporter) -> list[Json] | None:
    """Return the documents of a file, or None if its text has an error, which is reported."""
    parsed = streams.read(file.content, file.name)
    diagnostics = [
        streams.to_diagnostic(problem, None, file.name)
        for problem in text_problems(parsed, parsed.problems)
    ]
    for document in parsed.documents:
        if not _is_resource_list(document.data):
            problems = streams.not_objects(document.data)
            diagnostics += [
                streams.to_diagnostic(problem, document, file.name) for problem in problems
            ]

    reporter.add(file, diagnostics)
    if has_error(diagnostics):
        return None

    return [document.data for document in parsed.documents]


def _is_resource_list(data: Json) -> bool:
    group, kind = _RESOURCE_LIST
    return data.get("kind") == kind and nested_string(data, "apiVersion").startswith(group)


def _settings(
    options: argparse.Namespace, parsed: _FunctionInput, reporter: Reporter
) -> _Settings | None:
    """Return how to compile and lint, or None if the profile has an error, which is reported.
    Raises `UsageError`.
    """
    target = options.target or _configured_target(parsed.function_config)
    check_target(target)
    profiles = [
        item
        for item in (parsed.function_config, *parsed.objects)
        if _is_kind(item, "ClusterProfile")
    ]
    if len(profiles) + (options.cluster is not None) > 1:
        raise UsageError("several ClusterProfiles; specs are compiled for one cluster")

    if not profiles:
        profile = reporter.read_profile(options.cluster)
    else:
        file = _as_file(profiles[0])
        profile, diagnostics = load_profile(file.content, filename=file.name)
        reporter.add(file, diagnostics)

    if profile is None:
        return None
    return _Settings(profile, target, load(None))


def _configured_target(function_config: Json) -> str | None:
    """Return the target that the function's configuration names, if it is a ConfigMap. Raises
    `UsageError`.
    """
    kind = function_config.get("kind")
    if kind == "ConfigMap":
        data = nested_map(function_config, "data")
        unknown = [key for key in data if key != "target"]
        if unknown:
            raise UsageError(
                f"functionConfig: unknown key data.{unknown[0]}; the only key is data.target"
            )
        return nested_string(data, "target") or None
    if function_config and not streams.is_ours(function_config):
        raise UsageError(
            f"functionConfig: kind {kind!r}; expected a TrainingJob, a ClusterProfile or a "
            "ConfigMap"
        )

    return None


def _is_kind(item: Json, kind: str) -> bool:
    """Return whether this is an object of one of ptcompile's own kinds."""
    return streams.is_ours(item) and item.get("kind") == kind


def _compile_specs(
    parsed: _FunctionInput, settings: _Settings, reporter: Reporter
) -> tuple[list[_Object], list[_Finding]]:
    """Return the objects with manifests in place of specs and profiles, and the findings of the
    specs.

    Objects marked as local stay, because kpt keeps them in the package without applying them. The
    manifests of a local spec replace those that an earlier run added to the package.
    """
    objects: list[_Object] = []
    findings: list[_Finding] = []
    for item in (parsed.function_config, *parsed.objects):
        is_input = item is not parsed.function_config
        if is_input and (not streams.is_ours(item) or _is_local(item)):
            objects.append(_Object(item))
        if not _is_kind(item, "TrainingJob"):
            continue

        file = _as_file(item)
        config = settings.config
        inputs = Inputs(
            [read_file(file.content, file.name, settings.profile)],
            settings.profile,
            overrides=NO_OVERRIDES._replace(target=config.target),
            extensions=config.extensions,
            only_specs=True,
        )
        result = compile.compile_inputs(inputs, settings.target, config.selection(file.name))
        reporter.add(file, result.diagnostics)
        findings += [_Finding(diagnostic, item) for diagnostic in result.diagnostics]
        codes = frozenset(diagnostic.code for diagnostic in (*result.diagnostics, *result.meant))
        replaces = is_input and not _is_local(item)
        objects += [
            _Object(_place(manifest, item) if replaces else manifest, codes)
            for manifest in result.manifests
        ]

    written = {_identity(item.data) for item in objects if item.spec_codes is not None}
    return [
        item
        for item in objects
        if item.spec_codes is not None or _identity(item.data) not in written
    ], findings


def _is_local(item: Json) -> bool:
    return _annotations(item).get(_LOCAL) == "true"


def _annotations(item: Json) -> Json:
    return nested_map(item, "metadata", "annotations")


def _identity(item: Json) -> tuple[tuple[str, str], str, str]:
    return kind_of(item), namespace_of(item), object_name(item)


def _place(manifest: JsonDict, spec: Json) -> JsonDict:
    """Return a manifest with the annotation of Helm that names the file of its spec."""
    kept = {
        key: value
        for key, value in _annotations(spec).items()
        if key.startswith("postrenderer.helm.sh/")
    }
    if not kept:
        return manifest
    metadata = nested_map(manifest, "metadata")
    return {**manifest, "metadata": {**metadata, "annotations": {**_annotations(manifest), **kept}}}


def _lint(objects: Sequence[_Object], settings: _Settings, reporter: Reporter) -> list[_Finding]:
    """Lint objects as one stream, and return the findings that their specs do not have."""
    from ptcompile.api.lint import lint_source

    if not objects:
        return []

    inputs = [_as_file(item.data) for item in objects]
    options = settings.config.lint_options("-", settings.profile)._replace(names_successors=False)
    result = lint_source(b"---\n".join(file.content for file in inputs), None, options)
    by_document: dict[int, list[Diagnostic]] = {}
    for diagnostic in result.diagnostics:
        by_document.setdefault(diagnostic.document, []).append(diagnostic)
    first_line = 1
    findings: list[_Finding] = []
    for index, (item, file) in enumerate(zip(objects, inputs, strict=True)):
        new = [
            _move(diagnostic, file.name, 1 - first_line)
            for diagnostic in by_document.get(index, ())
            if diagnostic.code not in (item.spec_codes or ())
        ]
        reporter.add(file, new)
        findings += [_Finding(diagnostic, item.data) for diagnostic in new]
        first_line += file.content.count(b"\n") + 1

    return findings


def _move(diagnostic: Diagnostic, filename: str, lines: int) -> Diagnostic:
    """Return a finding in a stream as one in the text of its object."""
    span = diagnostic.span
    if span is not None:
        span = span._replace(line=span.line + lines, end_line=span.end_line + lines)
    return diagnostic._replace(filename=filename, document=0, span=span)


def _as_file(item: Json) -> InputFile:
    """Return an object as a separate file, without the annotations of the calling tool."""
    name = streams.resource_name(item) or "an object without a name"
    path = _source_path(item)
    if _annotations(item):
        user_annotations = {
            key: value
            for key, value in _annotations(item).items()
            if not key.startswith(_CALLERS_ANNOTATIONS)
        }
        metadata = without_keys(nested_map(item, "metadata"), "annotations")
        item = {
            **item,
            "metadata": {**metadata, "annotations": user_annotations}
            if user_annotations
            else metadata,
        }

    return InputFile(f"{name} in {path}" if path else name, emit(item).encode(), True)


def _source_path(item: Json) -> str:
    """Return the path of the object's file, as the calling tool knows it, or an empty string."""
    return next(filter(None, (as_string(_annotations(item).get(key)) for key in _PATHS)), "")


def _as_result(finding: _Finding) -> Json:
    """Return a finding as a result of a KRM function."""
    diagnostic, item = finding
    api_version, kind = kind_of(item)
    path = _source_path(item)
    index = as_string(_annotations(item).get(_INDEX))
    namespace = nested_string(item, "metadata", "namespace")
    place = field_path(diagnostic.path)
    message = diagnostic.text
    result: JsonDict = {
        "message": f"{message}; {diagnostic.help}" if diagnostic.help else message,
        "severity": _SEVERITIES[diagnostic.severity],
        "resourceRef": {"apiVersion": api_version, "kind": kind, "name": object_name(item)},
        "tags": {"code": diagnostic.code, "rule": diagnostic.name},
    }
    if namespace:
        result["resourceRef"]["namespace"] = namespace
    if place:
        result["field"] = {"path": place}
    if path:
        result["file"] = {"path": path, **({"index": int(index)} if is_short_number(index) else {})}

    return result
