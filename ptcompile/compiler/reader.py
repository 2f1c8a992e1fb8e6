"""Read a spec from a document, or a profile from any source, and collect their problems."""

from __future__ import annotations

from ptcompile._internal.namedtuple import Any
from ptcompile._internal.spelling import closest_match
from ptcompile.apiserver.kinds import versions as kubernetes_versions
from ptcompile.compiler.checks import check
from ptcompile.compiler.checks.kubernetes_fields import profile_template_problems
from ptcompile.compiler.frontend.parts import SpecParts, parts_of
from ptcompile.compiler.frontend.reader import decode_profile, decode_spec
from ptcompile.compiler.location import PlacedProblem
from ptcompile.diagnostics import (
    Diagnostic,
    Path,
    Problem,
    Problems,
    blocking,
    blocking_text,
    has_error,
    own_problem,
)
from ptcompile.kubernetes.unstructured import nested_value
from ptcompile.kubernetes.versions import (
    Version,
    Versions,
    gates_of,
    is_group,
    parse_version,
    stage_in,
    stages_of,
    version_text,
)
from ptcompile.operators.table import OPERATORS
from ptcompile.source import streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile._internal.arguments import ProfileSource
    from ptcompile.extending import Extensions
    from ptcompile.source.documents import Source
    from ptcompile.spec.cluster_profile import ClusterProfile


_TITLES = {operator.release: operator.title for operator in OPERATORS if operator.title}
"""The names of the operators by their fields of `Versions`."""
_READINGS = 5
"""Maximum number of readings: a mistake may hide others, since a block's check follows those of
its fields.
"""


def read(
    data: Any, cluster: ClusterProfile, target: str | None, extensions: Extensions | None
) -> tuple[SpecParts | None, list[list[PlacedProblem]]]:
    """Read and check a document. After a mistake, continue with the rest of the document.

    Returns the blocks of the spec, or None if it has errors, and the findings of each reading.
    """
    if problem := wrong_kind(data):
        return None, [[PlacedProblem(problem)]]

    stages: list[list[PlacedProblem]] = []
    rejected: dict[tuple[str, Path], Problem] = {}
    remaining = data
    while remaining is not None and len(stages) < _READINGS:
        spec, problems = decode_spec(remaining)
        parts = parts_of(spec, cluster) if spec is not None else None
        stages.append(
            list(map(PlacedProblem, problems))
            if parts is None
            else check(parts, target, extensions)
        )
        errors = [item.problem for item in stages[-1] if item.problem.severity == "error"]
        if not errors:
            return parts, stages

        before = len(rejected)
        rejected.update({(item.name, item.path): item for item in errors})
        if len(rejected) == before:  # no new mistake can be removed
            break

        from ptcompile.compiler.recovery import without_mistakes

        remaining, _ = without_mistakes(data, rejected.values())

    return None, stages


def wrong_kind(data: Any) -> Problem | None:
    """Return the problem if a document is not a TrainingJob, or None if it is one."""
    kind = nested_value(data, "kind")
    version = nested_value(data, "apiVersion")
    if kind == "TrainingJob":
        return None

    is_ours = isinstance(version, str) and version.startswith("ptcompile/")
    resembles_job = kind is None or (
        isinstance(kind, str) and closest_match(kind, ["TrainingJob"]) is not None
    )
    if is_ours and resembles_job:
        return None

    if kind == "ClusterProfile":
        help = "pass it with --cluster FILE"
    elif kind is None:
        help = "start it with apiVersion: ptcompile/v1 and kind: TrainingJob"
    else:
        help = "use ptcompile lint to check a manifest"

    kind_label = f"{version}/{kind}" if version and kind else kind or "a document without kind"
    return Problem(
        "unknown-kind", ("kind",), f"{kind_label} is not a TrainingJob", help, authority="ptcompile"
    )


def read_profile(data: Any) -> tuple[ClusterProfile | None, list[Problem]]:
    """Return a decoded ClusterProfile document with valid pod templates as a profile, or None;
    and its problems.
    """
    if problem := _wrong_profile_kind(data):
        return None, blocking([problem])

    profile, problems = decode_profile(data)
    if profile is not None:
        versions = profile.versions()
        problems += profile_template_problems(profile)
        for software in sorted(versions.declared):
            path = ("spec", "versions", software)
            problems += unmodeled_release(software, getattr(versions, software), path)
        problems += _gate_problems(versions)

    return (None if has_error(problems) else profile), blocking(problems)


def _wrong_profile_kind(data: Any) -> Problem | None:
    """Return the problem if a document is of another kind than ClusterProfile, or None if it may
    be one.
    """
    kind = nested_value(data, "kind")
    if not isinstance(kind, str) or closest_match(kind, ["ClusterProfile"]) is not None:
        return None
    help = "pass a file of kind ClusterProfile in its place"
    return Problem(
        "unknown-kind", ("kind",), f"{kind} is not a ClusterProfile", help, authority="ptcompile"
    )


def unmodeled_release(software: str, release: Version, path: Path) -> Problems:
    """Yield a warning about a release of a field of `Versions` that is older or newer than those
    that are known.
    """
    newest: Version = getattr(Versions(), software)
    oldest = _oldest_known(software)
    if oldest <= release <= newest:
        return

    title = _TITLES.get(software, software)
    help = "ask the cluster where they may differ, with kubectl apply --dry-run=server"
    if software == "kubernetes" and f"{version_text(release)}0" in kubernetes_versions():
        help = f"did you mean {version_text(release)}0?"
    nearest = f"newer than {version_text(newest)}, the newest known, whose rules apply"
    if release < oldest:
        nearest = (
            f"older than {version_text(oldest)}, whose rules apply; the newest known is "
            f"{version_text(newest)}"
        )
    message = f"{title} {version_text(release)} is {nearest}"
    yield own_problem("unmodeled-release", path, message, help, "warning", "style")


def _oldest_known(software: str) -> Version:
    if software == "kubernetes":
        return parse_version(kubernetes_versions()[0])
    since = [operator.modeled_since for operator in OPERATORS if operator.release == software]
    return max(since, default=(0, 0))


def _gate_problems(versions: Versions) -> Problems:
    """Yield a problem for each feature gate that the cluster's release does not have, or has
    locked.
    """
    for software, gate, value in versions.gates:
        path = ("spec", "featureGates", software, gate)
        release = getattr(versions, software)
        named = f"{_TITLES.get(software, 'Kubernetes')} {version_text(release)}"
        stage = stage_in(software, gate, release)

        if stage is None and not is_group(gate):
            yield _unknown_gate(path, named, release)
        elif stage is not None and stage.locked and value != stage.default:
            state = "on" if stage.default else "off"
            message = (
                f"{named} does not start with this value: the gate is {stage.name} and locked to "
                f"{state}"
            )
            yield own_problem("locked-gate", path, message, "remove it")


def _unknown_gate(path: tuple[str, ...], named: str, release: Version) -> Problem:
    """Return the warning about a gate that the release does not have, or that ptcompile does not
    know.
    """
    software, gate = path[-2:]
    stages = stages_of(software, gate)
    if stages:
        major, _ = release
        text = f"{named} does not have this feature gate: added in {major}.{stages[0].since}"
        help = f"remove it, or correct spec.versions.{software}"
    else:
        text = f"{named} has no known feature gate of this name"
        similar = closest_match(gate, gates_of(software))
        if similar:
            help = f'did you mean "{similar}"?'
        else:
            help = "check the name: it has no effect on what is checked"

    return own_problem("unknown-gate", path, text, help, "warning", "style", on_key=True)


def load_profile(
    cluster: ProfileSource | ClusterProfile | None, *, filename: str | None = None
) -> tuple[ClusterProfile | None, list[Diagnostic]]:
    """Return a ClusterProfile from any source, the built-in one for None; or None and its
    problems.
    """
    from ptcompile.spec.reader import default_cluster

    if cluster is None:
        return default_cluster(), []

    from ptcompile.spec.objects import Profile

    if not isinstance(cluster, Profile):
        return profile_in(streams.read(cluster, filename, "cluster"), filename)

    diagnostics = [
        streams.to_diagnostic(problem, None, filename)
        for problem in profile_template_problems(cluster)
    ]

    return None if diagnostics else cluster, diagnostics


def profile_in(
    source: Source, filename: str | None
) -> tuple[ClusterProfile | None, list[Diagnostic]]:
    """Return the ClusterProfile of a source that has been read, or None and its problems."""
    of_text = (
        streams.to_diagnostic(problem, None, filename) for problem in blocking_text(source.problems)
    )
    diagnostics = streams.limit_findings(of_text, filename)
    if has_error(diagnostics):
        return None, diagnostics

    documents = streams.profile_documents(source)
    if len(documents) != 1:
        message = f"a profile must be one document of kind ClusterProfile, got {len(documents)}"
        problem = Problem(
            "no-documents", (), message, "give one", authority="ptcompile", blocks_compile=True
        )
        return None, [*diagnostics, streams.to_diagnostic(problem, None, filename)]

    (document,) = documents
    profile, problems = read_profile(document.data)
    of_fields = (streams.to_diagnostic(problem, document, filename) for problem in problems)
    return profile, streams.limit_findings((*diagnostics, *of_fields), filename)
