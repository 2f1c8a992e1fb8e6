"""`generateName`: supported if no address or other object contains the job's name, and an error otherwise."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import ptcompile
from ptcompile.compiler.build import build
from ptcompile.compiler.frontend.lowering import lower
from ptcompile.compiler.frontend.reader import decode_spec
from ptcompile.compiler.reader import load_profile
from ptcompile.ir.job import Context
from ptcompile.kubernetes.names import is_dns_label
from ptcompile.operators.targets import target_named
from ptcompile.source import streams
from tests.conftest import ABLE, GOOD, Case, pair_name, thinned

HEAD = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {generateName: sft-}\nspec:\n  image: i:1\n"
ONE = HEAD + "  script: t.py\n"
TWO = ONE + "  nodes: 2\n"

NAMED = ONE.replace("generateName: sft-", "name: sft")

FREE: list[tuple[str, str]] = [
    (ONE, "pod"), (ONE, "job"), (ONE, "jobset"), (ONE, "volcano"), (TWO, "pytorchjob"), (TWO, "volcano"),
    (ONE + "  restartPolicy: OnFailure\n", "trainjob"),
    (ONE + "  elastic: {nnodes: '1:2', nprocPerNode: 1}\n", "pytorchjob"),
]  # fmt: skip


@pytest.mark.parametrize(("spec", "target"), FREE)
def test_generate_name_is_the_only_metadata(spec: str, target: str) -> None:
    made = ptcompile.compile(spec, target=target).unwrap()
    assert made[-1]["metadata"] == {"generateName": "sft-"}
    assert len(made) == 1
    assert ptcompile.lint(ptcompile.compile(spec, target=target).yaml()).ok


CARRIED: list[tuple[str, str, str]] = [
    (TWO, "job", "Service metadata.name"),
    (TWO, "jobset", "JobSet spec.replicatedJobs"),
    (TWO, "trainjob", "TrainingRuntime metadata.name"),
    (TWO + "  elastic: {rdzvBackend: c10d, nprocPerNode: 1}\n", "pytorchjob", "command"),
]


@pytest.mark.parametrize(("spec", "target", "carrier"), CARRIED)
def test_generate_name_is_an_error_if_the_name_is_used_elsewhere(
    spec: str, target: str, carrier: str
) -> None:
    result = ptcompile.compile(spec, target=target)
    (diagnostic,) = [finding for finding in result.diagnostics if finding.severity == "error"]
    assert (diagnostic.name, diagnostic.path) == (
        "unsupported-by-target",
        ("metadata", "generateName"),
    )
    assert carrier in diagnostic.message
    assert diagnostic.span is not None
    assert diagnostic.span.line == 3
    assert "xxxxx" not in diagnostic.message
    assert result.manifests == ()


def test_a_rendezvous_in_a_shared_store_needs_a_unique_name() -> None:
    etcd = "  elastic: {rdzvBackend: etcd-v2, rdzvEndpoint: 'e:2379', nprocPerNode: 1}\n"
    assert not ptcompile.compile(TWO + etcd, target="volcano").ok


@pytest.mark.parametrize("beginning", ["SFT-", "-a", "a_b-"])
def test_an_invalid_generate_name_is_reported_at_its_path(beginning: str) -> None:
    assert not is_dns_label(f"{beginning}abcde")
    result = ptcompile.compile(ONE.replace("sft-", beginning))
    assert [diagnostic.path for diagnostic in result.diagnostics] == [("metadata", "generateName")]
    assert "xxxxx" not in result.diagnostics[0].message


@pytest.mark.parametrize(
    ("metadata", "name", "path"),
    [
        ("{}", "spec-missing-field", ("metadata", "name")),
        ("{name: a, generateName: b-}", "spec-conflict", ("metadata", "generateName")),
        ("{name: null}", "spec-wrong-type", ("metadata", "name")),
    ],
)
def test_a_job_needs_either_name_or_generate_name(metadata: str, name: str, path: Any) -> None:
    result = ptcompile.compile(ONE.replace("{generateName: sft-}", metadata))
    assert [(diagnostic.name, diagnostic.path) for diagnostic in result.diagnostics] == [
        (name, path)
    ]


def test_the_option_name_replaces_generate_name() -> None:
    service, job = ptcompile.compile(TWO, target="job", name="run-7").unwrap()
    assert (service["metadata"], job["metadata"]) == ({"name": "run-7"}, {"name": "run-7"})


def test_generate_name_is_explained_and_simulated() -> None:
    explanation = ptcompile.explain(TWO, target="pytorchjob")
    (cause,) = explanation.at("metadata.generateName")
    assert [line.path for line in cause.inputs] == [("metadata", "generateName")]
    assert ptcompile.simulate(TWO, target="pytorchjob").pods


@pytest.mark.parametrize(("target", "ok"), [("trainjob", True), ("job", False), ("jobset", False)])
def test_only_a_trainjob_has_a_runtime(target: str, ok: bool) -> None:
    spec = HEAD.replace("generateName: sft-", "name: a") + "  runtimeRef: {name: r}\n  args: [x]\n"
    messages = [
        diagnostic.message for diagnostic in ptcompile.compile(spec, target=target).diagnostics
    ]
    assert ("spec.runtimeRef: only a TrainJob runs with a Trainer runtime" not in messages) is ok


def patched(
    patches: str, target: str = "job", body: str = "  script: t.py\n  nodes: 2\n"
) -> ptcompile.Result:
    head = "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: j}\nspec:\n  image: i:1\n"
    return ptcompile.compile(f"{head}{body}  {patches}\n", target=target, lint=False)


def test_a_patch_may_change_an_object_beside_the_job() -> None:
    service, job = patched("manifest: {job/Service: {spec: {ports: [{port: 29500}]}}}").unwrap()
    assert (service["spec"]["ports"], job["kind"]) == ([{"port": 29500}], "Job")
    (job,) = patched("manifest: {job/Service: null, job: {spec: {suspend: true}}}").unwrap()
    assert job["kind"] == "Job"
    assert job["spec"]["suspend"] is True
    assert (
        patched("manifest: {job/Service: {}, job: null}").manifests
        == patched("masterPort: 23456").manifests
    )


@pytest.mark.parametrize(
    ("patches", "names"),
    [
        ("manifest: {job/Service: {spec: {ports: [{port: 29500}]}}}", []),
        ("manifest: {job/Service: null}", []),
        ("manifest: {job/Service: {metadata: {labels: {a: b}}}}", ["not-carried-over"]),
        ("manifest: {jbo/Service: {spec: {}}}", ["unknown-target"]),
    ],
)
def test_objects_of_another_target_cannot_be_patched(patches: str, names: list[str]) -> None:
    assert [diagnostic.name for diagnostic in patched(patches, "jobset").diagnostics] == names


def test_a_service_of_another_name_names_the_hosts() -> None:
    service, job = patched("names: {service: hosts}").unwrap()
    assert (service["metadata"]["name"], service["spec"]["selector"]) == (
        "hosts",
        {"batch.kubernetes.io/job-name": "j"},
    )
    pod = job["spec"]["template"]["spec"]
    assert pod["subdomain"] == "hosts"
    assert "--master-addr=j-0.hosts" in pod["containers"][0]["command"]


def test_containers_of_roles_have_their_names() -> None:
    body = "  script: t.py\n  master: {}\n  worker: {replicas: 2, workingDir: /w}\n"
    names = "names: {container: c, workerContainer: w}"
    for target in ("volcano", "jobset"):
        spec = patched(names, target, body).unwrap()[-1]["spec"]
        templates = [task["template"] for task in spec.get("tasks") or spec["replicatedJobs"]]
        pods = [template["spec"].get("template", template)["spec"] for template in templates]
        assert [pod["containers"][0]["name"] for pod in pods] == ["c", "w"]
    reported = patched("names: {workerContainer: w}", "pytorchjob", body).diagnostics
    assert ("done-differently", ("spec", "names", "workerContainer")) in [
        (finding.name, finding.path) for finding in reported
    ]


@pytest.mark.parametrize(
    ("patch", "name", "message", "help"),
    [
        ("{voclano: {spec: {a: 1}}}", "unknown-target", "spec.manifest.voclano: unknown target 'voclano'",
         "did you mean volcano?"),
        ("{frobnicate: {}}", "unknown-target", "spec.manifest.frobnicate: unknown target 'frobnicate'",
         "use one of pod, job, pytorchjob, volcano, trainjob, jobset"),
        ("{pod: {spec: {a: 1, b: {c: 1}, d: {}}}}", "not-carried-over",
         "spec.manifest.pod: the target job ignores what this sets for pod: spec.a, spec.b.c, spec.d",
         "set it in spec.manifest.job too, or compile for pod"),
    ],
)  # fmt: skip
def test_patches_of_other_targets_are_reported(
    patch: str, name: str, message: str, help: str
) -> None:
    (diagnostic,) = ptcompile.compile(f"{NAMED}  manifest: {patch}\n", target="job").diagnostics
    assert (diagnostic.name, diagnostic.message, diagnostic.help) == (name, message, help)
    assert diagnostic.severity == ("error" if name == "unknown-target" else "warning")
    assert diagnostic.span is not None


def test_patches_of_the_target_and_empty_ones_are_accepted() -> None:
    for patch in ("{pod: {}}", "{job: {spec: {suspend: true}}}", "{}"):
        assert (
            ptcompile.compile(f"{NAMED}  manifest: {patch}\n", target="job", lint=False).diagnostics
            == ()
        )
    (job,) = ptcompile.compile(
        f"{NAMED}  manifest: {{job: {{spec: {{suspend: true}}}}}}\n", target="job"
    ).unwrap()
    assert job["spec"]["suspend"] is True
    two = NAMED + "  nodes: 2\n  manifest: {job: {metadata: {labels: {a: b}}}}\n"
    *services, job = ptcompile.compile(two, target="job").unwrap()
    assert job["metadata"]["labels"] == {"a": "b"}, "the job is the last object"
    assert all("a" not in (service["metadata"].get("labels") or {}) for service in services)


GANG = {"kind": "ClusterProfile", "spec": {"gangScheduler": "volcano"}}


def _gang(target: str | None = None, cluster: Any = None, nodes: int = 4) -> ptcompile.Result:
    fields = f"nodes: {nodes}\n  resources: {{cpu: 2}}\n  minAvailable: 3\n"
    return ptcompile.compile(f"{NAMED}  {fields}", target=target, cluster=cluster)


def _errors(result: ptcompile.Result) -> list[ptcompile.Diagnostic]:
    return [finding for finding in result.diagnostics if finding.severity == "error"]


def test_a_volcano_job_has_the_size_of_its_gang() -> None:
    (job,) = _gang("volcano").unwrap()
    assert job["spec"]["minAvailable"] == 3


@pytest.mark.parametrize("cluster", [None, GANG])
def test_a_pytorchjob_has_the_size_of_its_gang(cluster: Any) -> None:
    (job,) = _gang("pytorchjob", cluster).unwrap()
    assert job["spec"]["runPolicy"]["schedulingPolicy"]["minAvailable"] == 3


def test_a_jobset_gets_a_pod_group_of_the_size_of_its_gang() -> None:
    group, *_ = _gang("jobset", GANG).unwrap()
    assert group["spec"]["minMember"] == 3
    assert group["spec"]["minResources"] == {"cpu": "6"}


def test_the_size_of_a_gang_has_no_effect_without_a_gang_scheduler() -> None:
    unused = [finding.path for finding in _gang("jobset").diagnostics]
    assert ("spec", "minAvailable") in unused


def test_a_trainjob_has_no_size_of_a_gang() -> None:
    (rejection,) = _errors(_gang("trainjob", GANG))
    assert rejection.path == ("spec", "minAvailable")


def test_a_gang_above_the_nodes_is_an_error() -> None:
    (error,) = _errors(_gang(nodes=2))
    assert error.path == ("spec", "minAvailable")
    assert error.help == "use 2 or less, or more nodes"


@pytest.mark.parametrize(
    "start", ["script: t.py", "command: [torchrun, t.py]\n  elastic: {}", "command: [python, t.py]"]
)
def test_names_task_makes_one_volcano_task_of_all_nodes(start: str) -> None:
    result = patched("names: {task: trainer}\n  env: {A: b}", "volcano", f"  {start}\n  nodes: 3\n")
    (job,) = result.unwrap()
    assert [(task["name"], task["replicas"]) for task in job["spec"]["tasks"]] == [("trainer", 3)]
    assert set(job["spec"]["plugins"]) == {"env", "svc"}
    (simulated,) = ptcompile.simulate(result.yaml()).jobs
    rendezvous = [simulated.pod(simulated.roles[0], index).rendezvous for index in range(3)]
    assert [pod.node_rank for pod in rendezvous] == ["0", "1", "2"]
    assert {pod.endpoint for pod in rendezvous} == {"j-trainer-0.j:23456"}
    assert patched(
        "names: {task: trainer}\n  env: {MASTER_PORT: '1'}", "volcano", f"  {start}\n  nodes: 3\n"
    ).ok


@pytest.mark.parametrize("case", thinned(GOOD, 3), ids=pair_name)
def test_shared_manifests_are_equal_and_leave_the_job_alone(case: Case) -> None:
    cluster, _ = load_profile(case.cluster)
    spec, _ = decode_spec(next(iter(streams.read(case.spec, None).documents)).data)
    assert cluster is not None
    assert spec is not None
    job = lower(spec, cluster)
    for target in (target for able, target in ABLE if able == case):
        context = Context(cluster, target_named(target))
        alone = build(spec, job, context)
        before = copy.deepcopy(alone.job)
        shared = build(spec, job, context, shared=True)
        assert (shared.job, shared.manifests) == (before, alone.manifests)
