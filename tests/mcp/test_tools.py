"""The tools of the MCP server: their results by their schemas, and the arguments that they reject."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import yaml

from ptcompile import schema
from ptcompile.api.inputs import NO_PROFILE
from ptcompile.api.options import LintOptions
from ptcompile.diagnostics.selection import selection
from ptcompile.mcp.inputs import Call, CallError, CallSettings
from ptcompile.mcp.tools import MOST_CHARACTERS, TOOLS, shorten_lists
from tests.mcp.calls import CLUSTER, MANIFEST, QUEUED, QUEUES, SPEC, call

CALLS: dict[str, list[dict[str, Any]]] = {
    "lint": [
        {"text": MANIFEST},
        {"text": SPEC, "cluster_text": CLUSTER},
        {"text": "kind: [\n"},
        {"text": ""},
    ],
    "fix": [{"text": MANIFEST}, {"text": MANIFEST, "unsafe": True}, {"text": "\0"}],
    "compile": [
        {"text": SPEC},
        {"text": SPEC, "target": "jobset"},
        {"text": SPEC.replace("2\n", "two\n")},
    ],
    "simulate": [{"text": SPEC}, {"text": MANIFEST}, {"text": "- 1"}],
    "admit": [
        {"text": QUEUED, "state_text": QUEUES},
        {"text": QUEUED},
        {"text": SPEC, "cluster_text": CLUSTER},
        {"text": "- 1"},
    ],
    "explain": [
        {"rule": "PTC302"},
        {"rule": "missing-shm"},
        {"field": "spec.elastic"},
        {"field": "Pod.spec.containers"},
        {"text": SPEC},
        {"text": SPEC, "at": "containers[pytorch].image", "target": "volcano"},
        {"text": "spec: {"},
    ],
    "diagnose": [
        {"logs": "[rank1]: KeyError: 'lr'"},
        {"logs": "RendezvousTimeoutError", "text": MANIFEST},
        {"logs": "RendezvousTimeoutError", "text": SPEC, "cluster_text": CLUSTER},
        {"logs": "all is well", "text": "- 1"},
    ],
    "diff": [{"old_text": SPEC, "new_text": MANIFEST}, {"old_text": SPEC, "new_text": "kind: Pod"}],
    "upgrade": [
        {"text": MANIFEST, "old_text": CLUSTER},
        {"text": SPEC, "old_text": CLUSTER, "cluster_text": CLUSTER},
        {"text": "a: [", "old_text": CLUSTER},
    ],
    "convert": [{"text": MANIFEST, "target": "trainjob"}, {"text": SPEC, "target": "pod"}],
    "import": [{"text": MANIFEST}, {"text": "kind: ConfigMap"}],
    "targets": [{}],
    "schema": [{"name": name} for name in ("spec", "report")],
}


WHOLE = {
    "lint": "report", "simulate": "world", "admit": "admission", "diagnose": "diagnosis", "diff": "diff",
    "upgrade": "upgrade",
}  # fmt: skip
"""The schema of a tool's result, which the tool `schema` returns."""
PARTS = {
    "fix": {"applied": "report", "remaining": "report"},
    "compile": {"report": "report"},
    "convert": {"report": "report"},
    "import": {"report": "report"},
    "explain": {"explanation": "explanation"},
    "targets": {},
    "schema": {},
}
"""The schemas of the parts of other results, by key; their other values are texts."""


@pytest.mark.parametrize("name", TOOLS)
def test_results_match_the_schemas_of_the_commands(name: str) -> None:
    arguments_validator = jsonschema.Draft202012Validator(TOOLS[name].input_schema())
    for arguments in CALLS[name]:
        arguments_validator.validate(arguments)
        result = call(name, arguments)
        parts = (
            [(result, WHOLE[name])]
            if name in WHOLE
            else [(result[key], of) for key, of in PARTS[name].items() if key in result]
        )
        for part, of in parts:
            jsonschema.Draft202012Validator(schema(of)).validate(part)


def test_lint_reports_a_finding_with_its_line() -> None:
    (finding,) = call("lint", {"text": MANIFEST})["diagnostics"]
    assert (finding["name"], finding["span"]["line"]) == ("restarts-for-ever", 8)


def test_admit_asks_the_queues_of_the_state() -> None:
    (job,) = call("admit", {"text": QUEUED, "state_text": QUEUES})["jobs"].values()
    assert (job["outcome"], job["podSets"][0]["flavors"]) == ("admitted", {"cpu": "epyc"})
    (job,) = call(
        "admit",
        {"text": QUEUED, "state_text": QUEUES.replace("nominalQuota: 4", "nominalQuota: 1")},
    )["jobs"].values()
    assert job["outcome"] == "never"
    assert call("admit", {"text": QUEUED})["byQuotaAlone"]


def test_fix_returns_the_text_and_what_remains() -> None:
    text = MANIFEST.replace("apiVersion: kubeflow.org/v1\n", "apiVersion: kubeflow.org/v1 # v1\n")
    text = text.replace("restartPolicy:", "restartpolicy:")
    fixed = call("fix", {"text": text})
    assert "restartPolicy: OnFailure" in fixed["text"]
    assert fixed["text"].startswith("apiVersion: kubeflow.org/v1 # v1\n")
    assert fixed["applied"]["diagnostics"]
    assert [finding["name"] for finding in fixed["remaining"]["diagnostics"]] == [
        "restarts-for-ever"
    ]


def test_compile_follows_the_target_and_the_profile() -> None:
    kinds = [
        item["kind"]
        for item in yaml.safe_load_all(call("compile", {"text": SPEC, "target": "jobset"})["yaml"])
    ]
    assert kinds == ["JobSet"]
    assert (
        "kueue.x-k8s.io/queue-name: research"
        in call("compile", {"text": SPEC, "cluster_text": CLUSTER})["yaml"]
    )


def test_compile_writes_nothing_after_an_error() -> None:
    result = call("compile", {"text": SPEC.replace("nodes: 2", "nodes: two")})
    assert result["yaml"] == ""
    assert [finding["code"] for finding in result["report"]["diagnostics"]] == ["PTC023"]


def test_explain_limits_the_values_to_a_path() -> None:
    causes = call("explain", {"text": SPEC, "at": "containers[pytorch].image"})["explanation"][
        "causes"
    ]
    assert len(causes) == 1
    with pytest.raises(CallError, match="no manifest has 'imge'; did you mean "):
        call("explain", {"text": SPEC, "at": "imge"})


def test_convert_moves_a_pytorchjob_to_a_trainjob() -> None:
    kinds = {
        item["kind"] for item in yaml.safe_load_all(call("convert", CALLS["convert"][0])["yaml"])
    }
    assert "TrainJob" in kinds


def test_import_writes_a_spec_that_compiles() -> None:
    imported = call("import", {"text": MANIFEST})
    cluster = {"cluster_text": imported["profile"]} if imported["profile"] else {}
    assert call("compile", {"text": imported["yaml"], **cluster})["yaml"]


def test_results_do_not_show_secrets() -> None:
    token = "hf_" + "A" * 34
    text = MANIFEST.replace("train.py]", f"train.py, --token={token}]")
    assert token not in str(call("simulate", {"text": text}))
    assert token not in str(call("diff", {"old_text": text, "new_text": MANIFEST}))


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("lint", {"text": 3}, "text must be a string, not int"),
        ("lint", {"text": {"kind": "Pod"}}, "text must be a string, not dict"),
        ("lint", {"text": None}, "text must be a string, not NoneType"),
        ("lint", {"txt": ""}, "no argument 'txt'; did you mean text?"),
        ("targets", {"x" * 1000: 1}, "no argument 'xxxxxxxxxx"),
        ("lint", {}, "give exactly one of text and path"),
        ("lint", {"text": "", "path": "a.yaml"}, "give exactly one of text and path"),
        ("lint", {"text": "", "cluster_text": "", "cluster_path": ""}, "give exactly one of cluster_text and"),
        ("diff", {"old_text": ""}, "give exactly one of new_text and new_path"),
        ("fix", {"text": "", "unsafe": "true"}, "unsafe must be true or false, not str"),
        ("compile", {"text": SPEC, "target": "nomad"}, "no target 'nomad'; it must be one of pod, job"),
        ("convert", {"text": MANIFEST}, "target is required"),
        ("schema", {"name": "../spec"}, "no name '../spec'; it must be one of spec, cluster"),
        ("explain", {"rule": "PTC302", "text": ""}, "give exactly one of rule, field, text and path"),
        ("explain", {"rule": "mising-shm"}, "no rule 'mising-shm'; did you mean missing-shm?"),
        ("explain", {"field": "spec.elastc"}, "did you mean spec.elastic?"),
        ("explain", {"field": "." * 100_000}, "no kind ''"),
    ],
)  # fmt: skip
def test_a_wrong_argument_is_named(name: str, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(CallError) as raised:
        call(name, arguments)
    assert message in str(raised.value)
    assert len(str(raised.value)) < 1000


def test_the_configuration_applies_to_a_file_by_its_name() -> None:
    def settings(name: str, _cluster: bytes | None) -> CallSettings:
        ignored = ["restarts-for-ever"] if name == "-" else []
        return CallSettings(LintOptions(selection=selection(None, ignored)), NO_PROFILE)

    report = TOOLS["lint"].run(Call({"text": MANIFEST}, [], settings))
    assert report["diagnostics"] == []


def test_a_long_result_is_cut_and_says_so() -> None:
    """64 nodes have 64 pods; the first of them show what the others see."""
    text = SPEC.replace("nodes: 2", "nodes: 64")
    whole = call("simulate", {"text": text})
    result = shorten_lists(whole)
    assert len(json.dumps(whole)) > 100_000
    assert len(json.dumps(result)) < MOST_CHARACTERS
    pods = result["pods"]
    assert 1 <= len(pods) < 64
    assert result["omitted"]["pods"] == 64 - len(pods)
    assert pods[0]["name"] == whole["pods"][0]["name"]
    assert shorten_lists(call("simulate", {"text": SPEC})) == call("simulate", {"text": SPEC})


def test_errors_are_not_cut_before_warnings() -> None:
    findings = [{"severity": "warning", "text": "x" * 1000}] * 60 + [
        {"severity": "error", "text": "y"}
    ]
    result = shorten_lists({"diagnostics": findings})
    assert result["diagnostics"][0]["severity"] == "error"
    assert result["omitted"] == {"diagnostics": 61 - len(result["diagnostics"])}
    assert result["help"] == "call again with whole: true for all of it"


def test_upgrade_tells_what_a_release_passes_over() -> None:
    old, new = (
        CLUSTER.replace("queueSystem: kueue, ", f"versions: {{kueue: '{v}'}}, ")
        for v in ("0.18", "0.19")
    )
    queued = MANIFEST.replace(
        "{name: llama}", "{name: llama, labels: {kueue.x-k8s.io/queue-name: team}}"
    )
    effects = call("upgrade", {"text": queued, "old_text": old, "cluster_text": new})["effects"]
    assert ("ignored", "PTC491") in {(row["effect"], row["code"]) for row in effects}
