"""What the API server, the operators and the rules say of one object."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ptcompile import streams
from ptcompile.findings.diagnostics import Problem
from ptcompile.findings.selection import Selection
from ptcompile.kubernetes.versions import Versions
from ptcompile.linting import Stream, run
from ptcompile.validate import supported, validate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ptcompile.extending import Extensions
    from ptcompile.validate.definitions import Definitions
    from ptcompile.vocabulary.cluster.model import ClusterProfile


class Asked:
    """What one call of `lint` asks of every object."""

    def __init__(
        self,
        profile: ClusterProfile | None,
        versions: Versions,
        webhooks: bool,
        selection: Selection,
        definitions: Definitions | None = None,
        extensions: Extensions | None = None,
        pause: Callable[[], None] | None = None,
    ) -> None:
        self.profile = profile
        self.versions = versions
        self.webhooks = webhooks
        self.selection = selection
        self.definitions = definitions
        self.extensions = extensions
        self.pause = pause


def judge(manifest: Mapping[str, Any], others: Stream, asked: Asked) -> Iterable[Problem] | None:
    """The problems of one object, or None where its kind is unknown. `others` are in the same stream."""
    if supported(manifest, asked.definitions):
        refused = validate(
            manifest,
            versions=asked.versions,
            webhooks=asked.webhooks,
            others=others.objects,
            definitions=asked.definitions,
        )
        return [*refused, *_secured(manifest, others, asked), *_advised(manifest, refused, others, asked)]
    if not streams.is_ours(manifest):
        from ptcompile.validate.kinds import misplaced

        return misplaced(manifest, asked.versions.kubernetes)
    if manifest.get("kind") == "ClusterProfile":
        from ptcompile.compiling.kubernetes_parts import read_profile

        return read_profile(manifest)[1]
    return _spec(manifest, asked)


def _secured(manifest: Mapping[str, Any], others: Stream, asked: Asked) -> Iterable[Problem]:
    """What Pod Security Admission has against the pods, where a Namespace of the stream or the profile says a level."""
    profile = asked.profile.spec.pod_security if asked.profile is not None else None
    namespaces = others.once(_namespaces) if "@namespace" in others.kinds else ()
    if profile is None and not namespaces:
        return ()
    from ptcompile.validate.pod_security import pod_security_problems

    return pod_security_problems(manifest, namespaces, profile, asked.versions.kubernetes)


def _namespaces(stream: Stream) -> Sequence[Mapping[str, Any]]:
    return stream.objects.of(("v1", "Namespace"))


def _advised(
    manifest: Mapping[str, Any], refused: Sequence[Problem], others: Stream, asked: Asked
) -> Iterator[Problem]:
    """What the rules find, without what they say of a place that is already rejected.

    Those of stage "apply" speak for a webhook.
    """
    said = {problem.path for problem in refused}
    mistyped = {problem.path for problem in refused if problem.name in _MISTYPED}
    uncounted = any(path[-1:] and path[-1] in _COUNTS for path in mistyped)
    for problem in run(manifest, versions=asked.versions, others=others):
        below = any(problem.path[:end] in mistyped for end in range(len(problem.path)))
        guessed = below or (uncounted and problem.authority == "torchrun")
        if problem.path not in said and not guessed and (asked.webhooks or problem.stage != "apply"):
            yield problem


_MISTYPED = frozenset({"wrong-type", "invalid-quantity"})
_COUNTS = frozenset({"replicas", "parallelism", "completions", "numNodes", "minReplicas", "maxReplicas"})
"""How many pods there are: where one of them cannot be read, whether that is enough is unknown."""


def _spec(document: Mapping[str, Any], asked: Asked) -> Iterable[Problem]:
    """The problems of a TrainingJob, and what the rules find in its manifests, at the lines of the spec."""
    from ptcompile.compiling.advice import rule_findings
    from ptcompile.compiling.compiler import compile_document
    from ptcompile.vocabulary.from_schema import default_cluster

    profile = asked.profile or default_cluster()
    compiled = compile_document(document, profile, None, asked.extensions)
    return [*compiled.problems, *rule_findings(compiled, document, profile, asked.extensions)]


def extended(manifest: Mapping[str, Any], others: Stream, asked: Asked) -> Iterable[Problem]:
    """What the rules of plugins and of the configuration find."""
    if asked.extensions is None:
        return ()
    from ptcompile.extending.asking import problems

    return problems(asked.extensions, manifest, others.objects)
