"""The table of operators: every reference in it leads somewhere, and a kind that is unknown has an empty record."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ptcompile.operators import all as operators
from ptcompile.operators.record import Kind, Operator, resolve


def _references() -> Iterator[tuple[str, str, str]]:
    """Folder, field and reference of every text of the form `module:name`."""
    for one in operators.OPERATORS:
        for record in (one, *one.kinds):
            for field, value in vars(record).items():
                if isinstance(value, str) and ":" in value:
                    yield one.folder, field, value


@pytest.mark.parametrize(("folder", "field", "reference"), [*_references()])
def test_a_reference_resolves(folder: str, field: str, reference: str) -> None:
    assert resolve(folder, reference) is not None, field


def test_a_record_says_only_what_its_class_documents() -> None:
    for one in operators.OPERATORS:
        assert vars(one).keys() <= Operator.__annotations__.keys(), one.folder
        for kind in one.kinds:
            assert vars(kind).keys() <= Kind.__annotations__.keys(), kind.key


def test_fields_that_a_record_leaves_out_have_their_defaults() -> None:
    job = operators.record(("batch/v1", "Job"))
    assert (job.shared, job.several, job.schema, job.key) == (True, False, "", ("batch/v1", "Job"))
    assert operators.record(("example.com/v1", "Train")) == operators.record(("", ""))
    assert operators.record(("example.com/v1", "Train")).namespaced


def test_what_a_profile_calls_queue_systems_and_gang_schedulers() -> None:
    """`gangScheduler: scheduler-plugins` is found by its word, whatever its folder is called."""
    assert {name: one.folder for name, one in operators.BY_QUEUE_SYSTEM.items()} == {
        "kueue": "kueue",
        "volcano": "volcano",
        "kai": "kai",
    }
    assert {name: one.folder for name, one in operators.BY_GANG_SCHEDULER.items()} == {
        "kai": "kai",
        "scheduler-plugins": "scheduler_plugins",
        "volcano": "volcano",
    }
