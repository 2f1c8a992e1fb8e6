"""Pods recorded from the operators' own code, compared with ours.

The comparison covers names, host names, env, ports, labels and init containers.
"""

from __future__ import annotations

from typing import Any

from ptcompile.kinds.pods import PodView
from ptcompile.operators.table import expand
from tests.operators.making import edge_pods
from tests.oracle import rows

AT_LEAST = 0.995
BY_POD_WEBHOOK = frozenset({"jobset.sigs.k8s.io/priority"})
"""Labels that a webhook of pods sets: the recordings have the controllers alone."""
_UID = "11111111-2222-3333-4444-555555555555"


def seen(pod: PodView, *, ordered: bool) -> dict[Any, Any]:
    out: dict[Any, Any] = {
        "hostname": pod.hostname,
        "subdomain": pod.subdomain,
        "labels": {key: value for key, value in pod.labels.items() if key not in BY_POD_WEBHOOK},
        "restartPolicy": pod.restart_policy,
    }
    for c in pod.containers:
        shown = c.to_dict()
        env = [tuple(sorted(e.items())) for e in shown["env"]]
        out[c.name] = (c.init, env if ordered else sorted(env))
        out[c.name, "ports"] = sorted(
            (p.get("name", ""), p["containerPort"]) for p in shown["ports"]
        )
    return out


def theirs(pod: dict[str, Any], *, ordered: bool) -> dict[Any, Any]:
    out: dict[Any, Any] = {
        "hostname": pod.get("hostname"),
        "subdomain": pod.get("subdomain"),
        "labels": pod.get("labels", {}),
        "restartPolicy": pod.get("restartPolicy") or "Always",
    }
    for c in pod["containers"]:
        env = [tuple(sorted(e.items())) for e in c["env"]]
        out[c["name"]] = (c["init"], env if ordered else sorted(env))
        out[c["name"], "ports"] = sorted(
            (p.get("name", ""), p["containerPort"]) for p in c["ports"]
        )
    return out


def check_recorded_pods(operator: str) -> None:
    wrong, total = [], 0
    ordered = operator != "volcano"  # Volcano runs its plugins in random order
    for row, manifest in rows(operator):
        if not row["accepted"] or not row.get("pods"):
            continue
        mine = {p.name: p for p in expand(manifest).pods}
        for pod in row["pods"]:
            total += 1
            own = mine.get(pod["name"])
            if own is None or seen(own, ordered=ordered) != theirs(pod, ordered=ordered):
                wrong.append((pod["name"], row.get("n"), row.get("base"), row.get("path")))
    assert total > 500
    assert len(wrong) <= (1 - AT_LEAST) * total, wrong[:5]


def check_numbers_of_pods(operator: str) -> None:
    for row, manifest in rows(operator):
        if row["accepted"] and row.get("pods") and "pods_total" in row:
            assert len(expand(manifest).pods) == row["pods_total"], row.get("n") or (
                row.get("base"),
                row.get("path"),
            )


def test_no_recorded_object_raises() -> None:
    for operator in ("pytorchjob", "volcano", "jobset", "trainjob"):
        for _, manifest in rows(operator):
            world = expand(manifest)
            for pod in edge_pods(world):
                assert all(c.to_dict() for c in pod.containers)
