"""Operators and kinds: every overridden method imports and accepts any data, and unknown kinds have no behavior."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ptcompile.kinds.model import Kind, KindContext, Operator, Rejections, is_overridden
from ptcompile.kinds.pods import Expansion
from ptcompile.kinds.templates import Template
from ptcompile.kubernetes.requests import ApiServer, Update
from ptcompile.kubernetes.versions import Versions
from ptcompile.operators import table as operators
from tests.small_cases import check_each

ARGUMENTS: dict[Callable[..., Any], tuple[Any, ...]] = {
    Kind.templates: ({},),
    Kind.pods: ({}, KindContext()),
    Kind.crowded: ({}, Versions()),
    Kind.too_wide: ({},),
    Kind.gang: ({}, ()),
    Kind.recreates: ({}, Template((), {})),
    Kind.lost_pod: ({}, "node", ()),
    Kind.restarts: ({}, "node", (), 1),
    Kind.retries: ({},),
    Kind.on_failure: ({}, KindContext()),
    Kind.lacks_rendezvous: ({}, {}),
    Kind.gang_scheduler: ({}, ()),
    Kind.start_orders: ({},),
    Kind.runtime: ({}, (), Versions()),
    Kind.read: ({}, ()),
    Kind.following: (),
    Kind.in_current_fields: ({}, (1, 0)),
    Kind.written_path: ((), (1, 0)),
    Kind.default: ({},),
    Kind.rejections: (),
    Operator.release_in: (Versions(),),
    Operator.target: (),
    Operator.defaults: (),
    Operator.queues: (),
    Operator.gangs: (),
    Operator.platform_objects: ((), Versions()),
    Operator.validate_foreign: ({"apiVersion": "v1", "kind": "Pod"}, KindContext()),
    Operator.default_foreign: ({"apiVersion": "v1", "kind": "Pod"}, [], Versions()),
    Operator.validate_foreign_update: (Update({}, {}, Versions(), ()),),
}
"""The smallest arguments of each method."""

REJECTION_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "crd_rules": ({},),
    "validate": ({}, KindContext()),
    "controller_errors": ({}, KindContext()),
    "check_children": ({}, ApiServer(), []),
    "validate_update": (Update({}, {}, Versions(), ()),),
    "unseen_changes": ({},),
}
"""The smallest arguments of each function of `Rejections`."""


def _overridden() -> Iterator[tuple[Kind | Operator, Callable[..., Any]]]:
    for operator in operators.OPERATORS:
        records: tuple[Kind | Operator, ...] = (operator, *operator.kinds)
        for record in records:
            base = Operator if record is operator else Kind
            yield from (
                (record, method)
                for method in ARGUMENTS
                if method in vars(base).values() and is_overridden(record, method)
            )


def check_method(overridden: tuple[Kind | Operator, Callable[..., Any]]) -> None:
    record, method = overridden
    answer = getattr(record, method.__name__)(*ARGUMENTS[method])
    if isinstance(answer, Iterator):
        list(answer)


def test_overridden_methods_import_and_accept_any_data() -> None:
    check_each(_overridden(), check_method, name=lambda pair: f"{type(pair[0])} {pair[1].__name__}")


def check_rejections(kind: Kind) -> None:
    rejections = kind.rejections()
    for name, arguments in REJECTION_ARGUMENTS.items():
        list(getattr(rejections, name)(*arguments) or ())
    assert all(isinstance(why, str) for _, why in rejections.immutable_fields)


def test_rejections_accept_any_data() -> None:
    assert {*REJECTION_ARGUMENTS, "immutable_fields"} == {*Rejections._fields}
    kinds = [kind for operator in operators.OPERATORS for kind in operator.kinds]
    check_each(kinds, check_rejections, name=lambda kind: "/".join(kind.key))


def test_every_method_of_the_base_classes_is_called() -> None:
    methods = {
        value for base in (Kind, Operator) for value in vars(base).values() if callable(value)
    }
    assert methods == ARGUMENTS.keys()


def test_classes_only_override_documented_attributes() -> None:
    for operator in operators.OPERATORS:
        for record, base in ((operator, Operator), *((kind, Kind) for kind in operator.kinds)):
            attributes = {name for name in dir(type(record)) if not name.startswith("__")}
            assert attributes <= {*dir(base), *base.__annotations__}, operator.folder


def test_unknown_kind_has_no_behavior() -> None:
    job, unknown = (
        operators.kind_named(("batch/v1", "Job")),
        operators.kind_named(("example.com/v1", "Train")),
    )
    assert job.rendezvous.across_objects
    assert not job.rendezvous.roles
    assert job.schema == ""
    assert job.key == ("batch/v1", "Job")
    assert type(unknown) is Kind
    assert unknown.namespaced
    assert not unknown.rejects
    for method, arguments in ARGUMENTS.items():
        if method in vars(Kind).values():
            answer = getattr(unknown, method.__name__)(*arguments)
            assert not (list(answer) if isinstance(answer, Iterator) else answer) or answer in (
                Expansion(),
                Rejections(),
            ), method


def test_queue_systems_and_gang_schedulers_are_found_by_their_profile_names() -> None:
    """`gangScheduler: scheduler-plugins` is looked up by this value, not by the name of a package."""
    assert {name: one.folder for name, one in operators.BY_QUEUE_SYSTEM.items()} == {
        "kueue": "kueue",
        "volcano": "volcano",
        "kai": "kai",
    }
    assert {name: one.folder for name, one in operators.BY_GANG_SCHEDULER.items()} == {
        "kai": "kai",
        "kubernetes": "kube_scheduler",
        "scheduler-plugins": "scheduler_plugins",
        "volcano": "volcano",
    }
