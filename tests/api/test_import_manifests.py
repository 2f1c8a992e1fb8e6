"""Individual decisions of import."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml

import ptcompile
from tests.making import smallest, text

Json = dict[str, Any]


def job(kind: str = "Job", **pod: Any) -> Json:
    """Return a batch/v1 Job of one pod with these fields."""
    container = {
        "name": "trainer",
        "image": "img:1",
        "command": ["python", "train.py"],
        **pod.pop("container", {}),
    }
    spec = {"restartPolicy": "Never", "containers": [container], **pod}
    return {
        "apiVersion": "batch/v1",
        "kind": kind,
        "metadata": {"name": "j"},
        "spec": {"template": {"spec": spec}},
    }


def pytorchjob(**spec: Any) -> Json:
    template = {
        "spec": {
            "containers": [{"name": "pytorch", "image": "img:1", "command": ["python", "train.py"]}]
        }
    }
    specs = {
        "Master": {"replicas": 1, "template": template},
        "Worker": {"replicas": 2, "template": template},
    }
    return {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "p"},
        "spec": {"pytorchReplicaSpecs": specs, **spec},
    }


def words(source: Any, **options: Any) -> Json:
    imported = ptcompile.import_manifests(source, **options)
    assert imported.ok, imported.diagnostics
    spec: Json = imported.specs[0]["spec"]
    return spec


def test_a_request_without_a_limit_gets_no_limit() -> None:
    spec = words(
        job(container={"resources": {"requests": {"cpu": 4}, "limits": {"nvidia.com/gpu": 2}}})
    )
    assert spec["resources"] == {"gpu": 2, "requests": {"cpu": 4}}


def test_a_job_of_one_pod_keeps_its_name_and_its_retries() -> None:
    spec = words(job())
    assert spec["names"] == {"container": "trainer"}
    assert spec["runPolicy"] == {"onPodFailure": "RestartPod"}, "an absent backoffLimit is 6"
    assert "manifest" not in spec


def test_a_pytorchjob_without_a_backoff_limit_restarts_forever() -> None:
    spec = words(pytorchjob())
    assert (spec["nodes"], spec["restartPolicy"], spec["runPolicy"]) == (
        3,
        "OnFailure",
        {"cleanPodPolicy": "None", "backoffLimit": "Unlimited"},
    )


def test_pod_fields_without_a_spec_field_go_to_pod_template() -> None:
    spec = words(
        job(
            initContainers=[{"name": "init", "image": "i:1"}],
            dnsConfig={"options": [{"name": "ndots"}]},
        )
    )
    assert spec["podTemplate"]["spec"].keys() == {"initContainers", "dnsConfig"}


def test_object_fields_without_a_spec_field_go_to_manifest() -> None:
    manifest = pytorchjob(elasticPolicy=None)
    del manifest["spec"]["elasticPolicy"]
    manifest["spec"]["runPolicy"] = {"schedulingPolicy": {"scheduleTimeoutSeconds": 2}}
    spec = words(manifest)
    patch = {"spec": {"runPolicy": {"schedulingPolicy": {"scheduleTimeoutSeconds": 2}}}}
    assert spec["manifest"] == {"pytorchjob": patch}


def test_the_size_of_a_gang_is_a_field_and_moves_to_other_operators() -> None:
    manifest = pytorchjob(runPolicy={"cleanPodPolicy": "Running", "backoffLimit": 2})
    for replica in manifest["spec"]["pytorchReplicaSpecs"].values():
        replica["template"] = {
            "spec": {
                "containers": [{"name": "pytorch", "image": "i:1"}],
                "schedulerName": "volcano",
            }
        }
    manifest["spec"]["runPolicy"]["schedulingPolicy"] = {"minAvailable": 2}
    spec = words(manifest)
    assert spec["minAvailable"] == 2
    assert "minAvailable" not in str(spec.get("manifest"))
    moved = ptcompile.convert(manifest, target="volcano")
    assert [
        diagnostic.message for diagnostic in moved.diagnostics if diagnostic.severity == "error"
    ] == []
    assert moved.unwrap()[-1]["spec"]["minAvailable"] == 2
    back = ptcompile.convert(moved.yaml(), target="pytorchjob").unwrap()[-1]
    assert back["spec"]["runPolicy"]["schedulingPolicy"] == {"minAvailable": 2}


TORCHRUN = ["--nnodes=1", "--nproc-per-node=4", "--standalone"]
STARTS: list[tuple[list[str], Json]] = [
    (["torchrun", *TORCHRUN, "train.py", "--lr=1"], {"script": "train.py", "args": ["--lr=1"]}),
    (
        ["python", "-m", "torch.distributed.run", *TORCHRUN, "-m", "pkg.train"],
        {"module": "pkg.train"},
    ),
    (
        ["bash", "-ec", f"torchrun {' '.join(TORCHRUN)} train.py --out $HERE"],
        {"script": "train.py", "args": ["--out", "$(HERE)"]},
    ),
]


@pytest.mark.parametrize(("command", "expected"), STARTS)
def test_a_torchrun_command_becomes_spec_fields(command: list[str], expected: Json) -> None:
    spec = words(job(container={"command": command, "env": [{"name": "HERE", "value": "/x"}]}))
    assert {key: value for key, value in spec.items() if key in expected} == expected
    assert spec["elastic"]["nprocPerNode"] == 4
    assert "command" not in spec
    exact = words(
        job(container={"command": command, "env": [{"name": "HERE", "value": "/x"}]}), exact=True
    )
    assert exact["command"] == command


@pytest.mark.parametrize(
    "options",
    [
        '--nnodes=2 --nproc_per_node=8 --node_rank="$RANK" --master_addr="$MASTER_ADDR" --master_port="$MASTER_PORT"',
        "--nnodes 2 --nproc_per_node 8 --rdzv_backend c10d --rdzv_endpoint ${MASTER_ADDR}:$MASTER_PORT --rdzv_id=a",
    ],
)
def test_a_script_that_passes_the_operators_variables_to_torchrun_becomes_spec_fields(
    options: str,
) -> None:
    manifest = pytorchjob()
    replicas = manifest["spec"]["pytorchReplicaSpecs"]
    replicas["Worker"]["replicas"] = 1
    script = f"set -euo pipefail\nexec torchrun {options} \\\n  -m pkg.train --rank=$RANK\n"
    for replica in replicas.values():
        replica["template"] = {
            "spec": {"containers": [{"name": "pytorch", "image": "i:1", "command": ["bash", "-c"]}]}
        }
        replica["template"]["spec"]["containers"][0]["args"] = [script]
    imported = ptcompile.import_manifests(manifest)
    assert imported.diagnostics == ()
    (imported_spec,) = imported.found
    assert imported_spec.same_world
    assert not imported_spec.same_manifest
    assert imported_spec.differences == ()
    spec = imported_spec.document["spec"]
    assert (spec["module"], spec["args"], spec["nodes"]) == ("pkg.train", ["--rank=$(RANK)"], 2)
    assert spec["elastic"]["nprocPerNode"] == 8
    assert "manifest" not in spec
    assert imported_spec.comments["spec", "module"] == "was: torchrun ..."


def indexed_job(subdomain: str | None = "svc", nodes: int = 2, **pod: Any) -> Json:
    """Return an Indexed Job whose pods use this subdomain."""
    pods = {**({"subdomain": subdomain} if subdomain else {}), **pod}
    manifest = job(container={"command": pods.pop("command", ["python", "train.py"])}, **pods)
    manifest["spec"] |= {"completionMode": "Indexed", "completions": nodes, "parallelism": nodes}
    return manifest


def headless_service(name: str = "svc", **spec: Any) -> Json:
    fields = {
        "clusterIP": "None",
        "selector": {"job-name": "j"},
        "publishNotReadyAddresses": True,
        **spec,
    }
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": fields}


STATIC = [
    "torchrun",
    "--nnodes=2",
    "--node-rank=$(JOB_COMPLETION_INDEX)",
    "--master-port=29500",
    "train.py",
]


@pytest.mark.parametrize(
    ("service", "names", "patch"),
    [
        pytest.param(headless_service("j"), {}, None, id="as compile writes it"),
        pytest.param(
            headless_service("j", ports=[{"port": 29500}]),
            {},
            {"spec": {"ports": [{"port": 29500}]}},
            id="with ports",
        ),
        pytest.param(headless_service("svc"), {"service": "svc"}, None, id="another name"),
        pytest.param(
            headless_service("svc", publishNotReadyAddresses=None),
            {"service": "svc"},
            {"spec": {"publishNotReadyAddresses": None}},
            id="only ready pods",
        ),
        pytest.param(
            headless_service("svc", selector={"app": "x"}),
            {"service": "svc"},
            {"spec": {"selector": {"app": "x", "batch.kubernetes.io/job-name": None}}},
            id="another selector",
        ),
    ],
)
def test_a_hand_written_headless_service_comes_in_with_its_job(
    service: Json, names: Json, patch: Json | None
) -> None:
    name = service["metadata"]["name"]
    command = [*STATIC[:-1], f"--master-addr=j-0.{name}", STATIC[-1]]
    imported = ptcompile.import_manifests([service, indexed_job(name, command=command)])
    assert imported.diagnostics == ()
    (imported_spec,) = imported.found
    assert imported_spec.same_world
    assert imported_spec.differences == ()
    assert imported.kept == ()
    spec = imported_spec.document["spec"]
    assert (spec["script"], spec["names"]) == ("train.py", {"container": "trainer", **names})
    assert spec.get("manifest") == (patch and {"job/Service": patch})


@pytest.mark.parametrize(
    ("subdomain", "others"),
    [
        pytest.param(None, [], id="no names"),
        pytest.param("svc", [], id="a Service elsewhere"),
        pytest.param(None, [headless_service("j")], id="a Service that the pods do not use"),
        pytest.param(
            "svc",
            [headless_service(clusterIP="10.0.0.7", ports=[{"port": 80}])],
            id="an address of its own",
        ),
    ],
)
def test_a_job_without_a_headless_service_gets_none(
    subdomain: str | None, others: list[Json]
) -> None:
    imported = ptcompile.import_manifests([*others, indexed_job(subdomain)])
    assert imported.diagnostics == ()
    (spec,) = imported.found
    assert spec.same_manifest
    assert spec.document["spec"]["manifest"]["job/Service"] is None
    assert list(imported.kept) == others


def test_each_role_keeps_the_name_of_its_container() -> None:
    """Volcano's own example of its pytorch plugin."""

    def task(name: str, replicas: int, **fields: Any) -> Json:
        container = {"name": name, "image": "i:1", **fields}
        template = {"spec": {"restartPolicy": "OnFailure", "containers": [container]}}
        return {"name": name, "replicas": replicas, "template": template}

    tasks = [task("master", 1), task("worker", 2, workingDir="/home")]
    tasks[0]["policies"] = [{"event": "TaskCompleted", "action": "CompleteJob"}]
    plugins = {"pytorch": ["--master=master", "--worker=worker", "--port=23456"]}
    fields = {"minAvailable": 1, "schedulerName": "volcano", "plugins": plugins, "tasks": tasks}
    manifest = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": fields,
    }
    imported = ptcompile.import_manifests(manifest)
    assert imported.diagnostics == ()
    (imported_spec,) = imported.found
    assert imported_spec.same_manifest
    spec = imported_spec.document["spec"]
    assert (spec["names"], spec["minAvailable"]) == (
        {"masterContainer": "master", "workerContainer": "worker"},
        1,
    )
    for target in ("pytorchjob", "jobset"):
        assert ptcompile.convert(manifest, target=target).ok
    policy = ptcompile.convert(manifest, target="pytorchjob").unwrap()[-1]["spec"]["runPolicy"][
        "schedulingPolicy"
    ]
    assert policy == {"minAvailable": 1}


INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"


def test_what_has_no_effect_does_not_hinder_an_import() -> None:
    manifest = indexed_job("j", nodes=2)
    manifest["spec"]["template"]["metadata"] = {"name": "x", "namespace": "y", "labels": {"a": "b"}}
    env = [{"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"fieldPath": INDEX}}}]
    manifest["spec"]["template"]["spec"]["containers"][0]["env"] = env
    imported = ptcompile.import_manifests([headless_service("j"), manifest])
    assert imported.diagnostics == ()
    (imported_spec,) = imported.found
    assert imported_spec.same_world
    assert not imported_spec.same_manifest
    assert imported_spec.differences == ()
    spec = imported_spec.document["spec"]
    assert spec["podLabels"] == {"a": "b"}
    assert "podTemplate" not in spec
    assert "JOB_COMPLETION_INDEX" not in spec["env"]
    env[0] = {"name": "JOB_COMPLETION_INDEX", "value": "7"}
    assert not ptcompile.import_manifests([headless_service("j"), manifest]).ok


def replicated_job(name: str, pods: int, command: list[str]) -> Json:
    pod = {
        "restartPolicy": "Never",
        "containers": [{"name": name, "image": "i:1", "command": command}],
    }
    spec = {"parallelism": pods, "completions": pods, "backoffLimit": 0, "template": {"spec": pod}}
    return {"name": name, "replicas": 1, "template": {"spec": spec}}


@pytest.mark.parametrize("name", ["node", "trainer"])
def test_the_role_that_trains_need_not_be_the_first(name: str) -> None:
    command = [*STATIC[:-1], f"--master-addr=j-{name}-0-0.j", STATIC[-1]]
    jobs = [replicated_job("loader", 1, ["python", "load.py"]), replicated_job(name, 2, command)]
    spec = {"replicatedJobs": jobs}
    manifest = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "j"},
        "spec": spec,
    }
    (imported_spec,) = ptcompile.import_manifests(manifest).found
    assert imported_spec.same_world
    fields = imported_spec.document["spec"]
    assert (fields["script"], fields["nodes"], [*fields["roles"]]) == ("train.py", 2, ["loader"])


def test_nulls_that_leave_settings_to_torchrun_become_one_word() -> None:
    command = [*STATIC[:-1], "--nproc-per-node=2", "--master-addr=j-0.j", STATIC[-1]]
    spec = words([headless_service("j"), indexed_job("j", command=command)])
    assert spec["elastic"] == {"defaults": "torchrun", "nprocPerNode": 2, "rdzvBackend": "static"}
    assert "null" not in yaml.safe_dump(spec)
    kept = [*command[:-1], "--rdzv-conf=timeout=5", "train.py"]
    spec = words([headless_service("j"), indexed_job("j", command=kept)])
    assert spec["elastic"]["rdzvConfigs"] == {"timeout": "5"}


@pytest.mark.parametrize(
    "options", [[], ["--master_port=1234"], ["--nnodes=1", "--max_restarts=2"]]
)
def test_torchrun_in_one_pod_needs_no_standalone(options: list[str]) -> None:
    manifest = job(container={"command": ["torchrun", "--nproc_per_node=8", *options, "train.py"]})
    (imported_spec,) = ptcompile.import_manifests(manifest).found
    spec = imported_spec.document["spec"]
    assert imported_spec.same_world
    assert spec["script"] == "train.py"
    assert spec["elastic"]["rdzvBackend"] == "static"
    assert spec["masterPort"] == (1234 if "--master_port=1234" in options else 29500)
    compiled = ptcompile.compile(imported_spec.document).unwrap()[-1]
    assert "--standalone" not in str(compiled)


def test_ports_are_a_field() -> None:
    ports = [{"name": "metrics", "containerPort": 8080}]
    spec = words(job(container={"ports": ports}))
    assert spec["ports"] == ports
    assert "podTemplate" not in spec


def volcano_job(tasks: dict[str, list[str]], **spec: Any) -> Json:
    """Return a Volcano Job of these tasks with two pods each, without the pytorch plugin."""
    items = []
    for name, command in tasks.items():
        pod = {
            "restartPolicy": "OnFailure",
            "containers": [{"name": name, "image": "i:1", "command": command}],
        }
        items.append({"name": name, "replicas": 2, "template": {"spec": pod}})
    body = {
        "minAvailable": 2,
        "schedulerName": "volcano",
        "plugins": {"env": [], "svc": []},
        "tasks": items,
        **spec,
    }
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "j"},
        "spec": body,
    }


BY_INDEX = [
    "--nnodes=2",
    "--node-rank=$VC_TASK_INDEX",
    "--master-addr=j-trainer-0.j",
    "--master-port=29500",
    "train.py",
]


def test_a_volcano_job_without_the_pytorch_plugin_is_one_task() -> None:
    launch = ["sh", "-c", " ".join(["torchrun", *BY_INDEX])]
    imported = ptcompile.import_manifests(
        volcano_job({"trainer": launch, "loader": ["python", "load.py"]})
    )
    assert imported.diagnostics == ()
    (imported_spec,) = imported.found
    assert imported_spec.same_world
    spec = imported_spec.document["spec"]
    assert (spec["script"], spec["nodes"], spec["names"]["task"], [*spec["roles"]]) == (
        "train.py",
        2,
        "trainer",
        ["loader"],
    )


@pytest.mark.parametrize(
    "manifest",
    [
        pytest.param(
            volcano_job({"a": ["torchrun", "t.py"], "b": ["torchrun", "t.py"]}),
            id="two tasks that train",
        ),
        pytest.param(
            volcano_job({"a": ["tune", "t"]}, plugins={"tensorflow": []}), id="TensorFlow"
        ),
    ],
)
def test_other_volcano_jobs_without_the_pytorch_plugin_are_errors(manifest: Json) -> None:
    imported = ptcompile.import_manifests(manifest)
    assert [
        diagnostic.name for diagnostic in imported.diagnostics if diagnostic.severity == "error"
    ] == ["not-importable"]


KEPT = [
    ["bash", "-c", f"pip install x && torchrun {' '.join(TORCHRUN)} train.py"],
    ["bash", "-c", f"torchrun {' '.join(TORCHRUN)} train.py > log"],
    ["bash", "-c", f"torchrun {' '.join(TORCHRUN)} $UNKNOWN"],
    ["torchrun", *TORCHRUN, "--no-python", "train"],
    ["torchrun", *TORCHRUN, "--log-dir=/logs", "train.py"],
    ["python", "-m", "torch.distributed.launch", "--nproc_per_node=4", "train.py"],
    ["accelerate", "launch", "train.py"],
]


@pytest.mark.parametrize("command", KEPT)
def test_an_unrecognized_command_stays_a_command(command: list[str]) -> None:
    assert words(job(container={"command": command}))["command"] == command


def test_pods_that_train_separately_stay_separate() -> None:
    """torchrun without --nnodes on four pods is four one-node jobs, which `nodes` and `script` would join."""
    manifest = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "four"},
        "spec": {
            "replicatedJobs": [
                {"name": "workers", "template": job(container={"command": ["torchrun", "t.py"]})}
            ]
        },
    }
    replicated: dict[str, Any] = manifest["spec"]["replicatedJobs"][0]  # type: ignore[index]
    child = replicated["template"]
    replicated["template"] = {"spec": {**child["spec"], "parallelism": 4, "completions": 4}}
    spec = words(manifest)
    assert (spec["command"], spec["nodes"], spec["names"]["node"]) == (
        ["torchrun", "t.py"],
        4,
        "workers",
    )


REFUSED: list[tuple[Json, tuple[str, ...]]] = [
    ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}, ("kind",)),
    (
        {
            "apiVersion": "kubeflow.org/v2beta1",
            "kind": "MPIJob",
            "metadata": {"name": "m"},
            "spec": {},
        },
        ("kind",),
    ),
    (
        {**job(), "spec": {**job()["spec"], "parallelism": 1, "completions": 4}},
        ("spec", "completions"),
    ),
]


@pytest.mark.parametrize(("manifest", "path"), REFUSED)
@pytest.mark.parametrize("lossy", [True, False])
def test_an_object_that_no_spec_expresses_is_an_error_with_a_path(
    manifest: Json, path: tuple[str, ...], lossy: bool
) -> None:
    imported = ptcompile.import_manifests(manifest, lossy=lossy)
    assert not imported.ok
    assert not imported.specs
    assert [diagnostic.path for diagnostic in imported.diagnostics] == [path]


def test_findings_in_text_have_positions() -> None:
    diagnostics = ptcompile.import_manifests(
        "kind: ConfigMap\napiVersion: v1\nmetadata: {name: c}\n", filename="c.yaml"
    ).diagnostics
    assert [
        (diagnostic.filename, diagnostic.span and diagnostic.span.line)
        for diagnostic in diagnostics
    ] == [("c.yaml", 1)]


def test_other_objects_are_kept_but_emitted_services_are_not() -> None:
    made = ptcompile.compile(smallest("nodes: 2"), target="job").yaml()
    config = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
    imported = ptcompile.import_manifests(made + config)
    assert imported.found[0].same_manifest
    assert [one["kind"] for one in imported.kept] == ["ConfigMap"], "the Service is compile's own"


def test_an_object_that_the_server_rejects_is_an_error_and_is_ignored() -> None:
    made = ptcompile.compile(smallest("nodes: 2"), target="trainjob").manifests
    runtime, trainjob = made
    broken = {**runtime, "spec": {**runtime["spec"], "template": {"spec": 5}}}
    imported = ptcompile.import_manifests([broken, trainjob])
    assert not imported.ok
    assert [(diagnostic.document, diagnostic.path) for diagnostic in imported.diagnostics] == [
        (0, ("spec", "template", "spec"))
    ]
    assert imported.specs[0]["spec"]["runtimeRef"]["name"] == runtime["metadata"]["name"]
    assert "image" not in imported.specs[0]["spec"], "as without the runtime"


def test_a_list_and_several_documents_are_read() -> None:
    items = {"apiVersion": "v1", "kind": "List", "items": [job(), pytorchjob()]}
    assert [one.origin for one in ptcompile.import_manifests(items).found] == [
        "Job/j",
        "PyTorchJob/p",
    ]


ENDINGS = (
    "nodes: 2",
    "nodes: 2\nrunPolicy: {backoffLimit: 4}",
    "nodes: 2\nrunPolicy: {onPodFailure: FailJob}",
    "nodes: 3\nrunPolicy: {onPodFailure: FailJob}\nenv: {SEED: '1'}",
    "nodes: 2\nrestartPolicy: OnFailure",
    "nodes: 1\nrestartPolicy: OnFailure",
    "nodes: 2\nroles: {loader: {command: [load]}}",
    "elastic: {nnodes: '1:3', maxRestarts: 2}",
)


@pytest.mark.parametrize("target", ["job", "jobset", "pytorchjob", "trainjob", "volcano"])
def test_each_job_of_a_stream_is_imported_as_if_it_were_alone(target: str) -> None:
    """What two jobs have in common may be searched for once, but they may end differently."""
    bodies = [f"target: {target}\n{body}" for body in ENDINGS for _ in range(2)]
    specs = [smallest(body, name=f"train-{index}") for index, body in enumerate(bodies)]
    results = [ptcompile.compile(spec, lint=False) for spec in specs]
    streams = [list(result.manifests) for result in results if result.ok]
    whole = ptcompile.import_manifests([manifest for stream in streams for manifest in stream])
    assert len(whole.specs) == len(streams) > 8
    assert list(whole.specs) == [ptcompile.import_manifests(alone).specs[0] for alone in streams]


@pytest.mark.parametrize("name", ["job", "node", "train", "img", "a", "2", "train-first"])
def test_a_name_may_be_any_word(name: str) -> None:
    """A name is replaced where it is a word, but the manifest has the same words for other reasons."""
    stream = [{**job(), "metadata": {"name": each}} for each in ("first", name, "last")]
    whole = ptcompile.import_manifests(stream).yaml()
    assert whole == "---\n".join(ptcompile.import_manifests(alone).yaml() for alone in stream)


@pytest.mark.parametrize("change", [{"clusterIP": "None"}, {"ports": [{"port": 80}]}, None])
def test_jobs_that_differ_only_in_their_names_may_have_different_services(
    change: Json | None,
) -> None:
    streams = []
    for name in ("first", "second"):
        compiled = ptcompile.compile(smallest("target: job\nnodes: 2", name=name), lint=False)
        streams.append(list(compiled.manifests))

    service, second = streams[1]
    changed = {**service, "spec": {**service["spec"], **(change or {})}}
    streams[1] = [second] if change is None else [changed, second]
    whole = ptcompile.import_manifests([manifest for stream in streams for manifest in stream])
    assert list(whole.specs) == [ptcompile.import_manifests(alone).specs[0] for alone in streams]


def test_a_spec_gains_no_toleration_without_a_profile() -> None:
    with_gpus = job(container={"resources": {"limits": {"nvidia.com/gpu": 1}}})
    imported = ptcompile.import_manifests(with_gpus)
    assert imported.profile is None
    assert imported.specs[0]["spec"]["podTemplate"] == {"spec": {"tolerations": None}}
    assert "# no tolerations in the manifest" in imported.yaml()
    (manifest,) = ptcompile.compile(imported.yaml()).manifests
    assert "tolerations" not in manifest["spec"]["template"]["spec"]


def test_a_profile_is_returned_if_the_built_in_one_would_add_fields() -> None:
    with_gpus = job(container={"resources": {"limits": {"nvidia.com/gpu": 1}}})
    with_gpus["spec"]["template"]["spec"]["tolerations"] = [{"key": "team", "operator": "Exists"}]
    assert ptcompile.import_manifests(job()).profile is None
    profile = ptcompile.import_manifests(with_gpus).profile
    assert profile is not None
    assert profile["spec"] == {"gpu": {"tolerations": []}}


def test_jobs_that_differ_in_more_than_their_names_fit_the_built_in_profile_each_for_itself() -> (
    None
):
    gpus = {"limits": {"nvidia.com/gpu": 1}}
    tolerations = [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    manifests = [
        job(container={"resources": gpus}),
        job(container={"resources": gpus}, tolerations=tolerations),
        job(container={"resources": gpus}),
    ]
    for name, manifest in zip("abc", manifests, strict=True):
        manifest["metadata"]["name"] = name

    imported = ptcompile.import_manifests(manifests)
    assert [spec["metadata"]["name"] for spec in imported.specs] == ["a", "b", "c"]
    templates = [spec["spec"].get("podTemplate") for spec in imported.specs]
    assert templates == [{"spec": {"tolerations": None}}, None, {"spec": {"tolerations": None}}]


def test_ambiguous_strings_survive_the_round_trip() -> None:
    values = [
        "n",
        "on",
        "1e3",
        "0x1F",
        "12:30",
        "~",
        "",
        " x",
        "a: b",
        "#c",
        "é",
        "line\nbreak",
        "tab\there",
        "a, b",
        "{x}",
    ]
    imported = ptcompile.import_manifests(job(container={"args": values}))
    assert yaml.safe_load(imported.yaml())["spec"]["args"] == values
    again = ptcompile.compile(imported.yaml(), cluster=imported.profile).manifests[-1]
    assert again["spec"]["template"]["spec"]["containers"][0]["args"] == values


def test_notes_contain_no_secret() -> None:
    manifest = job(
        container={
            "env": [
                {"name": "API_TOKEN", "value": "hunter2"},
                {"name": "API_TOKEN", "value": "hunter3"},
            ]
        }
    )
    imported = ptcompile.import_manifests(manifest, lossy=True)
    all_findings = json.dumps([diagnostic.to_dict() for diagnostic in imported.diagnostics])
    assert "hunter" not in all_findings
    assert all(
        "hunter" not in text
        for spec in imported.found
        for text in (*spec.differences, *spec.comments.values())
    )


def test_a_command_item_that_is_not_a_string_is_an_error() -> None:
    imported = ptcompile.import_manifests(
        job(container={"command": ["torchrun", {"medium": "Memory"}, "train.py"]})
    )
    assert not imported.ok
    assert any("command[1]" in diagnostic.message for diagnostic in imported.diagnostics)


def test_a_trainjob_of_an_unknown_runtime_keeps_only_its_own_fields() -> None:
    manifest = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "t"},
        "spec": {
            "runtimeRef": {"name": "my-runtime"},
            "trainer": {"numNodes": 2, "numProcPerNode": 4},
        },
    }
    spec = words(manifest)
    assert spec == {
        "runtimeRef": {"name": "my-runtime"},
        "nodes": 2,
        "elastic": {"nprocPerNode": 4},
    }


def test_malformed_input_is_a_finding_and_never_an_exception() -> None:
    job_of_nothing = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"template": []}}
    values: list[Any] = [None, [], "", 1, {"spec": None}, job_of_nothing]
    for value in values:
        source = json.dumps(value)
        assert not ptcompile.import_manifests(source).ok
    assert not ptcompile.import_manifests(text("image: i")).ok, "a spec is no manifest"


@pytest.mark.parametrize("image", ["<image>", "${IMAGE}"])
@pytest.mark.parametrize("policy", ["Always", "IfNotPresent"])
def test_a_placeholder_image_is_kept_with_a_warning(image: str, policy: str) -> None:
    imported = ptcompile.import_manifests(
        job(container={"image": image, "imagePullPolicy": policy})
    )
    assert imported.found[0].same_manifest
    assert imported.specs[0]["spec"]["image"] == image
    assert imported.specs[0]["spec"]["imagePullPolicy"] == policy
    (warning,) = imported.diagnostics
    assert (warning.severity, warning.path[-1]) == ("warning", "image")
    assert not ptcompile.compile(imported.yaml()).ok


def test_a_digit_that_int_rejects_does_not_raise() -> None:
    """`'²'.isdigit()` is true, but int() rejects it."""
    command = ["torchrun", "--nproc-per-node=²", "--max-restarts=²", "train.py"]
    assert ptcompile.import_manifests(job(container={"command": command})).diagnostics is not None
