"""A label or annotation of Kueue is misspelled.

PTC490 unknown-kueue-label: warning at run (differs), by kueue.
Needs: kueue labels/annotations

What: a label or annotation that begins with kueue.x-k8s.io/ is not one of Kueue's, but resembles
one. Those that resemble none are not reported, since a newer release may read them.

Why: Kueue and its webhooks ignore keys that they do not know. Without its queue a job bypasses the
quota; without its topology the pods land anywhere.

Example: job.yaml with

      metadata:
        name: train
        labels:
    -     kueue.x-k8s.io/queue_name: research  # <--
    +     kueue.x-k8s.io/queue-name: research

Fix: correct the key.

Source: Kueue 0.19, site/content/en/docs/reference/labels-and-annotations.md, and the constants in
pkg/controller and apis/kueue/v1beta2.
"""

from __future__ import annotations

from functools import cache

from ptcompile._internal.spelling import closest_match
from ptcompile.diagnostics import Edit, Fix, Path
from ptcompile.kubernetes.unstructured import Json, nested_map
from ptcompile.linter.key_places import keys_with_prefix
from ptcompile.linter.rule import Findings, Subject, found_at
from ptcompile.operators.kueue.queues import PREFIX, QUEUE
from ptcompile.operators.kueue.webhooks.pod_sets import pod_sets_of

_OTHER_WORDS = {"local-queue": "queue-name", "priority": "priority-class", "queue": "queue-name"}
"""Words for a key that do not resemble it."""


@cache
def _known_keys() -> tuple[str, ...]:
    """Return the known keys without the prefix, whether people or Kueue write them."""
    return tuple(key.removeprefix(PREFIX) for key in keys_with_prefix(PREFIX))


def check(subject: Subject) -> Findings:
    pod_sets = {
        pod_set.path: pod_set.template for pod_set in pod_sets_of(subject.manifest) if pod_set.path
    }
    templates = {template.path: template.data for template in subject.templates if template.path}
    for path, holder in {(): subject.manifest, **pod_sets, **templates}.items():
        yield from _check_holder(path, holder)


def _check_holder(base: Path, holder: Json) -> Findings:
    for part in ("labels", "annotations"):
        keys = nested_map(holder, "metadata", part)
        for key in keys:
            before, _, word = str(key).partition(PREFIX)
            if before or not word or word in _known_keys():
                continue

            near = (
                _OTHER_WORDS.get(word)
                or closest_match(word, _known_keys())
                or _longer_or_shorter(word)
            )
            if near is not None:
                path = (*base, "metadata", part, key)
                fix = Fix(f"rename it to {near}", (Edit("rename", path, PREFIX + near),))
                if PREFIX + near == QUEUE:
                    consequence = "so the job is in no queue"
                else:
                    consequence = "and ignores it"

                yield found_at(
                    path,
                    f"Kueue does not know this {part[:-1]}, {consequence}",
                    f"did you mean {PREFIX}{near}?",
                    fix if PREFIX + near not in keys else None,
                    on_key=True,
                )


def _longer_or_shorter(word: str) -> str | None:
    """Return the key that has one word more or less at its end, such as priority-class for
    priority-class-name.
    """
    shorter, _, _ = word.rpartition("-")
    if shorter in _known_keys():
        return shorter

    longer = [key for key in _known_keys() if key.rpartition("-")[0] == word]
    return longer[0] if len(longer) == 1 else None
