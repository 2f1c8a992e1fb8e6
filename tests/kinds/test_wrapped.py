"""Jobs and pods inside other objects are linted, and findings have the path in the outer object."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.kinds.wrapped import manifest_texts, pod_of_template, unwrapped
from ptcompile.simulator.world import simulate

CONTAINERS = "containers: [{name: main, image: 'a:1', command: [python train.py], resources: {limits: {memory: 512m}}}]"
POD_SPEC = "spec: {restartPolicy: %s, " + CONTAINERS + "}"


def errors_by_name(text: str) -> dict[str, str]:
    """Return the names and paths of the findings."""
    return {
        d.name: ".".join(map(str, d.path))
        for d in ptcompile.lint(text).diagnostics
        if d.severity == "error"
    }


JOB = f"""\
apiVersion: batch/v1
kind: Job
metadata: {{name: train}}
spec: {{template: {{{POD_SPEC % "Never"}}}}}
"""


def test_the_job_of_a_cron_job_is_judged() -> None:
    text = f"""\
apiVersion: batch/v1
kind: CronJob
metadata: {{name: nightly}}
spec:
  schedule: "0 3 * * *"
  jobTemplate: {{spec: {{template: {{{POD_SPEC % "Never"}}}}}}}
"""
    under = "spec.jobTemplate.spec.template.spec.containers.0"
    assert errors_by_name(text) == {
        "command-in-one-word": f"{under}.command.0",
        "fractional-bytes": f"{under}.resources.limits.memory",
    }
    (first, *_) = ptcompile.lint(text).diagnostics
    assert first.message.startswith(".".join(["spec.jobTemplate.spec.template.spec.containers[0]"]))
    assert first.span is not None
    assert first.span.line == 6


@pytest.mark.parametrize(
    ("kind", "spec", "under"),
    [
        ("apps/v1/Deployment", "{template: {%s}}", "spec.template"),
        ("apps/v1/StatefulSet", "{template: {%s}}", "spec.template"),
        (
            "ray.io/v1/RayCluster",
            "{workerGroupSpecs: [{template: {%s}}]}",
            "spec.workerGroupSpecs.0.template",
        ),
        (
            "leaderworkerset.x-k8s.io/v1/LeaderWorkerSet",
            "{leaderWorkerTemplate: {workerTemplate: {%s}}}",
            "spec.leaderWorkerTemplate.workerTemplate",
        ),
    ],
)
def test_templates_inside_other_objects_are_checked(kind: str, spec: str, under: str) -> None:
    version, _, name = kind.rpartition("/")
    text = f"apiVersion: {version}\nkind: {name}\nmetadata: {{name: a}}\nspec: {spec % (POD_SPEC % 'Always')}\n"
    mine = {name: path for name, path in errors_by_name(text).items() if "containers" in path}
    assert mine == {
        "command-in-one-word": f"{under}.spec.containers.0.command.0",
        "fractional-bytes": f"{under}.spec.containers.0.resources.limits.memory",
    }


def test_manifests_in_texts_are_checked() -> None:
    inner = textwrap.indent(JOB, "        ")
    workflow = f"""\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {{generateName: a-}}
spec:
  templates:
    - name: train
      resource:
        action: create
        manifest: |
{textwrap.indent(JOB, "          ")}"""
    assert set(errors_by_name(workflow).values()) == {"spec.templates.0.resource.manifest"}
    config = (
        f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  job.yaml: |\n{inner}"
    )
    assert errors_by_name(config) == {
        "command-in-one-word": "data.job.yaml",
        "fractional-bytes": "data.job.yaml",
    }
    assert errors_by_name(config.replace("512m", "'{{inputs.parameters.memory}}'")) == {
        "command-in-one-word": "data.job.yaml"
    }
    assert errors_by_name(config.replace("apiVersion: batch", "# batch")) == {}


@pytest.mark.parametrize(
    ("version", "kind", "spec"),
    [
        (
            "batch.volcano.sh/v1alpha1",
            "CronJob",
            "jobTemplate: {spec: {tasks: [], queue: default}}",
        ),
        (
            "example.com/v1",
            "Deployment",
            "template: {spec: {containers: [{name: a, image: b, command: [sleep 1]}]}}",
        ),
        (
            "example.com/v1",
            "StatefulSet",
            "serviceName: nowhere, template: {spec: {containers: [{name: a}]}}",
        ),
    ],
)
def test_kinds_of_other_groups_are_not_read_as_kubernetes_own(
    version: str, kind: str, spec: str
) -> None:
    assert (
        errors_by_name(
            f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: x}}\nspec: {{{spec}}}\n"
        )
        == {}
    )


def _stateful(**spec: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "a", "image": "i"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "s", "namespace": "ml"},
        "spec": {"template": template, **spec},
    }


@pytest.mark.parametrize(
    ("spec", "names", "subdomain"),
    [
        ({}, ["s-0"], None),
        ({"replicas": 3, "serviceName": "net"}, ["s-0", "s-1", "s-2"], "net"),
        ({"serviceName": "", "ordinals": {"start": 4}}, ["s-4"], None),
    ],
)
def test_the_pods_of_a_stateful_set_have_its_name_and_an_index(
    spec: dict[str, Any], names: list[str], subdomain: str | None
) -> None:
    """Kubernetes 1.36, pkg/controller/statefulset/stateful_set_utils.go: initIdentity."""
    (job,) = simulate([_stateful(**spec)]).jobs
    assert [pod.name for pod in job.pods()] == [pod.hostname for pod in job.pods()] == names
    assert {pod.view.subdomain for pod in job.pods()} == {subdomain}
    assert [pod.view.labels["statefulset.kubernetes.io/pod-name"] for pod in job.pods()] == names


def test_a_headless_service_of_the_stream_gives_a_stateful_set_its_names() -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "net", "namespace": "ml"},
    }
    service["spec"] = {"clusterIP": "None", "selector": {"app": "a"}}
    stateful = _stateful(serviceName="net")
    stateful["spec"]["template"]["metadata"] = {"labels": {"app": "a"}}
    (job,) = simulate([stateful, service]).jobs
    assert [pod.dns for pod in job.pods()] == ["s-0.net.ml.svc.cluster.local"]


def test_the_pods_of_a_deployment_have_random_names() -> None:
    (job,) = simulate([{**_stateful(replicas=2), "kind": "Deployment"}]).jobs
    assert [(pod.display_name, pod.hostname) for pod in job.pods()] == [("s-*****", None)] * 2


def test_a_deployment_with_fewer_pods_than_its_launcher_waits_for_never_trains() -> None:
    command = [
        "torchrun",
        "--nnodes=8",
        "--rdzv-backend=c10d",
        "--rdzv-endpoint=store.ml:29400",
        "t.py",
    ]
    template = {"spec": {"containers": [{"name": "a", "image": "i", "command": command}]}}
    deployment = {**_stateful(replicas=4, template=template), "kind": "Deployment"}
    errors = [d.message for d in ptcompile.lint(deployment).diagnostics if d.name == "too-few-pods"]
    assert errors == [
        "spec.template.spec.containers[0].command[1]: torchrun waits for 8 nodes, but the job has 4 pods"
    ]


@pytest.mark.parametrize("namespace", ["ml", None])
def test_nested_pods_are_in_the_namespace_of_their_owner(namespace: str | None) -> None:
    owner = {"metadata": {"name": "d", "namespace": namespace}}
    pod = pod_of_template(owner, _stateful()["spec"]["template"])
    assert pod is not None
    assert pod["metadata"].get("namespace") == namespace
    assert ("namespace" in pod["metadata"]) is (namespace is not None)


def test_a_template_without_containers_is_no_pod() -> None:
    assert pod_of_template({}, {"spec": {"containers": []}}) is None


def _carried(kind: str, *objects: dict[str, Any]) -> dict[str, Any]:
    api_version, spec = {
        "AppWrapper": (
            "workload.codeflare.dev/v1beta2",
            {"components": [{"template": item} for item in objects]},
        ),
        "ManifestWork": (
            "work.open-cluster-management.io/v1",
            {"workload": {"manifests": [*objects]}},
        ),
    }[kind]
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "w"}, "spec": spec}


@pytest.mark.parametrize("kind", ["AppWrapper", "ManifestWork"])
def test_carried_objects_are_those_of_the_stream(kind: str) -> None:
    inner = [_stateful(), {**_stateful(), "kind": "Deployment"}]
    assert unwrapped(_carried(kind, *inner)) == inner
    assert unwrapped(_carried("AppWrapper", _carried(kind, *inner))) == inner
    assert [job.title for job in simulate([_carried(kind, *inner)]).jobs] == [
        "StatefulSet/s",
        "Deployment/s",
    ]


@pytest.mark.parametrize(
    ("kind", "under"),
    [("AppWrapper", "spec.components.0.template"), ("ManifestWork", "spec.workload.manifests.0")],
)
def test_findings_of_carried_objects_have_paths_in_the_file(kind: str, under: str) -> None:
    job = yaml.safe_load(JOB)
    paths = {
        d.name: ".".join(map(str, d.path)) for d in ptcompile.lint(_carried(kind, job)).diagnostics
    }
    assert (
        paths["fractional-bytes"]
        == f"{under}.spec.template.spec.containers.0.resources.limits.memory"
    )


@pytest.mark.parametrize("kind", ["AppWrapper", "ManifestWork"])
def test_what_rejects_a_carried_object_does_so_when_it_is_created(kind: str) -> None:
    job = yaml.safe_load(JOB)
    job["metadata"]["name"] = "Train"
    job["spec"]["template"]["metadata"] = {"annotations": {"kueue.x-k8s.io/podset-slice-size": "1"}}
    stages = {d.code: d.stage for d in ptcompile.lint(job).diagnostics if d.stage == "apply"}
    assert stages.keys() >= {"PTC511", "PTC224"}
    carried = ptcompile.lint(_carried(kind, job)).diagnostics
    assert {d.code: d.stage for d in carried if d.code in stages} == dict.fromkeys(stages, "pod")


def test_carried_objects_are_judged_as_documents_are() -> None:
    """Kinds without a schema, warnings of the server, texts that are manifests, and placeholders."""
    texts = [
        "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, spec: {capability: {mem: 1}}}",
        "{apiVersion: kueue.x-k8s.io/v1beta1, kind: ResourceFlavor, metadata: {name: h100}}",
        "{apiVersion: batch/v1, kind: Job, metadata: {name: 'a-${ID}'}, spec: {template: {spec: {containers: []}}}}",
        "{apiVersion: acme.io/v1, kind: Thing, metadata: {name: x}}",
    ]
    carried = [yaml.safe_load(text) for text in texts]
    carried.append(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"job": JOB}}
    )
    bare = ptcompile.lint(yaml.safe_dump_all(carried))
    inside = ptcompile.lint(yaml.safe_dump(_carried("ManifestWork", *carried)))
    assert {d.code for d in bare.diagnostics} >= {"PTC269", "PTC851", "PTC076"}
    assert sorted(d.code for d in inside.diagnostics) == sorted(d.code for d in bare.diagnostics)
    assert inside.unchecked == (
        "work.open-cluster-management.io/v1 ManifestWork/w",
        *bare.unchecked,
    )


def test_the_job_of_a_trial_has_its_parameters() -> None:
    job = yaml.safe_load(JOB)
    container = job["spec"]["template"]["spec"]["containers"][0]
    container["args"] = ["--lr=${trialParameters.lr}"]
    trial = {"primaryContainerName": container["name"], "trialSpec": {**job, "metadata": {}}}
    trial["trialParameters"] = [{"name": "lr", "reference": "lr"}]
    experiment = {
        "apiVersion": "kubeflow.org/v1beta1",
        "kind": "Experiment",
        "metadata": {"name": "e"},
    }
    diagnostics = ptcompile.lint({**experiment, "spec": {"trialTemplate": trial}}).diagnostics
    under = "spec.trialTemplate.trialSpec.spec.template.spec.containers.0"
    assert {d.name: ".".join(map(str, d.path)) for d in diagnostics if d.severity == "error"} == {
        "command-in-one-word": f"{under}.command.0",
        "fractional-bytes": f"{under}.resources.limits.memory",
    }


@pytest.mark.parametrize("groups", [None, "x", {"a": 1}, []])
def test_worker_groups_that_are_no_list_have_no_pods(groups: object) -> None:
    cluster = {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "spec": {"workerGroupSpecs": groups},
    }
    assert "containers" not in str([d.path for d in ptcompile.lint(cluster).diagnostics])


@pytest.mark.parametrize(
    ("body", "paths"),
    [
        (
            {"resource": {"manifest": "apiVersion: v1\nkind: Pod\n"}},
            [("spec", "resource", "manifest")],
        ),
        ({"other": {"manifest": "apiVersion: v1\nkind: Pod\n"}}, []),
        ({"resource": {"manifest": "kind: Pod\n"}}, []),
        ({"resource": {"manifest": "apiVersion: v1\n"}}, []),
        ({"resource": {"action": "apiVersion: v1\nkind: Pod\n"}}, []),
    ],
)
def test_manifests_of_argo_are_below_resource(
    body: dict[str, Any], paths: list[tuple[str, ...]]
) -> None:
    workflow = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "spec": body}
    assert [path for path, _ in manifest_texts(workflow)] == paths


def test_a_selection_hides_no_rejected_pod_inside_an_object() -> None:
    """`missing-config-key` is of stage pod, which `select` never hides."""
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a"},
        "data": {"x": "1"},
    }
    env = [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "a", "key": "y"}}}]
    template = {
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "c", "image": "i:1", "env": env}]},
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "template": template},
    }
    diagnostics = ptcompile.lint([config, deployment], select=["missing-shm"]).diagnostics
    assert [diagnostic.name for diagnostic in diagnostics] == ["missing-config-key"]


WORKFLOW = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: run-, namespace: argo}
spec:
  nodeSelector: {pool: gpu}
  volumes:
  - {name: data, persistentVolumeClaim: {claimName: d}}
  - {name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}
  volumeClaimTemplates: [{metadata: {name: work}, spec: {accessModes: [ReadWriteOnce]}}]
  templates:
  - name: prepare
    container: {image: "i:1", command: [python prepare.py], volumeMounts: [{name: data, mountPath: /data}]}
  - name: train
    tolerations: [{key: gpu, operator: Sometimes}]
    container:
      image: "i:1"
      command: [torchrun, "--nproc-per-node=8", t.py]
      resources: {limits: {nvidia.com/gpu: 4, memory: 32Gi, cpu: 8}}
      volumeMounts: [{name: shm, mountPath: /dev/shm}, {name: work, mountPath: /work}]
"""


def test_the_steps_of_a_workflow_that_start_a_launcher_are_pods() -> None:
    findings = ptcompile.lint(WORKFLOW).diagnostics
    assert {d.name: ".".join(map(str, d.path)) for d in findings} == {
        "required-value": "spec.volumeClaimTemplates.0.spec.resources.requests.storage",
        "unsupported-value": "spec.templates.1.tolerations.0.operator",
        "more-processes-than-gpus": "spec.templates.1.container.command.1",
        "shm-above-memory-limit": "spec.volumes.1.emptyDir.sizeLimit",
    }
    assert all(d.span is not None and d.fix is None for d in findings)
    (job,) = ptcompile.simulate(WORKFLOW).jobs
    (pod,) = job.pods()
    assert (job.namespace, pod.name, pod.view.spec["nodeSelector"]) == (
        "argo",
        "run-abcde-train-abcde",
        {"pool": "gpu"},
    )
    assert [volume["name"] for volume in pod.view.spec["volumes"]] == ["shm", "work"]


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("kind: Workflow\n", "kind: Other\n"),
        ("  nodeSelector:", "  podSpecPatch: x\n  nodeSelector:"),
    ],
)
def test_pods_of_a_workflow_that_are_not_known_are_left_alone(written: str, instead: str) -> None:
    text = WORKFLOW.replace(written, instead)
    assert not ptcompile.lint(text).diagnostics
    assert not ptcompile.simulate(text).jobs


@pytest.mark.parametrize("field", ["templates", "volumes", "volumeClaimTemplates", "nodeSelector"])
@pytest.mark.parametrize(
    "value", [None, "x", 1, [[]], [{"name": [], "container": [], "metadata": 1}], {"a": {}}]
)
def test_any_workflow_is_accepted(field: str, value: object) -> None:
    workflow = yaml.safe_load(WORKFLOW)
    workflow["spec"]["templates"][1]["container"]["volumeMounts"].append({"name": []})
    workflow["spec"][field] = value
    assert ptcompile.lint(workflow).diagnostics is not None
    assert len(ptcompile.simulate(workflow).jobs) == (field != "templates")


def test_a_parameter_of_a_workflow_is_known_when_it_runs() -> None:
    text = WORKFLOW.replace("node=8", "node={{inputs.parameters.gpus}}").replace(
        "Sometimes", "Exists"
    )
    for source in (text, yaml.safe_load(text)):
        assert {d.name for d in ptcompile.lint(source).diagnostics} == {
            "shm-above-memory-limit",
            "required-value",
        }
    world = ptcompile.simulate(text)
    assert (world.jobs, world.skipped) == ((), ("Workflow/run-abcde",))


@pytest.mark.parametrize(
    ("kind", "spec", "name"),
    [
        ("batch/v1/CronJob", {"schedule": "0 3 * * *", "jobTemplate": {"spec": {}}}, "Job/e-abcde"),
        (
            "kubeflow.org/v1beta1/Experiment",
            {"trialTemplate": {"trialSpec": {"metadata": {}}}},
            "Job/e-abcde",
        ),
    ],
)
def test_the_jobs_that_a_controller_makes_are_simulated(
    kind: str, spec: dict[str, Any], name: str
) -> None:
    job = yaml.safe_load(JOB)
    if "jobTemplate" in spec:
        spec["jobTemplate"]["spec"] = job["spec"]
    else:
        spec["trialTemplate"]["trialSpec"] = {**job, "metadata": {}}
    api_version, _, kind_name = kind.rpartition("/")
    world = ptcompile.simulate(
        {"apiVersion": api_version, "kind": kind_name, "metadata": {"name": "e"}, "spec": spec}
    )
    assert [made.title for made in world.jobs] == [name]
    assert world.jobs[0].notes[-1] == "the name is generated: abcde stands for its end"
    assert world.skipped == ()


def test_requires_looks_into_carried_objects() -> None:
    job = yaml.safe_load(JOB)
    job["spec"]["template"]["spec"]["containers"][0]["envFrom"] = [{"secretRef": {"name": "token"}}]
    needed = ptcompile.requires(_carried("AppWrapper", job))
    assert "Secret/token" in [item.name for item in needed.requirements]
    assert needed.requirements == ptcompile.requires(job).requirements
