"""Objects with some of them hidden give the same answers as objects without these."""

from __future__ import annotations

from typing import Any

from ptcompile.kubernetes.index import SERVICE, Objects

_LABELS = {"app": "a"}


def _service(name: str, namespace: str = "default") -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata,
        "spec": {"selector": _LABELS},
    }


def _pod(value: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {"containers": [{"env": [{"name": "A", "value": value}]}]},
    }


def _answers(objects: Objects) -> list[object]:
    lookups = [
        objects.of_kind(SERVICE),
        objects.of_kinds(frozenset({SERVICE, ("v1", "Pod")})),
        objects.by_name(SERVICE, "s"),
        objects.services_at("s.x"),
        objects.services_selecting(_LABELS),
    ]
    has_any = [objects.has_any(frozenset({kind})) for kind in (SERVICE, ("v1", "Pod"))]
    entries = [objects.writes({"name": "A", "value": value}) for value in ("1", "2")]
    return [len(objects), list(objects), *map(list, lookups), has_any, entries]


def test_no_answer_contains_hidden_objects() -> None:
    service = _service("s")
    hidden = [_service("s"), _pod("1")]
    visible = [_service("s", "other"), _service("t"), _pod("2")]
    objects = Objects([service], Objects([*hidden, *visible]), frozenset(map(id, hidden)))
    expected = Objects([service, *visible])
    assert _answers(objects) == _answers(expected)
    assert _answers(objects.in_namespace("default")) == _answers(expected.in_namespace("default"))


_PODS = frozenset({("v1", "Pod")})


def test_has_any_finds_kinds() -> None:
    assert [
        Objects([_service("s")], Objects(related)).has_any(_PODS) for related in ([], [_pod("1")])
    ] == [False, True]
    assert Objects([_pod("1")]).has_any(_PODS | {SERVICE})


def test_has_any_leaves_hidden_objects_out() -> None:
    hidden = _pod("1")
    assert not Objects([], Objects([hidden]), frozenset({id(hidden)})).has_any(_PODS)


def test_objects_of_several_kinds_keep_their_order() -> None:
    first, second, third = _pod("1"), _service("s"), _pod("2")
    objects = Objects([first, second], Objects([{"kind": "Other"}, third]))
    assert objects.of_kinds(frozenset({("v1", "Pod"), SERVICE})) == [first, second, third]
    assert objects.of_kinds(frozenset({("v1", "Node")})) == []


def test_hidden_objects_stay_hidden_in_changed_ones() -> None:
    hidden, left = _pod("1"), _pod("2")
    seen = Objects((), Objects([hidden, left]), frozenset({id(hidden)}))
    assert list(seen.with_change(lambda manifest: {**manifest, "kind": "Job"}, {})) == [
        {**left, "kind": "Job"}
    ]


def test_unaffected_objects_are_checked_once() -> None:
    calls: list[Any] = []

    def look(manifest: Any) -> Any:
        calls.append(manifest)
        return manifest

    objects = Objects([_pod("1")])
    assert objects.with_change(look, {}) is objects
    assert objects.with_change(look, {}) is objects
    assert len(calls) == 1


def test_services_select_pods_that_have_all_their_labels() -> None:
    def service(name: str, selector: dict[str, str] | None) -> dict[str, Any]:
        return {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": name},
            "spec": {"selector": selector},
        }

    selectors = {
        "exact": {"app": "a", "x": "y"},
        "some": {"x": "y"},
        "more": {"app": "a", "x": "y", "z": "1"},
    }
    others = {"other": {"app": "b"}, "none": {}, "null": None}
    objects = Objects(
        [service(name, selector) for name, selector in {**selectors, **others}.items()]
    )
    services = objects.services_selecting({"app": "a", "x": "y", "more": "1"})
    assert sorted({service["metadata"]["name"] for service in services}) == ["exact", "some"]
    assert sorted(
        {
            service["metadata"]["name"]
            for service in objects.services_selecting({"app": "a", "x": "y"})
        }
    ) == [
        "exact",
        "some",
    ]
    assert objects.services_selecting({}) == []
