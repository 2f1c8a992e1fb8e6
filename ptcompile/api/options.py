"""What judges one file: the rules that are reported, and the cluster that they are reported for.

A file gets it from the configuration (`Config.lint_options` of the command line), the arguments of
a function from `read_options`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ptcompile._internal import arguments
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.api.inputs import NO_PROFILE, File, Inputs, ProfileRead, SchemaPaths, releases_of
from ptcompile.diagnostics.selection import NO_CODES, Selection, selection
from ptcompile.kubernetes.index import Objects
from ptcompile.kubernetes.versions import Versions
from ptcompile.source.overrides import NO_OVERRIDES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ptcompile.extending import Extensions
    from ptcompile.spec.cluster_profile import ClusterProfile

    UnknownKinds = Literal["count", "error"]
else:
    UnknownKinds = object  # other modules import the name


class LintOptions(NamedTuple):
    """What judges one file: the rules that are reported, and the cluster that they are reported
    for.
    """

    profile: ClusterProfile | None = None
    """The configured profile, or None without one."""
    versions: Versions = Versions()
    """The releases in force."""
    webhooks: bool = True
    """Whether the operators' webhooks are asked, and not only the API server and the CRDs."""
    selection: Selection = Selection()
    unknown_kinds: UnknownKinds = "count"
    extensions: Extensions | None = None
    """Rules and passes of plugins and of the configuration."""
    schemas: tuple[str | os.PathLike[str], ...] = ()
    """Files and folders of CRDs or JSON Schemas."""
    target: str | None = None
    """The target of specs that name none."""
    names_successors: bool = False
    """Whether a file's report names the successor of an operator: people read it, and programs
    choose a target.
    """

    kustomizations: tuple[str, ...] = ()
    """The texts of the kustomizations beside a file, which complete or patch it."""

    def inputs(
        self,
        file: File,
        beside: Objects | None = None,
        *,
        profile: ProfileRead = NO_PROFILE,
        only_specs: bool = False,
    ) -> Inputs:
        """Return a file with what decides about its objects: `beside` are objects of other files,
        and `profile` is the text of these options' profile, if the call's findings include its own.
        """
        return Inputs(
            [file],
            self.profile,
            versions=self.versions,
            overrides=NO_OVERRIDES._replace(target=self.target),
            beside=beside,
            schemas=self.schemas,
            extensions=self.extensions,
            profile_diagnostics=profile.diagnostics,
            profile_source=profile.source,
            only_specs=only_specs,
        )


def read_options(
    profile: ClusterProfile | None,
    *,
    kubernetes: str | None,
    webhooks: bool,
    unknown_kinds: UnknownKinds,
    select: Iterable[str] | None,
    ignore: Iterable[str],
    severity: Mapping[str, str] | None,
    schemas: SchemaPaths,
    extensions: Extensions | None,
) -> LintOptions:
    """Return the options for a function's arguments, which `lint` describes, with the exceptions
    for wrong ones.
    """
    arguments.check(kubernetes=kubernetes, extensions=extensions)
    codes = extensions.codes if extensions is not None else NO_CODES

    return LintOptions(
        profile=profile,
        versions=releases_of(profile, kubernetes),
        webhooks=webhooks,
        selection=selection(select, ignore, codes, severity),
        unknown_kinds=unknown_kinds,
        extensions=extensions,
        schemas=arguments.paths(schemas, "schemas"),
    )
