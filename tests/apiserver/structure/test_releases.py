"""Fields and values that only some releases have, and what the messages about them say."""

from __future__ import annotations

import pytest

from ptcompile.apiserver import validate
from ptcompile.apiserver.structure.scalars import check_micro_time
from ptcompile.apiserver.structure.violations import Release, has_until, wrong_version


@pytest.mark.parametrize(
    ("version", "declared", "expected"),
    [((1, 8), True, True), ((1, 9), True, True), ((1, 10), True, False), ((1, 8), False, False)],
)
def test_has_until_includes_the_last_release(
    version: tuple[int, int], declared: bool, expected: bool
) -> None:
    assert has_until(Release("training_operator", version, declared), "1.9") is expected


@pytest.mark.parametrize(
    ("since", "until", "in_crd", "message", "help"),
    [
        (
            "1.35",
            None,
            False,
            "unknown field in Kubernetes 1.34: added in 1.35",
            "or use Kubernetes 1.35 or newer",
        ),
        (None, "1.30", False, "unknown field in Kubernetes 1.34: removed after 1.30", "remove it"),
        ("1.35", None, True, "made with Kubernetes 1.34: added in 1.35", "remove it"),
        (None, "1.30", True, "made with Kubernetes 1.34: removed after 1.30", "remove it"),
    ],
)
def test_a_field_of_another_release_names_the_release(
    since: str | None, until: str | None, in_crd: bool, message: str, help: str
) -> None:
    violation = wrong_version("x", since, until, "1.34", in_crd=in_crd)
    assert violation.text.endswith(message)
    assert str(violation.help).endswith(help)
    assert violation.on_key


@pytest.mark.parametrize(
    ("value", "valid"),
    [
        ("2026-01-31T12:00:00.000000Z", True),
        ("2026-01-31T12:00:00.123456+01:00", True),
        ("2026-01-31T12:00:00Z", False),
        ("2026-01-31T12:00:00.12345Z", False),
        ("2026-01-31T12:00:00.1234567Z", False),
        ("2026-02-30T12:00:00.000000Z", False),
        ("x", False),
        (3, False),
    ],
)
def test_a_micro_time_has_six_digits(value: object, valid: bool) -> None:
    """apimachinery 1.36, meta/v1/micro_time.go: RFC3339Micro."""
    assert (check_micro_time(value) is None) is valid


@pytest.mark.parametrize(
    ("field", "help"),
    [
        ("mountPath", "move it into volumeMounts: [{name: ..., mountPath: ...}]"),
        ("persistentVolumeclaim", 'did you mean "persistentVolumeClaim"?'),
    ],
)
def test_fields_of_mounts_in_a_volume_have_a_help(field: str, help: str) -> None:
    spec = {"containers": [{"name": "c", "image": "i"}], "volumes": [{"name": "v", field: "x"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    assert help in [problem.help for problem in validate(pod) if problem.name == "unknown-field"]


def test_mount_fields_elsewhere_are_only_unknown() -> None:
    spec = {"containers": [{"name": "c", "image": "i"}], "mountPath": "x"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    assert not [problem for problem in validate(pod) if "volumeMounts: [{name" in str(problem.help)]
