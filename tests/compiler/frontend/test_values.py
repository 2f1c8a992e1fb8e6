"""Values that match the spec's schema but that torchrun or the kubelet rejects."""

from __future__ import annotations

import pytest

import ptcompile
from ptcompile.compiler.frontend.reader import placeholder_name
from ptcompile.diagnostics import Path
from tests.making import manifest, smallest, text

RDZV: list[tuple[str, str | None]] = [
    ("join_timeout: abc", "must be a whole number"),
    ("join_timeout: 0", "must be above 0"),
    ("read_timeout: sixty", "must be a whole number"),
    ("read_timeout: -1", "must be above 0"),
    ("is_host: maybe", "must be true or false"),
    ("store_type: redis", "must be tcp or file"),
    ("keep_alive_interval: '1.5'", "must be a whole number"),
    ("timeout: long", "must be a whole number"),
    ("join_timeout: 60", None),
    ("join_timeout: ' 60 '", None),
    ("is_host: 'True'", None),
    ("last_call_timeout: '5'", None),
]


@pytest.mark.parametrize(("option", "why"), RDZV)
def test_wrong_options_of_the_rendezvous_are_errors(option: str, why: str | None) -> None:
    body = f"nodes: 2\nelastic: {{rdzvBackend: c10d, rdzvConfigs: {{{option}}}}}"
    wrong = option.partition(":")[0] != "timeout"  # only static reads it
    for backend in ("c10d", "static", None) if why else ("c10d",):
        reads = backend is None or wrong == (backend == "c10d")
        changed = body.replace(
            "rdzvBackend: c10d, ", f"rdzvBackend: {backend}, " if backend else ""
        )
        diagnostics = ptcompile.compile(smallest(changed)).diagnostics
        if why and reads:
            (diagnostic,) = diagnostics
            assert diagnostic.path == ("spec", "elastic", "rdzvConfigs", option.partition(":")[0])
            assert why in diagnostic.message
        else:
            assert diagnostics == ()


def test_an_unknown_rendezvous_option_is_a_warning_with_a_suggestion() -> None:
    result = ptcompile.compile(smallest("nodes: 2\nelastic: {rdzvConfigs: {join_timout: 60}}"))
    (diagnostic,) = result.diagnostics
    assert (diagnostic.name, diagnostic.severity, diagnostic.path) == (
        "unknown-rdzv-option",
        "warning",
        ("spec", "elastic", "rdzvConfigs"),
    )
    assert diagnostic.help == "did you mean join_timeout?"
    assert result.ok


@pytest.mark.parametrize("seconds", ["0.1", "1", "2.5", "60"])
def test_a_monitor_interval_may_be_a_fraction_of_a_second(seconds: str) -> None:
    made = manifest(smallest(f"elastic: {{monitorInterval: {seconds}}}"), "pod")
    assert f"--monitor-interval={seconds}" in made["spec"]["containers"][0]["command"]
    assert ptcompile.lint(made).ok


IMAGES: list[tuple[str, str]] = [
    ("a:1:2", "is not an image name: the tag '1:2'"),
    ("acme/Train:1", "must have only lower case letters"),
    ("pytorch/pytorch:1.7.0-cuda11.0-cudnn8-runtime=", "the tag"),
    ("https://ghcr.io/acme/train:1", "the registry 'https:' is not a host name"),
    ("<image>", "is a placeholder, but a spec is not a template"),
    ("${IMAGE_URI}", "a placeholder"),
    ("{{.image.x}}", "a placeholder"),
    ("<训练镜像>", "a placeholder"),
]
PLACES: list[tuple[str, Path]] = [
    ("image: {}\nscript: t.py", ("spec", "image")),
    ("image: a:1\nscript: t.py\nworker: {{image: {}}}\nmaster: {{}}", ("spec", "worker", "image")),
    (
        "image: a:1\nscript: t.py\npodTemplate: {{spec: {{initContainers: [{{name: get, image: {}}}]}}}}",
        ("spec", "podTemplate", "spec", "initContainers", 0, "image"),
    ),
]


@pytest.mark.parametrize(("image", "why"), IMAGES)
@pytest.mark.parametrize(("body", "path"), PLACES)
def test_compile_rejects_an_image_that_the_kubelet_cannot_parse(
    body: str, path: Path, image: str, why: str
) -> None:
    for lint in (True, False):
        result = ptcompile.compile(text(body.format(f"'{image}'")), lint=lint)
        (diagnostic,) = result.diagnostics
        assert (diagnostic.name, diagnostic.path, diagnostic.severity) == (
            "invalid-image",
            path,
            "error",
        )
        assert (diagnostic.stage, diagnostic.authority) == ("pod", "kubelet")
        assert why in diagnostic.message
        assert result.manifests == ()


POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: train}}
spec:
  restartPolicy: Never
  containers: [{{name: pytorch, image: '{}', resources: {{limits: {{cpu: 1, memory: 1Gi}}}}}}]
"""


@pytest.mark.parametrize(("image", "why"), IMAGES)
def test_lint_notes_placeholder_images_and_rejects_invalid_ones(image: str, why: str) -> None:
    report = ptcompile.lint(POD.format(image))
    (diagnostic,) = report.diagnostics
    placeholder = "unrendered-template" if "{{" in image else "image-placeholder"
    assert (diagnostic.name, diagnostic.severity) == (
        (placeholder, "note") if "placeholder" in why else ("invalid-image", "error")
    )
    assert report.ok is ("placeholder" in why)


def test_lint_checks_the_image_of_a_trainjob() -> None:
    job = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {name: a}\nspec:\n"
    job += "  runtimeRef: {name: torch-distributed}\n  trainer: {numNodes: 1, image: 'a:1:2'}\n"
    assert [diagnostic.path for diagnostic in ptcompile.lint(job).diagnostics] == [
        ("spec", "trainer", "image")
    ]


def test_an_invalid_image_is_not_reported_as_latest() -> None:
    spec = smallest("nodes: 2\nresources: {gpu: 1, cpu: 4, memory: 8Gi}")
    made = ptcompile.compile(spec, target="pytorchjob").yaml()
    for image in ("<image>", "a b"):
        diagnostics = ptcompile.lint(made.replace("image: img:1", f"image: '{image}'")).diagnostics
        assert "latest-image" not in {diagnostic.name for diagnostic in diagnostics}


NCCL = [
    ("args: [--backend, nccl]", ("spec", "args", 1)),
    ("args: [--backend=nccl]", ("spec", "args", 0)),
    ("args: [--dist_backend, nccl]", ("spec", "args", 1)),
    ("env: {BACKEND: nccl}", ("spec", "env", "BACKEND")),
    ("env: {PL_TORCH_DISTRIBUTED_BACKEND: nccl}", None),
    ("args: [--backend, gloo]", None),
    ("args: [--rdzv-backend, nccl]", None),
    ("args: [nccl]", None),
    ("env: {NCCL_DEBUG: INFO}", None),
]


@pytest.mark.parametrize(("body", "path"), NCCL)
@pytest.mark.parametrize("target", ["job", "pytorchjob", "volcano", "trainjob", "jobset"])
def test_nccl_needs_a_gpu(target: str, body: str, path: Path | None) -> None:
    """Without a GPU, another backend such as gloo is needed (reference document 004)."""
    result = ptcompile.compile(smallest(f"nodes: 2\n{body}"), target=target)
    messages = [
        (diagnostic.path, diagnostic.severity)
        for diagnostic in result.diagnostics
        if diagnostic.name == "nccl-without-gpu"
    ]
    assert messages == ([] if path is None else [(path, "warning")])
    more = "resources: {gpu: 1, cpu: 4, memory: 8Gi}"
    others = ptcompile.compile(smallest(f"nodes: 2\n{body}\n{more}"), target=target).diagnostics
    assert {other.name for other in others} <= {"misread-launch-word"}, (
        "torchrun does not read options after the script"
    )


BESIDE: list[tuple[str, Path | None]] = [
    ("podTemplate: {spec: {containers: [{name: trainer, image: img:1}]}}", ("spec",)),
    ("podTemplate: {spec: {containers: [{name: pytorch, tty: true}]}}", None),
    ("podTemplate: {spec: {containers: [{name: logs, image: 'fluent/fluent-bit:3'}]}}", None),
    ("podTemplate: {spec: {initContainers: [{name: get, image: img:1}]}}", None),
    (
        "worker: {podTemplate: {spec: {containers: [{name: main, image: img:1}]}}}",
        ("spec", "worker"),
    ),
    (
        "roles: {ps: {podTemplate: {spec: {containers: [{name: pytorch, image: img:1}]}}}}",
        ("spec", "roles", "ps"),
    ),
    ("roles: {ps: {podTemplate: {spec: {containers: [{name: ps, tty: true}]}}}}", None),
]


@pytest.mark.parametrize(("body", "block"), BESIDE, ids=[body for body, _ in BESIDE])
def test_another_container_with_the_same_image_is_a_warning(body: str, block: Path | None) -> None:
    result = ptcompile.compile(smallest(body), target="jobset")
    messages = [
        (diagnostic.path, diagnostic.severity)
        for diagnostic in result.diagnostics
        if diagnostic.name == "same-image-beside"
    ]
    path = (*(block or ()), "podTemplate", "spec", "containers", 0)
    assert messages == ([] if block is None else [(path, "warning")])
    assert result.ok


def test_the_help_for_a_container_without_an_image_names_the_main_one() -> None:
    result = ptcompile.compile(
        smallest("podTemplate: {spec: {containers: [{name: main, tty: true}]}}")
    )
    helps = {diagnostic.name: diagnostic.help for diagnostic in result.diagnostics}
    assert not result.ok
    assert helps["same-image-beside"] == "to change the main container, name it pytorch"


def test_a_placeholder_is_as_long_as_the_name_that_the_server_makes() -> None:
    """Source: Kubernetes 1.36, apiserver storage/names `SimpleNameGenerator`."""
    assert placeholder_name("train-") == "train-xxxxx"
    assert placeholder_name("a" * 58) == "a" * 58 + "xxxxx"
    assert placeholder_name("a" * 70) == "a" * 58 + "xxxxx"
