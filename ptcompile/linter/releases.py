"""Pairs of releases that a profile says the cluster runs, and that do not work together for an
object.
"""

from __future__ import annotations

from ptcompile._internal.schema_files import load_table
from ptcompile.diagnostics import Path, Problems, own_problem
from ptcompile.kubernetes.unstructured import nested_string_map
from ptcompile.kubernetes.versions import Version, version_text
from ptcompile.operators.queues.queue_systems import KUEUE_QUEUE
from ptcompile.world.workload import Workload


def releases_apart(workload: Workload) -> Problems:
    """Yield the first pair of declared releases that the object cannot run on; `releases.json`
    has the sources.
    """
    versions = workload.versions
    is_queued = KUEUE_QUEUE in nested_string_map(workload.metadata, "labels")
    for pair in load_table("linter/releases.json")["pairs"]:
        software = pair["software"]
        other = pair["other"]
        is_about = workload.kind.api_version.startswith(pair["api"]) and (
            is_queued or not pair["queued"]
        )
        if not is_about or not versions.declared.issuperset((software, other)):
            continue

        release = getattr(versions, software)
        others = getattr(versions, other)
        if _is_within(release, *pair["releases"]) and _is_within(others, *pair["others"]):
            path: Path = ("metadata", "labels", KUEUE_QUEUE) if pair["queued"] else ("kind",)
            versions_apart = (
                f"{software} {version_text(release)} and {other} {version_text(others)}"
            )
            text = f"the cluster has {versions_apart}: {pair['effect']}"
            yield own_problem(
                "releases-apart",
                path,
                text,
                pair["help"],
                severity="warning",
                stage="run",
            )
            return


def _is_within(release: Version, since: list[int] | None, until: list[int] | None) -> bool:
    return (since is None or release >= (*since,)) and (until is None or release <= (*until,))
