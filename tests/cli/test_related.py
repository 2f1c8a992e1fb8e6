"""`lint jobs/ queues/`: each file is linted with the queues, quotas and namespaces in the others."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest

from ptcompile.cli.files import InputFile
from ptcompile.cli.related import RelatedObjects, repeated_objects
from ptcompile.source.documents import Document
from tests.cli.lints import Counted
from tests.cli.running import Ran, here, process, spec

Capture = pytest.CaptureFixture[str]

JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  labels: {kueue.x-k8s.io/queue-name: gpus}
spec:
  suspend: true
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: "i:1", command: [sleep, "1"], resources: {limits: {cpu: 8, memory: 8Gi}}}]
"""
QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: gpus}
spec: {clusterQueue: research}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [cpu, memory]
      flavors: [{name: f, resources: [{name: cpu, nominalQuota: 4}, {name: memory, nominalQuota: 1Ti}]}]
"""


def test_queues_of_another_file_are_related(tmp_path: Path, capsys: Capture) -> None:
    job, queues = tmp_path / "jobs.yaml", tmp_path / "queues.yaml"
    job.write_text(JOB, encoding="utf-8")
    queues.write_text(QUEUES, encoding="utf-8")
    alone = here(capsys, "lint", job)
    both = here(capsys, "lint", job, queues, "--output-format", "concise")
    assert alone.status == 0
    assert both.status == 1
    assert f"{job}:5:" in both.out
    assert "PTC290" in both.out
    assert both.out.count("PTC") == 1


def test_a_kind_that_is_not_a_string_is_not_a_queue(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "a.yaml").write_text("kind: [LocalQueue]\n", encoding="utf-8")
    (tmp_path / "b.yaml").write_text(QUEUES, encoding="utf-8")
    assert here(capsys, "lint", tmp_path).status == 0


def test_schemas_are_relative_to_their_configuration(tmp_path: Path, capsys: Capture) -> None:
    config = tmp_path / "ptcompile.toml"
    config.write_text('schemas = ["none"]\n', encoding="utf-8")
    (tmp_path / "x.yaml").write_text(QUEUES, encoding="utf-8")
    ran = here(capsys, "lint", "--config", config, tmp_path / "x.yaml")
    assert ran.status == 2
    assert f"--schemas: {tmp_path / 'none'}: No such file" in ran.err


LONELY = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      subdomain: train
      containers:
        - name: c
          image: "i:1"
          command: [torchrun, --nnodes=2, --rdzv-backend=c10d, "--rdzv-endpoint=train-0.train:29400", train.py]
          resources: {limits: {cpu: 8, memory: 8Gi}}
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: train}
spec: {clusterIP: None, publishNotReadyAddresses: true, selector: {batch.kubernetes.io/job-name: train}}
"""


def test_services_of_another_file_are_related(tmp_path: Path, capsys: Capture) -> None:
    job, service = tmp_path / "job.yaml", tmp_path / "service.yaml"
    job.write_text(LONELY, encoding="utf-8")
    assert "note[PTC486" in here(capsys, "lint", job).out
    assert "warning[PTC486" in here(capsys, "lint", tmp_path).out
    service.write_text(SERVICE, encoding="utf-8")
    assert "PTC486" not in here(capsys, "lint", tmp_path).out
    service.write_text(SERVICE.replace("job-name: train", "job-name: other"), encoding="utf-8")
    assert "warning[PTC486" in here(capsys, "lint", tmp_path).out


def test_a_service_belongs_to_files_that_name_it_or_have_a_label_of_its_selector() -> None:
    """A label that every Service has tells nothing, unless a Service has no other."""

    def service(name: str, selector: str) -> InputFile:
        text = f"apiVersion: v1\nkind: Service\nmetadata: {{name: {name}}}\nspec: {{selector: {{{selector}}}}}\n"
        return InputFile(f"{name}.yaml", text.encode(), named=False)

    services = [service(f"svc-{i}", f"app: train, job: j{i}") for i in range(70)]
    services += [
        service("gateway", "app: train"),
        service("ünicode", "app: 'a#b'"),
        service("none", ""),
    ]
    related = RelatedObjects(services, is_complete=True)

    def names(text: str) -> list[str]:
        objects = related.objects_for(InputFile("job.yaml", text.encode(), named=False))
        assert objects is not None
        return [manifest["metadata"]["name"] for manifest in objects]

    assert names("labels: {app: train, job: j7}") == ["svc-7", "gateway"]
    assert names("--rdzv-endpoint=x-0.svc-12.ns.svc:29400") == ["svc-12"]
    assert names("labels: {job: j70}, image: 'a#b', svc: 1, j: 7") == ["ünicode"]
    assert names("#") == []
    assert [*(related.objects_for(services[7]) or ())] == [related.objects[70]]


def test_files_with_related_objects_are_freed_without_collecting_garbage() -> None:
    gc.collect()
    gc.disable()
    try:
        RelatedObjects(
            [InputFile(f"{i}.yaml", SERVICE.encode(), False) for i in range(3)], is_complete=True
        ).load()
        assert not any(isinstance(item, Document) for item in gc.get_objects())
    finally:
        gc.enable()


def test_policies_and_their_parameters_are_found_in_other_files(
    tmp_path: Path, capsys: Capture
) -> None:
    """The finding names the file of the policy; a parameter may be of any kind."""
    (tmp_path / "policy.yaml").write_text(
        """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: images}
spec:
  paramKind: {apiVersion: v1, kind: ConfigMap}
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}]
  validations: [{expression: "object.spec.containers.all(c, c.image == params.data.image)"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: everywhere}
spec: {policyName: images, validationActions: [Deny], paramRef: {name: allowed, parameterNotFoundAction: Deny}}
""",
        encoding="utf-8",
    )
    config = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: allowed}\ndata: {image: %s}\n"
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: 'i:1'}]}\n"
    (tmp_path / "pod.yaml").write_text(pod, encoding="utf-8")
    (tmp_path / "config.yaml").write_text(config % "'i:2'", encoding="utf-8")
    denied = here(capsys, "lint", tmp_path)
    assert denied.status == 1
    assert (
        "ValidatingAdmissionPolicy 'images' with binding 'everywhere' denied request: failed expr"
        in denied.out
    )
    assert "policy.yaml requires\n" in denied.out.partition("as the policy in ")[2]
    (tmp_path / "config.yaml").write_text(config % "'i:1'", encoding="utf-8")
    assert here(capsys, "lint", tmp_path).status == 0


REPEATED = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: "i:1", command: [sleep, "1"]}]
"""
SETTINGS = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata: {lr: '0.1'}\n"
AUTOSCALER = """\
apiVersion: autoscaling/v1
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}
"""


def lint(capsys: Capture, *words: str | Path) -> Ran:
    return here(capsys, "lint", *words, "--output-format", "concise")


def write(folder: Path, **contents: str) -> Path:
    """Write one YAML file per keyword into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / f"{name}.yaml").write_text(content, encoding="utf-8")
    return folder


def test_a_copied_job_is_a_warning_in_the_later_file(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, a=REPEATED, b=REPEATED.replace("i:1", "i:2"))
    ran = lint(capsys, tmp_path)
    assert ran.status == 0
    (finding,) = ran.out.splitlines()
    assert finding == (
        f"{tmp_path}/b.yaml:3:18: warning PTC576 repeated-object: metadata.name: a.yaml in this folder also defines "
        "Job/train: if both are applied, one overwrites the other (Job/train)"
    )
    assert lint(capsys, tmp_path / "a.yaml", tmp_path / "b.yaml").out == ran.out
    assert lint(capsys, f"{tmp_path}/*.yaml").out == ran.out
    assert not lint(capsys, tmp_path / "b.yaml").out


def test_a_copied_spec_is_a_warning(tmp_path: Path, capsys: Capture) -> None:
    spec(tmp_path, "a.yaml")
    spec(tmp_path, "b.yaml", "nodes: 2")
    assert "b.yaml:3:18: warning PTC576" in lint(capsys, tmp_path).out


def test_versions_of_one_group_are_one_object(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, a=AUTOSCALER, b=AUTOSCALER.replace("/v1\nkind: Hor", "/v2\nkind: Hor"))
    assert (
        "a.yaml in this folder also defines HorizontalPodAutoscaler/web"
        in lint(capsys, tmp_path).out
    )


def test_every_repeated_object_of_a_file_is_reported_once(tmp_path: Path, capsys: Capture) -> None:
    changed = SETTINGS.replace("0.1", "0.2")
    write(
        tmp_path,
        a=f"{REPEATED}---\n{SETTINGS}",
        b=f"{SETTINGS}---\n{REPEATED}",
        c=f"{changed}---\n{REPEATED}",
    )
    shown = [
        line.partition(": warning")[0].removeprefix(f"{tmp_path}/")
        for line in lint(capsys, tmp_path).out.splitlines()
    ]
    assert shown == ["b.yaml:9:18", "c.yaml:4:9", "c.yaml:9:18"]


@pytest.mark.parametrize(
    "other",
    [
        REPEATED.replace("train}", "other}"),
        REPEATED.replace("train}", "train, namespace: team-b}"),
        REPEATED.replace("name: train}", "generateName: train}"),
        REPEATED.replace("name: train}", "name: ''}"),
        REPEATED.replace("batch/v1", "example.com/v1").replace("kind: Job", "kind: Unknown"),
        REPEATED.replace("train}", "train}").replace("kind: Job", "kind: CronJob"),
        "a: 1\nkind: 3\n",
        "- 1\n",
        "",
        "a: [",
    ],
)
def test_different_objects_are_not_reported(tmp_path: Path, capsys: Capture, other: str) -> None:
    write(tmp_path, a=REPEATED, b=other)
    assert "PTC576" not in lint(capsys, tmp_path).out


@pytest.mark.parametrize(
    "name", ["'${NAME}'", "__NAME__", "'<name>'", "'{{ name }}'", "'{{ .Release.Name }}-x'", "''"]
)
def test_the_name_of_a_template_is_unknown(tmp_path: Path, capsys: Capture, name: str) -> None:
    job = REPEATED.replace("name: train", f"name: {name}")
    write(tmp_path, a=job, b=job.replace("i:1", "i:2"))
    assert "PTC576" not in lint(capsys, tmp_path).out


def test_generated_names_differ(tmp_path: Path, capsys: Capture) -> None:
    job = REPEATED.replace("name: train}", "generateName: train-}")
    write(tmp_path, a=job, b=job)
    assert not lint(capsys, tmp_path).out


def test_objects_of_unknown_kinds_are_not_compared(tmp_path: Path, capsys: Capture) -> None:
    widget = "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: x}\nspec: {size: 1}\n"
    profile = (
        "apiVersion: ptcompile/v1\nkind: ClusterProfile\nmetadata: {name: x}\nspec: {cloud: gke}\n"
    )
    write(
        tmp_path, a=widget, b=widget.replace("1}", "2}"), c=profile, d=profile.replace("gke", "eks")
    )
    assert "PTC576" not in lint(capsys, tmp_path).out


def test_a_shared_object_with_the_same_content_is_not_reported(
    tmp_path: Path, capsys: Capture
) -> None:
    write(tmp_path, a=SETTINGS, b=f"# a copy\n{SETTINGS}")
    assert not lint(capsys, tmp_path).out
    write(tmp_path, c=SETTINGS.replace("0.1", "0.2"))
    assert (
        "c.yaml:4:9: warning PTC576 repeated-object: metadata.name: a.yaml "
        in lint(capsys, tmp_path).out
    )


def test_a_job_with_the_same_content_is_reported(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, a=REPEATED, b=REPEATED)
    assert lint(capsys, tmp_path).out.count("PTC576") == 1


def test_files_of_other_folders_are_not_compared(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path / "blue", job=REPEATED)
    write(tmp_path / "green", job=REPEATED)
    write(tmp_path, job=REPEATED)
    assert not lint(capsys, tmp_path).out


@pytest.mark.parametrize("place", [".", ".."])
@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
def test_a_kustomization_may_patch_one_object_twice(
    tmp_path: Path, capsys: Capture, place: str, name: str
) -> None:
    folder = write(tmp_path / "overlay", a=REPEATED, b=REPEATED)
    (folder / place / name).write_text(
        "patches: [{path: overlay/a.yaml}, {path: overlay/b.yaml}]\n", encoding="utf-8"
    )
    assert "PTC576" not in lint(capsys, folder).out


def test_standard_input_is_in_no_folder(tmp_path: Path) -> None:
    write(tmp_path, a=REPEATED)
    ran = process("lint", "a.yaml", "-", stdin=REPEATED.encode(), cwd=tmp_path)
    assert "PTC576" not in ran.out


def test_a_comment_an_option_or_the_configuration_ignores_the_finding(
    tmp_path: Path, capsys: Capture
) -> None:
    write(tmp_path, a=REPEATED, b=REPEATED)
    assert not lint(capsys, tmp_path, "--ignore", "PTC576").out
    assert not lint(capsys, tmp_path, "--select", "PTC1").out
    (tmp_path / "ptcompile.toml").write_text(
        '[per-file-ignores]\n"b.yaml" = ["PTC576"]\n', encoding="utf-8"
    )
    ran = lint(capsys, "--config", tmp_path / "ptcompile.toml", tmp_path)
    assert ran.out == ""
    assert "1 ignored" in ran.err
    write(tmp_path, b=REPEATED.replace("train}", "train}  # ptcompile: ignore[PTC576]"))
    ran = lint(capsys, tmp_path)
    assert ran.out == ""
    assert "1 ignored" in ran.err


def test_add_ignore_writes_the_comment(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, a=REPEATED, b=REPEATED)
    assert here(capsys, "lint", "--add-ignore", tmp_path).status == 0
    assert (tmp_path / "b.yaml").read_text("utf-8") == REPEATED.replace(
        "train}", "train}  # ptcompile: ignore[PTC576]"
    )
    assert not lint(capsys, tmp_path).out


def test_remaining_findings_have_the_address(tmp_path: Path, capsys: Capture) -> None:
    spec(tmp_path, "a.yaml")
    spec(tmp_path, "b.yaml", "working_dir: /data")
    ran = lint(capsys, tmp_path, "--fix")
    assert ran.out.count("PTC576") == 1
    assert "1 fixed" in ran.err


def test_several_processes_and_earlier_results_report_the_same(
    many: Path, asked: Counted, capsys: Capture
) -> None:
    write(many, a=REPEATED, b=REPEATED)
    first = lint(capsys, ".")
    assert first.out.count("PTC576") == 1
    asked.clear()
    assert lint(capsys, ".") == first
    assert asked == ["./b.yaml"]
    assert lint(capsys, ".", "--no-cache", "--jobs", "2") == first
    write(many, a=REPEATED.replace("train}", "other}"))
    assert "PTC576" not in lint(capsys, ".").out
    write(many, c=REPEATED)
    assert (
        "c.yaml:3:18: warning PTC576 repeated-object: metadata.name: b.yaml "
        in lint(capsys, ".").out
    )


def test_the_first_file_is_the_first_of_the_run() -> None:
    key = ("batch", "Job", "default", "train")
    assert repeated_objects(
        [("x/b.yaml", ((key, ""),)), ("x/a.yaml", ((key, ""),)), ("y/a.yaml", ((key, ""),))]
    ) == {"x/a.yaml": {key: "b.yaml"}}
