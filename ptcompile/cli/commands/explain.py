"""`ptcompile explain`: which pass, rule and line of the spec wrote each part of the manifests; a
field; a rule; a message in a log.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from ptcompile._internal.files import SUFFIXES
from ptcompile._internal.lazy import Pattern
from ptcompile.cli import config, files, presentation
from ptcompile.cli.commands import diagnose, reference
from ptcompile.cli.files import InputFile, UsageError
from ptcompile.cli.options import check_target, terminal_width
from ptcompile.cli.reporter import Reporter, reporter_of
from ptcompile.diagnostics.codes import CODES
from ptcompile.report.layout import format_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics import Diagnostic
    from ptcompile.explainer.explanation import Explanation
    from ptcompile.explainer.model import Cause
    from ptcompile.explainer.page import ExplainPage

_is_numbered = Pattern(r"(?i)PTC\d+").fullmatch


def run(options: argparse.Namespace) -> int:
    """Explain the manifests of one file, or a word; return 1 if `compile` would not write
    manifests.
    """
    if options.log:
        return diagnose.explain_logs(options)
    if options.spec is None:
        raise UsageError("nothing to explain: SPEC is a file, a field, a rule or a message")

    if names_word(options):
        status = _explain_word(options.spec, options.format)
        if status is not None:
            return status

    extensions = config.settings_of(options).extensions
    check_target(options.target, extensions=extensions)
    reporter = reporter_of(options, extensions=extensions)
    inputs = reporter.read_files([options.spec])
    if not inputs:
        return reporter.finish()
    if len(inputs) > 1:
        raise UsageError(f"{options.spec} has {len(inputs)} files, but explain reads one")

    return _explain_file(inputs[0], options, reporter)


def names_word(options: argparse.Namespace) -> bool:
    """Return whether a code, a field or a message is named, and no file."""
    if options.log or options.spec in (None, "-") or options.path is not None:
        return False
    # a message with a `*` has spaces
    is_glob = "*" in options.spec and (" " not in options.spec or options.spec.endswith(SUFFIXES))
    return not is_glob and not os.path.exists(options.spec)


def _explain_file(file: InputFile, options: argparse.Namespace, reporter: Reporter) -> int:
    """Print the explanation of a file, or write its page; return the exit status."""
    from ptcompile.api.explain import explain_inputs, explain_page
    from ptcompile.cli.inputs import page_inputs

    if options.html is not None:
        if options.path is not None or options.format != "text":
            raise UsageError("--html shows everything: remove PATH and --format")
        # a page shows only the built-in targets
        check_target(options.target)
    path = options.cluster
    profile = InputFile(path, files.read(path), True) if path else None
    source = page_inputs(file.content, profile and profile.content, file.name, options)
    selected = None if options.no_lint else config.settings_of(options).selection(file.name)
    if options.html is not None:
        page = explain_page(source, options.target, selected)
        _add_findings(page.diagnostics, (file, profile), options, reporter)
        return max(reporter.finish(), _write_page(page, options.html))

    explanation = explain_inputs(source, options.target, selected)
    if options.path is not None and source.open_choices:
        explanation = explanation._replace(
            jobs=(), diagnostics=(*explanation.diagnostics, *source.open_choices)
        )

    _add_findings(explanation.diagnostics, (file, profile), options, reporter)
    status = reporter.finish()
    if not explanation.jobs:
        return status

    return max(
        status, presentation.write_result(_format_explanation(explanation, options), options.format)
    )


def _explain_word(word: str, form: str) -> int | None:
    """Explain a code, a field or a message. None for a word that may be the path of a file."""
    # names of messages are in lower case: only such a word needs the long table of messages
    if reference.is_code(word) and (
        word in CODES or not word.islower() or not diagnose.is_message(word)
    ):
        return reference.explain(
            word, lambda name: _field_hint(name) or "; ptcompile rules lists them"
        )
    if _may_be_field(word):
        return _explain_field(word, form)
    if diagnose.may_be_message(word):
        return diagnose.explain_message(word, form)
    if word.replace("_", "").replace(".", "").isalnum() and not word.endswith(SUFFIXES):
        no_code = "; no rule has this code: run 'ptcompile rules'"
        hint = no_code if _is_numbered(word) else _field_hint(word)
        raise UsageError(f"{word}: no such file or directory{hint}")
    return None


def _may_be_field(word: str) -> bool:
    """Return whether a word may be the address of a field and is not the path of a YAML file."""
    if not word[:1].isalpha() or ":" in word or word.endswith(SUFFIXES):
        return False
    from ptcompile.explainer import field_reference

    return field_reference.is_address(word)


def _field_hint(word: str) -> str:
    """Return the end of a message that names the spec field of an address or a last word, or ""
    if no field has it.
    """
    from ptcompile._internal.spelling import normalize
    from ptcompile.compiler.frontend.aliases import DOCUMENT, find_alias
    from ptcompile.explainer.field_reference import spec_addresses

    word = normalize(word.removeprefix("spec."))
    alias = find_alias(word)
    words_by_field = {
        field: {normalize(field.removeprefix("spec.")), normalize(field.rpartition(".")[2])}
        for field in spec_addresses()
    }
    for name in (word, normalize(alias.field[-1])) if alias else (word,):
        address = next((field for field, words in words_by_field.items() if name in words), None)
        if address:
            return f"; for the field of the spec, run 'ptcompile explain {address}'"

    return f"; {DOCUMENT[word]}" if word in DOCUMENT else ""


def _explain_field(address: str, form: str) -> int:
    """Print the reference of a field. Raises `UsageError` for an unknown kind or field."""
    from ptcompile.explainer import field_reference

    try:
        field = field_reference.find_field(address)
    except field_reference.UnknownFieldError as error:
        raise UsageError(str(error)) from None
    if form == "json":
        return files.write_stdout(format_json(field.to_dict()))
    return presentation.write_result(field.text(terminal_width(100)))


def _write_page(content: ExplainPage, output: str) -> int:
    """Write the page of every target, or of one. Specs that do not compile get a page too: it
    shows why.
    """
    from ptcompile.explainer import page

    # a profile with errors has no listings
    if not content.listings:
        return 0
    text = page.html(content)
    if output == "-":
        return files.write_stdout(text)
    files.write_files({output: text})
    return 0


def _add_findings(
    diagnostics: Sequence[Diagnostic],
    inputs: tuple[InputFile, InputFile | None],
    options: argparse.Namespace,
    reporter: Reporter,
) -> None:
    """Add the findings. Those of options count for the spec, which is the first input."""
    from ptcompile.cli import overrides

    spec, profile = inputs
    of_profile = [
        diagnostic for diagnostic in diagnostics if profile and diagnostic.filename == profile.name
    ]
    reporter.add(
        spec, overrides.point_at_options((d for d in diagnostics if d not in of_profile), options)
    )
    if profile is not None and profile.name != spec.name:
        reporter.add(profile, of_profile)


def _format_explanation(explanation: Explanation, options: argparse.Namespace) -> str:
    if options.path is not None:
        explanation = explanation._replace(causes=_causes_at(explanation, options.path))
    if options.format == "json":
        return format_json(explanation.to_dict())
    return explanation.text(options.path)


def _causes_at(explanation: Explanation, path: str) -> tuple[Cause, ...]:
    """Return the causes at a path. Raises `UsageError`, with a similar path, if no manifest has
    it.
    """
    causes = explanation.at(path)
    if not causes:
        suggestion = explanation.near(path)
        raise UsageError(
            f"no manifest has {path!r}"
            + (f"; did you mean {suggestion}?" if suggestion else _field_hint(path))
        )
    return causes
