"""Kueue's webhooks on arbitrary data: they end, never raise, and never change their input.

Source: CONTRIBUTING.md#laws 7.
"""

from __future__ import annotations

import json

import pytest

from ptcompile.kinds.model import KindContext
from ptcompile.kubernetes.requests import Update
from ptcompile.kubernetes.unstructured import kind_of
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators.kueue.webhooks.creation import check_created
from ptcompile.operators.kueue.webhooks.kinds import KINDS
from ptcompile.operators.kueue.webhooks.updates import check_update
from tests.operators.kueue.webhooks.making import (
    CONSTRAINTS,
    GROUP,
    JOBS,
    REQUIRED,
    SERVING,
    SIZE,
    SLICE,
    Json,
    K,
    app_wrapper,
    labelled,
    with_annotations,
)
from tests.operators.kueue.webhooks.test_creation import DEFAULT
from tests.operators.kueue.webhooks.test_train_jobs import runtime, train_job
from tests.operators.test_pods_totality import GARBAGE
from tests.places import places, put

LABELS = {f"{K}queue-name": "q", f"{K}priority-class": "p", f"{K}max-exec-time-seconds": "60"}
NOTES = {
    f"{K}admission-gated-by": "a.b/c",
    f"{K}job-min-parallelism": "1",
    f"{K}pod-group-total-count": "1",
}
TOPOLOGY = {
    REQUIRED: "rack",
    SLICE: "rack",
    SIZE: "1",
    GROUP: "g",
    CONSTRAINTS: '[{"topology": "a", "size": 1}]',
}
WHOLE: list[Json] = [
    *(labelled(manifest, LABELS, NOTES) for manifest in (*JOBS, *SERVING)),
    train_job({f"{K}podset-slice-size": "1"}),
    with_annotations(labelled(JOBS[1], LABELS, NOTES), ("spec", "template"), TOPOLOGY),
    app_wrapper(
        {"template": JOBS[1], "podSets": [{"path": "template.spec.template", "replicas": 1}]}
    ),
]


@pytest.mark.parametrize("manifest", WHOLE, ids=lambda manifest: manifest["kind"])
def test_the_webhooks_survive_garbage_at_every_place(manifest: Json) -> None:
    request = KindContext(Versions(), (DEFAULT, runtime({REQUIRED: "rack"})))
    for path in places(manifest):
        for value in GARBAGE:
            broken = put(manifest, path, value)
            if kind_of(broken) not in KINDS:
                continue
            before = json.dumps(broken)
            list(check_created(broken, request))
            for old, new in ((manifest, broken), (broken, manifest)):
                check_update(Update(old, new, Versions(), (tuple(map(str, path)),)))
            assert json.dumps(broken) == before
