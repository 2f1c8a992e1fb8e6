"""The checks of Kueue's labels and annotations on an object itself.

Sources: Kueue 0.19, pkg/controller/jobframework/validation.go, and pkg/util/webhook for
admission-gated-by.
"""

from __future__ import annotations

from functools import partial

from ptcompile.apiserver.structure.violations import type_name
from ptcompile.diagnostics import Edit, Fix, Path, Problem, Problems, problem_at
from ptcompile.diagnostics.field_errors import FieldErrors
from ptcompile.kubernetes import names
from ptcompile.kubernetes.goflags import atoi
from ptcompile.kubernetes.unstructured import Json, kind_of, nested_string_map, nested_value
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue import gates
from ptcompile.operators.kueue.queues import ELASTIC, PREFIX, QUEUE, is_elastic
from ptcompile.operators.kueue.webhooks.kinds import QueuedKind

PRIORITY = f"{PREFIX}priority-class"
SECONDS = f"{PREFIX}max-exec-time-seconds"
PREBUILT = f"{PREFIX}prebuilt-workload-name"
"""A label, or an annotation, which wins."""
_LABELS = ("metadata", "labels")
_ANNOTATIONS = ("metadata", "annotations")


def rejection(
    path: Path,
    why: str,
    help: str,
    *,
    name: str = "refused-queue-label",
    field: str | None = None,
    on_key: bool = False,
) -> Problem:
    """Return a rejection by Kueue's webhooks. `field` is the path in their message if the
    finding is elsewhere.
    """
    return problem_at(name, path, why, help, authority="kueue", on_key=on_key, field=field)


refusal = partial(rejection, name="webhook-refusal")
"""Return a rejection by Kueue's webhooks that is not about a queue's label."""


def labels_of(manifest: Json) -> dict[str, str]:
    """Return the labels of an object."""
    return nested_string_map(manifest, "metadata", "labels")


def annotations_of(manifest: Json) -> dict[str, str]:
    """Return the annotations of an object."""
    return nested_string_map(manifest, "metadata", "annotations")


def prebuilt_of(manifest: Json) -> tuple[Path, str]:
    """Return the path and the name of the Workload that the object adopts, which is empty if it
    names none.
    """
    return annotation_or_label(manifest, PREBUILT)


def annotation_or_label(manifest: Json, key: str) -> tuple[Path, str]:
    """Return the path and the value of an annotation, or else of the label with the same key;
    the value is empty if neither is set.
    """
    annotation = annotations_of(manifest).get(key)
    if annotation:
        return (*_ANNOTATIONS, key), annotation
    return (*_LABELS, key), labels_of(manifest).get(key, "")


def check_labels(manifest: Json, kind: QueuedKind, versions: Versions) -> Problems:
    """Yield what the webhooks reject of an object's labels and annotations at its creation."""
    yield from check_queue_name(manifest)
    if not kind.serving:
        yield from check_prebuilt(manifest, kind)
        yield from _check_seconds(manifest)
    yield from check_elastic(manifest, kind)
    yield from check_gates(manifest, versions)


def check_suspend(manifest: Json, kind: QueuedKind) -> Problems:
    """Check the type of `suspend`, which the mutating webhook decodes before any schema is
    applied.
    """
    value = nested_value(manifest, *kind.suspend, "suspend") if kind.suspend else None
    if not (kind.serving or value is None or isinstance(value, bool)):
        yield refusal(
            (*kind.suspend, "suspend"),
            f"Invalid value: json: cannot unmarshal {type_name(value)} into Go value of type bool",
            "write true or false",
        )


def check_queue_name(manifest: Json) -> Problems:
    """Check the name of the queue; a label without a value is rejected too."""
    yield from check_name(
        (*_LABELS, QUEUE), labels_of(manifest).get(QUEUE), "write the name of the LocalQueue"
    )


def check_name(path: Path, name: str | None, help: str) -> Problems:
    """Check that a label or an annotation, if set, can be the name of an object."""
    if name is not None and (reason := names.why_not_dns_subdomain(name)):
        yield rejection(path, f'Invalid value: "{name}": {reason}', help)


def check_prebuilt(manifest: Json, kind: QueuedKind) -> Problems:
    """Check the name of a Workload that exists already, and that the kind can adopt one."""
    path, name = prebuilt_of(manifest)
    if name or PREBUILT in labels_of(manifest):
        yield from check_name(path, name, "write the name of the Workload")
    if name and not kind.prebuilt:
        yield rejection(
            path,
            f'Forbidden: Is not supported for "{_group_version_kind(manifest)}"',
            "remove it",
            on_key=True,
        )


def _check_seconds(manifest: Json) -> Problems:
    text = labels_of(manifest).get(SECONDS)
    if text is None:
        return

    seconds = atoi(text)
    path = (*_LABELS, SECONDS)
    if seconds is None:
        yield rejection(
            path, f'Invalid value: "{text}": must be a whole number', "write seconds, such as 3600"
        )
    elif seconds <= 0:
        yield rejection(
            path,
            f"Invalid value: {seconds}: should be greater than 0",
            "write seconds, such as 3600",
        )


def check_elastic(manifest: Json, kind: QueuedKind) -> Problems:
    """Check that Kueue can resize the kind."""
    if is_elastic(manifest) and not kind.elastic:
        why = f'Forbidden: elastic job is not supported for "{_group_version_kind(manifest)}"'
        help = "remove it: Kueue resizes only Jobs and Ray's kinds"
        path = (*_ANNOTATIONS, ELASTIC)
        fix = Fix("remove it", (Edit("remove", path),))
        yield rejection(path, why, help, name="unsupported-by-kueue", on_key=True)._replace(fix=fix)


def _group_version_kind(manifest: Json) -> str:
    """Return what Go prints of a GroupVersionKind: `batch/v1, Kind=Job`."""
    api_version, name = kind_of(manifest)
    group_version = api_version if "/" in api_version else f"/{api_version}"
    return f"{group_version}, Kind={name}"


def has_gates(versions: Versions) -> bool:
    """Return whether the release checks gates: the feature gate AdmissionGatedBy is on since
    0.19.
    """
    return versions.kueue >= (0, 19)


def check_gates(manifest: Json, versions: Versions) -> Problems:
    """Check the gates of a new object."""
    problems = FieldErrors()
    if has_gates(versions):
        gates.check_gates(manifest, problems)
    yield from (
        problem._replace(name="refused-queue-label", authority="kueue") for problem in problems
    )
