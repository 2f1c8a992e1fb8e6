"""The checks of Jobs: partial admission, and completions that follow the parallelism.

Source: Kueue 0.19, pkg/controller/jobs/job/job_webhook.go.
"""

from __future__ import annotations

from ptcompile.diagnostics import Problems
from ptcompile.kubernetes.goflags import atoi, parse_bool
from ptcompile.kubernetes.unstructured import Json, nested_int, nested_map
from ptcompile.operators.kueue.queues import MIN_PARALLELISM, PREFIX, is_elastic
from ptcompile.operators.kueue.webhooks.labels import annotations_of, rejection
from ptcompile.operators.kueue.webhooks.pod_sets import pod_sets_of, pods_of_job
from ptcompile.operators.queues.queue_systems import KUEUE_TOPOLOGY

EQUAL_COMPLETIONS = f"{PREFIX}job-completions-equal-parallelism"
_ANNOTATIONS = ("metadata", "annotations")


def check_job(job: Json) -> Problems:
    """Yield what the webhook rejects of a Job at its creation, apart from labels and topology."""
    yield from check_min_parallelism(job)
    yield from check_equal_completions(job)
    yield from check_elastic_topology(job)


def check_min_parallelism(job: Json) -> Problems:
    """Check the number of pods with which a Job may start if its queue has no room for all."""
    text = annotations_of(job).get(MIN_PARALLELISM)
    if text is None:
        return

    path = (*_ANNOTATIONS, MIN_PARALLELISM)
    min_parallelism = atoi(text)
    pods = pods_of_job(nested_map(job, "spec"))
    help = f"write 1 to {pods - 1}" if pods > 1 else "remove it: the Job has a single pod"
    if min_parallelism is None:
        yield rejection(path, f'Invalid value: "{text}": must be a whole number', help)
    # Go converts it to 32 bits without an error
    elif min_parallelism <= 0 or (min_parallelism + 2**31) % 2**32 - 2**31 >= pods:
        why = f"Invalid value: {min_parallelism}: should be between 0 and {pods - 1}"
        yield rejection(path, why, help)
    if is_elastic(job):
        yield rejection(
            path,
            f'Invalid value: "{text}": partial admission and elastic job cannot be used together',
            "remove one of the two annotations",
            on_key=True,
        )


def check_equal_completions(job: Json) -> Problems:
    """Check that completions which follow the parallelism equal it, in an Indexed Job."""
    text = annotations_of(job).get(EQUAL_COMPLETIONS)
    spec = nested_map(job, "spec")
    if text is None:
        return

    path = (*_ANNOTATIONS, EQUAL_COMPLETIONS)
    is_on = parse_bool(text)
    if is_on is None:
        yield rejection(path, f'Invalid value: "{text}": must be a boolean value', 'write "true"')
    if not is_on:
        return

    if (spec.get("completionMode") or "NonIndexed") == "NonIndexed":
        why = f'Invalid value: "{text}": should not be enabled for NonIndexed jobs'
        yield rejection(path, why, "set completionMode: Indexed, or remove it")
    parallelism = nested_int(spec, "parallelism", default=1)
    if nested_int(spec, "completions", default=1) != parallelism:
        written = "null" if spec.get("completions") is None else spec.get("completions")
        why = f"should be equal to parallelism when {EQUAL_COMPLETIONS} annotation is true"
        yield rejection(
            ("spec", "completions"),
            f"Invalid value: {written}: {why}",
            f"set it to {parallelism}, or the annotation to false",
        )


def check_elastic_topology(job: Json) -> Problems:
    """Check that an elastic Job requests no level of a topology: its pods come and go."""
    if not is_elastic(job):
        return

    for pod_set in pod_sets_of(job):
        for strictness in ("required", "preferred"):
            name = KUEUE_TOPOLOGY[strictness]
            if name in pod_set.annotations:
                yield rejection(
                    (*pod_set.annotations_path, name),
                    f"Forbidden: {strictness} topology is not supported with elastic jobs",
                    f"remove it, or use {KUEUE_TOPOLOGY['unconstrained']}",
                    name="refused-topology-request",
                    on_key=True,
                )


def follows_parallelism(job: Json) -> bool:
    """Return whether completions follow the parallelism."""
    return parse_bool(annotations_of(job).get(EQUAL_COMPLETIONS, "false")) is True
