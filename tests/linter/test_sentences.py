"""What a finding says of real mistakes: the cause that applies, at its line, and help that this pod can use.

Origin: public reports, and manifests that were written without a look at the rules.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import ptcompile

FOLDER = Path(__file__).parent / "sentences"


def reported(name: str, code: str) -> list[tuple[str, str, str]]:
    """Return the written line, the message and the help of each finding with this code."""
    text = (FOLDER / f"{name}.yaml").read_text()
    lines = text.splitlines()
    return [
        (lines[finding.span.line - 1].strip(), finding.message, finding.help or "")
        for finding in ptcompile.lint(text).diagnostics
        if finding.code == code and finding.span is not None
    ]


@pytest.mark.parametrize(
    ("name", "code", "line", "message", "help"),
    [
        ("later_variable", "PTC434", "value:", "it is set further down", "set MASTER_ADDR before"),
        (
            "jobset_without_names",
            "PTC404",
            "torchrun",
            "enableDNSHostnames is false",
            "set enableDNSHostnames to true",
        ),
        (
            "volcano_without_svc",
            "PTC404",
            "torchrun",
            "does not have the plugin svc",
            "add svc: [] to spec.plugins",
        ),
        (
            "claim_of_one_pod",
            "PTC314",
            "claimName",
            "all but the first never start",
            "ReadWriteMany",
        ),
        (
            "read_only_claim",
            "PTC379",
            "",
            "the volume at /ckpt is read-only",
            "the volume's persistentVolumeClaim",
        ),
        (
            "cluster_ip_subdomain",
            "PTC210",
            "kind:",
            "only a headless Service",
            "set clusterIP to None",
        ),
        (
            "queue_for_no_namespace",
            "PTC292",
            "queue-name",
            "has no namespaceSelector",
            "another queue",
        ),
        (
            "name_that_is_a_boolean",
            "PTC502",
            "name: n",
            "not boolean (false)",
            "put the value in quotes",
        ),
        ("number_in_env", "PTC502", "value: 8", "not integer (8)", "put the value in quotes"),
        (
            "stored_job",
            "PTC511",
            "selector:",
            "refuses it in a new one",
            "remove the selector and the labels",
        ),
        (
            "label_as_field",
            "PTC511",
            "fieldPath",
            "field label not supported",
            "did you mean metadata.labels['app']?",
        ),
        (
            "claims_of_a_runtime",
            "PTC142",
            "resourcesPerNode",
            "removes the claims",
            "remove resourcesPerNode",
        ),
        ("bucket_behind_istio", "PTC825", "metadata:", "the bucket is not mounted", 'to "false"'),
        (
            "nodes_from_world_size",
            "PTC406",
            "torchrun",
            "waits for 8 nodes",
            "8 is the number of processes, not of",
        ),
        (
            "processes_of_accelerate",
            "PTC104",
            "accelerate",
            "starts 2 processes",
            "write --num_processes=8: it counts",
        ),
    ],
)
def test_a_finding_has_its_cause_and_its_help(
    name: str, code: str, line: str, message: str, help: str
) -> None:
    [finding] = reported(name, code)
    assert line in finding[0]
    assert message in finding[1]
    assert help in finding[2]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("name_that_is_a_boolean", "PTC404"),
        ("number_in_env", "PTC415"),
        ("nothing_through_istio", "PTC825"),
        ("exported_pytorchjob", "PTC421"),
    ],
)
def test_a_consequence_is_not_reported_as_a_cause(name: str, code: str) -> None:
    assert reported(name, code) == []


def test_both_roles_have_a_finding() -> None:
    findings = reported("quota_of_two_roles", "PTC294")
    assert ["Master" in message for _, message, _ in findings] == [True, False]
    assert all("must specify limits.cpu for: pytorch" in message for _, message, _ in findings)


def test_a_field_of_the_pod_is_moved_there_from_two_levels_above() -> None:
    helps = {
        line.partition(":")[0]: help
        for line, _, help in reported("pod_fields_of_a_replica", "PTC501")
    }
    assert helps["nodeSelector"] == helps["runtimeClassName"] == "move it into template.spec"


def test_part_of_a_slice_is_certain_but_not_a_surplus() -> None:
    text = (FOLDER / "half_a_slice.yaml").read_text()
    severities = [
        [
            finding.severity
            for finding in ptcompile.lint(changed).diagnostics
            if finding.code == "PTC274"
        ]
        for changed in (text, text.replace("parallelism: 2", "parallelism: 6"))
    ]
    assert severities == [["error"], ["warning"]]
