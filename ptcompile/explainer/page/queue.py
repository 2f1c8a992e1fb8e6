"""The part of the page about a job's queue: whether it is admitted, its quotas as bars, and the
domains of its pods.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ptcompile._internal.spelling import pluralize
from ptcompile.apiserver.evaluations import OutOfEvaluationsError
from ptcompile.graph.svg_elements import escape
from ptcompile.kinds.admission import AdmissionRequest, AdmittedPodSet, JobAdmission, QuotaShare
from ptcompile.kubernetes.index import with_existing
from ptcompile.kubernetes.quantity import Quantity
from ptcompile.kubernetes.unstructured import Json, object_name
from ptcompile.operators.table import modeled_queue_system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.spec.cluster_profile import ClusterProfile

_WIDTH = 1000
"""Width of a bar's view box; the page stretches it."""
_HEIGHT = 16
_MIN_WIDTH = 4
"""Width of the smallest part, so that it can be seen."""
_MAX_SHOWN = 64
"""Number of quotas of a job, and of domains of a pod set, that are shown."""
_PARTS = {
    "nominal": "quota of the queue",
    "borrowable": "lent by its cohort",
    "used": "taken by others",
    "job": "this job",
    "over": "too much",
}
"""The parts of a bar by their classes, as the key explains them."""


def admissions(manifests: Sequence[Json], profile: ClusterProfile) -> tuple[JobAdmission, ...]:
    """Return what the queues in a profile's objects answer about the jobs; nothing for jobs in
    other queues.
    """
    objects = profile.spec.objects
    known = {object_name(item) for item in objects if item.get("kind") == "ClusterQueue"}
    system = modeled_queue_system()[0] if known else None
    if system is None or system.admit is None or system.named_by is None:
        return ()

    named_by = system.named_by
    jobs = [manifest for manifest in manifests if named_by(manifest)]
    everything = with_existing(manifests, objects)
    try:
        request = AdmissionRequest(
            jobs=jobs,
            objects=everything,
            versions=profile.versions(),
            is_complete=False,
            frameworks=tuple(profile.spec.queue_frameworks),
        )
        answers = system.admit(request)
    except OutOfEvaluationsError:
        # the queue takes too long for a page; `admit` reports that
        return ()

    return tuple(
        answer for answer in answers if answer is not None and answer.cluster_queue in known
    )


def queue_lines(answers: Sequence[JobAdmission]) -> Iterator[str]:
    """Yield the section of a target's jobs in their queues, or nothing without any."""
    if not answers:
        return

    yield '<div class="queue">'
    yield "<h3>Queue</h3>"
    yield (
        '<p class="basis">By the queues of the profile alone: what else runs in the cluster is '
        "not known.</p>"
    )
    for answer in answers:
        head, *lines = answer._replace(pod_sets=()).lines()
        yield f'<p class="outcome {answer.outcome}">{escape(head)}</p>'
        yield from (f"<p>{escape(line.strip())}</p>" for line in lines)
        if answer.outcome == "never" and not answer.is_certain:
            yield (
                "<p>It is certain only if the profile has all nodes and all queues of the "
                "cohort.</p>"
            )
        yield from _quotas_html(answer)
        for pod_set in answer.pod_sets:
            yield from _domains_html(pod_set)

    yield "</div>"


def _quotas_html(answer: JobAdmission) -> Iterator[str]:
    if not answer.quotas:
        return

    shown = answer.quotas[:_MAX_SHOWN]
    parts = {part for quota in shown for part, _, _ in bar_parts(quota)}
    yield (
        '<ul class="quotas" '
        f'aria-label="{escape(f"Quotas of {answer.cluster_queue} for {answer.name}")}">'
    )
    for quota in shown:
        yield f"<li><b>{escape(quota.resource)}</b> <span>from {escape(quota.flavor)}</span>"
        yield _bar_svg(quota)
        yield f"<span>{escape(describe_quota(quota, is_admitted=answer.outcome == 'admitted'))}</span></li>"

    yield "</ul>"
    yield from _omission_note(len(answer.quotas), "quotas")
    names = (f'<li class="{part}">{name}</li>' for part, name in _PARTS.items() if part in parts)
    yield f'<ul class="key" aria-label="Parts of the bars">{"".join(names)}</ul>'


def describe_quota(quota: QuotaShare, *, is_admitted: bool) -> str:
    """Return a quota and what a job takes of it in words."""
    parts = [
        f"{'takes' if is_admitted else 'asks for'} {quota.requested}",
        f"the quota is {quota.nominal}",
    ]
    if quota.borrowable:
        parts.append(f"the cohort lends up to {quota.borrowable}")
    if quota.in_use:
        parts.append(f"others have taken {quota.in_use}")
    over = quota.in_use + quota.requested - quota.nominal - quota.borrowable
    if over.nano > 0:
        parts.append(f"{Quantity(over.nano, quota.requested.format)} is too much")

    return "; ".join(parts)


def bar_parts(quota: QuotaShare) -> list[tuple[str, int, int]]:
    """Return class, left edge and width of each part of a bar, backgrounds first."""
    nominal = quota.nominal.nano
    capacity = nominal + quota.borrowable.nano
    used = quota.in_use.nano
    end = used + quota.requested.nano
    spans = {
        "nominal": (0, nominal),
        "borrowable": (nominal, capacity),
        "used": (0, used),
        "job": (used, min(end, max(used, capacity))),
        "over": (max(used, capacity), end),
    }
    longest = max(capacity, end, 1)
    edges = (
        (part, low * _WIDTH // longest, high * _WIDTH // longest)
        for part, (low, high) in spans.items()
        if low < high
    )

    return [(part, low, max(high - low, _MIN_WIDTH)) for part, low, high in edges]


def _bar_svg(quota: QuotaShare) -> str:
    """Return a bar: the quota, and within it what is taken. The text next to it says the same."""
    rects = []
    for part, left, width in bar_parts(quota):
        inset = 0 if part in ("nominal", "borrowable") else 4
        size = f'width="{width}" height="{_HEIGHT - 2 * inset}"'
        rects.append(f'<rect class="{part}" x="{left}" y="{inset}" {size}/>')
    label = escape(f"{quota.resource} from {quota.flavor}, as a bar")
    box = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none"'
    return f'<svg class="bar" role="img" aria-label="{label}" {box}>{"".join(rects)}</svg>'


def _domains_html(pod_set: AdmittedPodSet) -> Iterator[str]:
    """Yield the topology domains of a pod set with the number of pods in each."""
    if not pod_set.domains:
        return
    title = f"{pod_set.name}: {pluralize(pod_set.count, 'pod')} by {' / '.join(pod_set.levels)}"
    yield f"<h4>{escape(title)}</h4>"
    yield f'<ul class="domains" aria-label="{escape(f"Topology domains of {pod_set.name}")}">'
    for values, count in pod_set.domains[:_MAX_SHOWN]:
        pods = pluralize(count, "pod")
        yield f"<li><b>{escape(' / '.join(values))}</b> <span>{pods}</span></li>"
    yield "</ul>"
    yield from _omission_note(len(pod_set.domains), "domains")


def _omission_note(total: int, items: str) -> Iterator[str]:
    if total > _MAX_SHOWN:
        yield f"<p>{_MAX_SHOWN} of {total} {items}</p>"
