"""`ptcompile upgrade`: what other releases of a cluster mean for the files that do not change."""

from __future__ import annotations

import argparse

from ptcompile.cli import config, presentation
from ptcompile.cli.files import InputFile, UsageError
from ptcompile.cli.inputs import inputs_of
from ptcompile.cli.reporter import Reporter
from ptcompile.kubernetes.unstructured import nested_map, without_none
from ptcompile.kubernetes.versions import Versions, parse_version
from ptcompile.spec.objects import yaml_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile


_NOT_RELEASES = frozenset({"gates", "declared", "platform", "domain", "gpu_shares"})
_SOFTWARE = [field for field in Versions._fields if field not in _NOT_RELEASES]
"""The fields of a profile's versions."""


def run(options: argparse.Namespace) -> int:
    """Print what changes; return 1 if something changes for the worse or in the pods."""
    from ptcompile.api.upgrade import Upgrade, upgrade_inputs
    from ptcompile.cli.related import RelatedObjects

    old_releases = _releases(options, "")
    new_releases = _releases(options, "to_")
    if not (options.from_cluster or options.to_cluster or old_releases or new_releases):
        raise UsageError(
            "nothing to compare: give --from and --to, or --kubernetes and --to-kubernetes"
        )

    settings = config.settings_of(options)
    schemas = options.schemas or settings.schemas
    config.check_schemas(schemas)
    reporter = Reporter(options.output_format)
    inputs = reporter.read_files(options.paths)
    before_path = options.from_cluster
    after_path = options.to_cluster or before_path
    old_profile, new_profile = reporter.read_profiles(before_path, after_path)
    before = _with_releases(old_profile, old_releases, before_path, reporter)
    after = _with_releases(new_profile, old_releases | new_releases, after_path, reporter)
    if before is None or after is None or not inputs:
        return reporter.finish() or 1

    related = RelatedObjects(inputs, is_complete=len(inputs) > 1)
    total = Upgrade(())
    # `inputs_of` reads a profile only if this is set, and both sides of an upgrade have one
    options.cluster = True
    for file in inputs:
        beside = related.objects_for(file)
        old, new = (
            inputs_of([file], side, options, beside=beside, schemas=schemas)
            for side in (before, after)
        )
        changed = upgrade_inputs(old, new)
        reporter.add(file, changed.diagnostics)
        total += changed

    status = reporter.finish()
    text = presentation.render(total, options.format)

    return max(status, presentation.write_result(text, options.format), int(not total.ok))


def _releases(options: argparse.Namespace, prefix: str) -> dict[str, str]:
    """Return the releases of one side that options give, by the field of the profile."""
    releases: dict[str, str] = without_none(
        {field: getattr(options, f"{prefix}{field}") for field in _SOFTWARE}
    )
    for field, text in releases.items():
        try:
            parse_version(text)
        except ValueError as error:
            raise UsageError(f"--{prefix}{field}: {error}".replace("_", "-")) from None
    return releases


def _with_releases(
    profile: ClusterProfile | None, releases: dict[str, str], path: str | None, reporter: Reporter
) -> ClusterProfile | None:
    """Return a profile, from the file at `path` if any, with these releases; None if it is
    wrong.
    """
    from ptcompile.compiler.reader import load_profile

    if profile is None or not releases:
        return profile

    data = profile.document(only_set=True)
    spec = nested_map(data, "spec")
    versions = {
        **nested_map(spec, "versions"),
        **{yaml_name(field): text for field, text in releases.items()},
    }
    changed, diagnostics = load_profile(
        {**data, "spec": {**spec, "versions": versions}}, filename=path
    )
    reporter.add(InputFile(path or "<options>", b"", True), diagnostics)

    return changed
