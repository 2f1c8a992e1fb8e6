"""`ptcompile diff`: how two sides differ, effects on the pods first."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ptcompile.cli import config, files, overrides, presentation
from ptcompile.cli.files import InputFile, UsageError
from ptcompile.cli.inputs import check_has_spec, keywords
from ptcompile.cli.options import check_target
from ptcompile.cli.reporter import Reporter, reporter_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.diagnostics import Diagnostic
    from ptcompile.differ import Difference
    from ptcompile.kubernetes.unstructured import JsonDict


def run(options: argparse.Namespace) -> int:
    """Show how B differs from A; return 1 if it does."""
    if options.live is not None:
        if options.b is not None:
            raise UsageError("--live FILE takes the place of A: give one other file")
        options.a, options.b = options.live, options.a

    changes_b = (
        options.from_cluster or options.to_cluster or options.set or options.name is not None
    )
    if options.b is None and not changes_b:
        raise UsageError(
            "nothing to compare with: give a second file, --set, or --from-cluster and --to-cluster"
        )
    if options.force_conflicts and not options.server_side:
        raise UsageError("--force-conflicts needs --server-side, as in kubectl apply")

    settings = config.settings_of(options)
    options.schemas = options.schemas or settings.schemas
    config.check_schemas(options.schemas)
    check_target(options.target, extensions=settings.extensions)
    reporter = reporter_of(options)
    difference = _difference(options, reporter)
    status = reporter.finish()
    if difference is None or not difference.ok:
        return status

    text = presentation.render(difference, options.format)
    return max(status, int(difference.differs), presentation.write_result(text, options.format))


def _difference(options: argparse.Namespace, reporter: Reporter) -> Difference | None:
    """Return the difference, or None if a profile is wrong, which is a finding then."""
    from ptcompile.api.diff import diff_inputs
    from ptcompile.api.inputs import Inputs
    from ptcompile.differ.applying import ApplyMode

    settings = config.settings_of(options)
    profiles = reporter.read_profiles(*_profile_filenames(options))
    if None in profiles:
        return None

    a = options.a
    b = options.a if options.b is None else options.b
    before = files.read(a)
    old_side = InputFile(_display_name(a), before, True)
    new_side = InputFile(_display_name(b), before if a == b else files.read(b), True)
    check_has_spec(options, [new_side])
    changes: tuple[JsonDict, ...] = ({}, keywords(options))
    old, new = (
        Inputs.read(
            side.content,
            filename=side.name,
            cluster=profile,
            default_target=options.default_target,
            schemas=options.schemas,
            extensions=settings.extensions,
            **change,
        )
        for side, profile, change in zip((old_side, new_side), profiles, changes, strict=True)
    )
    mode = ApplyMode(options.server_side, options.force_conflicts)
    difference = diff_inputs(old, new, options.target, mode, options.namespace)
    difference = difference._replace(
        diagnostics=tuple(settings.select_reported(difference.diagnostics))
    )
    rest: Sequence[Diagnostic] = difference.diagnostics
    if old_side != new_side:
        reporter.add(old_side, [d for d in rest if d.filename == old_side.name])
        rest = [d for d in rest if d.filename != old_side.name]
    reporter.add(new_side, overrides.point_at_options(rest, options))
    if a == b:
        return difference._replace(names=_side_names(options))

    return difference


def _side_names(options: argparse.Namespace) -> tuple[str, str]:
    """Return the names of two sides that are the same file: what differs is the profile or the
    options.
    """
    name = _display_name(options.a)
    first, second = (f" ({path or 'no profile'})" for path in _profile_filenames(options))
    if first == second:
        first = second = ""
    changes = [f"--set {option.text}" for option in options.set]
    if options.name is not None:
        changes += [f"--name {options.name}"]
    return f"{name}{first}", " ".join([f"{name}{second}", *changes])


def _profile_filenames(options: argparse.Namespace) -> tuple[str | None, str | None]:
    """Return the files of the profiles of both sides."""
    return options.from_cluster or options.cluster, options.to_cluster or options.cluster


def _display_name(path: str) -> str:
    return "<stdin>" if path == "-" else path
