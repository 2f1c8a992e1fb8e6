"""Who has to let a job in before there are pods; what a live cluster leaves to chance."""

from __future__ import annotations

from collections.abc import Iterator

from ptcompile.kubernetes.untyped import at, kind_of, text
from ptcompile.operators.common.queue_marks import KAI_QUEUE, KUEUE_QUEUE, MULTI_KUEUE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def notes(manifest: Json) -> Iterator[str]:
    """One sentence each, for a manifest of any kind."""
    labels, spec = at(manifest, "metadata", "labels"), at(manifest, "spec")
    queue = text(labels.get(KUEUE_QUEUE))
    if queue:
        yield f"waits until Kueue admits it from the queue {queue!r}"
    if text(labels.get(KAI_QUEUE)):
        yield f"waits until KAI places it from the queue {text(labels.get(KAI_QUEUE))!r}"
    if MULTI_KUEUE in (spec.get("managedBy"), at(spec, "runPolicy").get("managedBy")):
        yield "no pods here: MultiKueue creates a copy of the job in another cluster, which has the pods"
    plugins = at(manifest, "spec", "plugins")
    if kind_of(manifest) == ("batch.volcano.sh/v1alpha1", "Job") and len(plugins) > 1:
        yield "Volcano runs its plugins in random order: their variables may be in a different order in each pod"
