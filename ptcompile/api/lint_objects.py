"""The problems of one object of a stream, and of the jobs, pods and manifests inside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ptcompile.apiserver import is_seen_by_webhooks, is_supported, structure_only_note, validate
from ptcompile.diagnostics import Path, Problem, Problems, field_path, has_error
from ptcompile.kinds.wrapped import WrappedObject, manifest_texts, pod_of_template, wrapped_objects
from ptcompile.kubernetes.resources import count_accelerators
from ptcompile.kubernetes.unstructured import (
    Json,
    as_mapping,
    kind_of,
    nested_map,
    nested_maps,
)
from ptcompile.linter import ANY_POD_RULES, Stream, run
from ptcompile.linter.unrendered import is_about_written_text, without_verdicts_on_marks
from ptcompile.operators.pod import POD_RULES
from ptcompile.operators.table import record_of
from ptcompile.source import streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.api.inputs import Inputs
    from ptcompile.api.options import LintOptions
    from ptcompile.apiserver.admission import ClusterState


_ADMISSION_KINDS = frozenset(
    {
        "@namespace",
        "@limitrange",
        "@priorityclass",
        "@resourcequota",
        "@validatingadmissionpolicybinding",
    }
)
"""Kinds whose objects make admission plugins reject others, as words of `Stream.kinds`."""
_ADMISSION_RULES = frozenset({"denied-by-policy", "exceeds-quota", "policy-not-evaluated"})
"""Rules whose findings depend on what else exists, so that only creation decides."""
_PRIORITY_FIELDS = frozenset({"priority", "preemptionPolicy"})
"""Fields that admission rejects without another object."""
_TYPE_RULES = frozenset({"wrong-type", "invalid-quantity"})
"""Rejections after which rules can only guess what the value and its parts mean."""
_POD_COUNT_FIELDS = frozenset(
    {"replicas", "parallelism", "completions", "numNodes", "minReplicas", "maxReplicas"}
)
"""Fields that set the number of pods. If one of them is invalid, rules cannot tell whether there
are enough pods.
"""
_FABRIC_RULES = frozenset({"partial-fabric", "fabric-of-another-cloud", "fabric-without-machine"})


class ObjectLinter:
    """Finds the problems of the objects of one stream."""

    def __init__(self, inputs: Inputs, options: LintOptions, stream: Stream) -> None:
        self._inputs = inputs
        self._options = options
        self._stream = stream
        profile = inputs.given_profile
        self._has_cluster_state = profile is not None and bool(
            profile.spec.objects or profile.spec.pod_security or profile.spec.platform
        )
        """Whether the profile has something that makes admission plugins reject objects."""
        self._noted_kinds: set[tuple[str, str]] = set()

    def problems(self, manifest: Json, unchecked: list[str], *, is_template: bool) -> list[Problem]:
        """Return the problems of one object and of the objects inside it. The names of objects of
        an unknown kind are appended to `unchecked`.
        """
        problems: Iterable[Problem] | None
        problems = streams.missing_keys(manifest) or self._own_problems(manifest)
        if problems is not None and is_template:
            problems = [problem for problem in problems if is_about_written_text(problem, manifest)]
        if problems is None:
            unchecked.append(streams.unchecked_name(manifest))
            problems = self._problems_of_unknown_kind(manifest)

        # a spec's extension rules have already run when it was compiled
        of_extensions = () if streams.is_ours(manifest) else self._extension_findings(manifest)
        findings = [
            *problems,
            *of_extensions,
            *self._problems_inside(manifest, unchecked, is_template=is_template),
            *self._problems_of_templates(manifest),
            *self._problems_in_texts(manifest),
        ]

        return [
            *findings,
            *self._structure_only_notes(manifest),
            *self._server_warnings(manifest, findings),
        ]

    def _own_problems(self, manifest: Json) -> Iterable[Problem] | None:
        """Return the problems of one object itself, or None if its kind is unknown."""
        if is_supported(manifest, self._inputs.definitions):
            rejections = self._rejections(manifest)
            return [
                *rejections,
                *self._admission_problems(manifest, rejections),
                *self._rule_findings(manifest, rejections),
            ]
        if not streams.is_ours(manifest):
            from ptcompile.apiserver.kinds import check_api_version

            return check_api_version(manifest, self._inputs.versions.kubernetes)
        if manifest.get("kind") == "ClusterProfile":
            from ptcompile.compiler import reader

            return reader.read_profile(manifest)[1]
        return self._spec_problems(manifest)

    def _rejections(self, manifest: Json) -> list[Problem]:
        """Return what the API server and the webhooks reject of an object."""
        return validate(
            manifest,
            versions=self._inputs.versions,
            webhooks=self._options.webhooks,
            others=self._stream.objects,
            definitions=self._inputs.definitions,
        )

    def _cluster_state(self, stream: Stream) -> ClusterState:
        """Return what admission plugins know of the cluster."""
        from ptcompile.apiserver.admission import ClusterState

        profile = self._inputs.given_profile
        level = profile.spec.pod_security if profile is not None else None
        existing = profile.spec.objects if profile is not None else ()
        return ClusterState(
            stream.objects, self._inputs.versions, level, self._inputs.definitions, existing
        )

    def _admission_problems(
        self, manifest: Json, rejections: Sequence[Problem]
    ) -> Iterable[Problem]:
        """Return the rejections of admission plugins, by the objects of the stream and the
        profile.
        """
        if (
            not self._has_cluster_state
            and _ADMISSION_KINDS.isdisjoint(self._stream.kinds)
            and _PRIORITY_FIELDS.isdisjoint(self._stream.texts_of(manifest))
        ):
            return ()
        from ptcompile.apiserver.admission import admission_problems

        valid = not has_error(rejections)
        return admission_problems(manifest, self._stream.cached(self._cluster_state), valid=valid)

    def _rule_findings(self, manifest: Json, rejections: Sequence[Problem]) -> Problems:
        """Yield the rules' findings, except on paths that are already rejected.

        Rules of stage "apply" stand for a webhook.
        """
        rejected_paths = {problem.path for problem in rejections}
        mistyped_paths = {problem.path for problem in rejections if problem.name in _TYPE_RULES}
        is_count_unknown = any(
            path[-1:] and path[-1] in _POD_COUNT_FIELDS for path in mistyped_paths
        )
        for problem in run(manifest, versions=self._inputs.versions, stream=self._stream):
            is_below_mistyped = any(
                problem.path[:end] in mistyped_paths for end in range(len(problem.path))
            )
            is_guess = is_below_mistyped or (is_count_unknown and problem.authority == "torchrun")
            is_of_webhook = problem.stage == "apply" and not self._options.webhooks
            if problem.path not in rejected_paths and not is_guess and not is_of_webhook:
                yield problem

    def _spec_problems(self, document: Json) -> Iterable[Problem]:
        """Return the problems of a TrainingJob, and the rules' findings in its manifests,
        located in the spec.
        """
        from ptcompile.compiler.advice import rule_findings

        compiled = self._inputs.compile(document)
        findings = rule_findings(compiled, document, self._inputs.profile, self._inputs.extensions)
        return [*compiled.problems, *findings]

    def _extension_findings(self, manifest: Json) -> Iterable[Problem]:
        """Return the findings of rules from plugins and the configuration."""
        if self._inputs.extensions is None:
            return ()
        from ptcompile.extending.calls import rule_problems

        return rule_problems(self._inputs.extensions, manifest, self._stream.objects)

    def _problems_of_unknown_kind(self, manifest: Json) -> list[Problem]:
        """Return what webhooks reject of an object without a schema, and its unknown kind if
        that is an error.
        """
        problems: list[Problem] = []
        if self._options.unknown_kinds == "error":
            kind = f"{manifest.get('apiVersion')}/{manifest.get('kind')}"
            text = f"{kind} is not checked: unknown kind"
            problems.append(Problem("unknown-kind", ("kind",), text, authority="ptcompile"))
        if self._options.webhooks and is_seen_by_webhooks(manifest):
            problems += validate(
                manifest, versions=self._inputs.versions, others=self._stream.objects
            )
        return [*problems, *self._rule_findings(manifest, problems)]

    def _structure_only_notes(self, manifest: Json) -> Problems:
        """Yield the note on a kind that is not checked by field rules, once per kind."""
        kind = kind_of(manifest)
        if kind not in self._noted_kinds:
            self._noted_kinds.add(kind)
            note = structure_only_note(kind, self._inputs.versions.kubernetes)
            if note is not None:
                yield note

    def _server_warnings(self, manifest: Json, findings: Sequence[Problem]) -> Iterable[Problem]:
        """Return the warnings that the API server sends and that are not among the findings."""
        if streams.is_ours(manifest) or not is_supported(manifest, self._inputs.definitions):
            return ()
        from ptcompile.apiserver.warnings import unreported_warnings

        return unreported_warnings(
            manifest, findings, self._inputs.versions, self._inputs.definitions
        )

    def _problems_inside(
        self, manifest: Json, unchecked: list[str], *, is_template: bool
    ) -> Problems:
        """Yield the problems of the objects that a controller creates from this one, with paths
        in this one.
        """
        for item in wrapped_objects(manifest):
            if item.moves:
                from ptcompile.simulator.launchers.command import starts_launcher

                if not starts_launcher(item.manifest):
                    continue

            problems = self.problems(item.manifest, unchecked, is_template=is_template)
            # the values of a step's parameters are known only when the step runs
            certain = without_verdicts_on_marks(problems, item.manifest, marked=bool(item.moves))
            for problem in _after_creation(certain, manifest):
                kept = problem if item.is_carried else problem._replace(fix=None)
                yield _at_outer_path(kept, item)

    def _problems_of_templates(self, manifest: Json) -> Problems:
        """Yield the problems of the pod templates of a kind that has rules of its operator, but
        none that look at pods.
        """
        record = record_of(manifest)
        if not record.rules or POD_RULES[0] in record.rules:
            return

        templates = [
            (template.path, as_mapping(template.template))
            for template in record.templates(manifest)
        ]
        has_devices = [_has_accelerators(template) for _, template in templates]
        for (path, template), uses_fabric in zip(templates, has_devices, strict=True):
            # pods without devices pass the fabric's settings on
            if uses_fabric or not any(has_devices):
                rules = ANY_POD_RULES
            else:
                rules = ANY_POD_RULES - _FABRIC_RULES

            pod = pod_of_template(manifest, template)
            if pod is not None:
                problems = run(pod, versions=self._inputs.versions, stream=self._stream, only=rules)
                yield from (
                    _at_outer_path(problem, WrappedObject(path, pod)) for problem in problems
                )

    def _problems_in_texts(self, manifest: Json) -> Problems:
        """Yield the problems of manifests inside the texts of an object."""
        for path, content in manifest_texts(manifest):
            for problem in self._problems_in_text(content):
                yield problem._replace(path=path, field=None, fix=None, on_key=False, span=None)

    def _problems_in_text(self, content: str) -> Problems:
        """Yield the problems of manifests inside a string; ignore template placeholders."""
        objects = [*streams.objects_of(streams.read(content, None))]
        inputs = self._inputs
        # a pod applies the manifests in a text later, when the objects of the stream exist
        related = [*self._stream.objects] if self._stream.has_context else None
        stream = Stream(
            objects,
            inputs.versions,
            related=related,
            frameworks=inputs.frameworks,
            pools=inputs.pools,
        )
        inner_linter = ObjectLinter(inputs, self._options, stream)
        for manifest in objects:
            if not is_supported(manifest, inputs.definitions):
                continue
            for problem in inner_linter._own_problems(manifest) or ():
                if is_about_written_text(problem, manifest):
                    text = f"in {streams.resource_name(manifest)}: {problem.message}"
                    yield problem._replace(text=text)


def _after_creation(problems: Iterable[Problem], outer: Json) -> Problems:
    """Yield the problems of an object that a controller creates from `outer`: a rejection does not
    happen at the apply, but when the controller creates the object.

    If the API server knows the parts of `outer`, what it rejects of them is reported for `outer`
    itself.
    """
    is_checked = is_supported(outer)
    for problem in problems:
        is_of_server = (
            problem.authority in ("kube-apiserver", "ptcompile")
            and problem.name not in _ADMISSION_RULES
        )
        if problem.stage != "apply":
            yield problem
        elif not (is_checked and is_of_server):
            yield problem._replace(stage="pod")


def _has_accelerators(template: Json) -> bool:
    containers = nested_maps(template, "spec", "containers")
    return any(
        count_accelerators(nested_map(container, "resources", "limits")) for container in containers
    )


def _at_outer_path(problem: Problem, item: WrappedObject) -> Problem:
    """Return a problem of an inner object as one of the outer object."""

    def outer(path: Path) -> Path:
        part, place = item.move(path)
        return (*place, *path[len(part) :])

    # a part that comes from another place of the file is named by its path alone
    name = None if item.moves else f"{field_path(item.path)}.{problem.field}"
    edits = problem.fix.edits if problem.fix is not None else ()
    fix = problem.fix and problem.fix._replace(
        edits=tuple(edit._replace(path=outer(edit.path)) for edit in edits)
    )

    return problem._replace(path=outer(problem.path), field=problem.field and name, fix=fix)
