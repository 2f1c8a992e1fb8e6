"""The verb `platform` as a function: what an administrator installs before jobs run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptcompile.prerequisites.objects import Setup
from ptcompile.prerequisites.objects import platform as set_up
from ptcompile.verbs import compile
from ptcompile.verbs.requires import jobs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.vocabulary.cluster.model import ClusterProfile
    from ptcompile.vocabulary.spec import Spec


def platform(
    cluster: str | bytes | Mapping[str, Any] | ClusterProfile | None = None,
    specs: Sequence[str | bytes | Mapping[str, Any] | Spec] = (),
    *,
    filename: str | None = None,
) -> Setup:
    """What a cluster must have before these jobs run: objects for kubectl, Helm values, and a list of the rest.

    `cluster` is a ClusterProfile in any form, the built-in one where absent, and `filename` is its name, for positions
    in diagnostics; `specs` are streams of jobs. Without jobs it is for PyTorchJobs. With an error in `diagnostics` all
    else is empty. Raises nothing for what a user may have written, and TypeError where `specs` is one text.
    """
    if isinstance(specs, str | bytes | Mapping):
        raise TypeError("specs: expected a list of job streams, not a single one")
    profile, found = compile.read_cluster(cluster, filename=filename)
    read = [jobs(one, profile, None, None) for one in specs] if profile is not None else []
    diagnostics = (*found, *(one for _, told in read for one in told))
    if profile is None or any(one.severity == "error" for one in diagnostics):
        return Setup((), {}, (), diagnostics)
    setup = set_up(profile, [one for each, _ in read for one in each])
    return setup._replace(diagnostics=diagnostics)
