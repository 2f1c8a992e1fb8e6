"""Images as Flyte names them: templates, ImageSpecs, and tasks without an image."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ptcompile import flyte
from tests.flyte.making import OURS, document


@pytest.mark.parametrize(
    ("text", "image"),
    [
        ("{{.image.trainer}}", "ghcr.io/acme/t:1"),
        ("{{ .images.trainer.fqn }}:{{ .images.trainer.version }}", "ghcr.io/acme/t:1"),
        ("{{.image.trainer.fqn}}:v2", "ghcr.io/acme/t:v2"),
        ("ghcr.io/acme/u:{{.image.trainer.version}}", "ghcr.io/acme/u:1"),
        ("{{.image.pinned.fqn}}:{{.image.pinned.version}}", "localhost:5000/t@sha256:0a"),
        ("{{.image.bare.fqn}}:{{.image.bare.version}}", "acme/t"),
        ("{{.image.default}}", "acme/default:1"),
        ("acme/plain:1", "acme/plain:1"),
    ],
)
def test_a_template_is_filled_as_flytekit_does(text: str, image: str) -> None:
    images = {
        "trainer": "ghcr.io/acme/t:1",
        "pinned": "localhost:5000/t@sha256:0a",
        "bare": "acme/t",
    }
    config = OURS.PyTorch(master=OURS.Master(image=text), worker=OURS.Worker(replicas=1))
    spec = document(config, container_image=text, image="acme/default:1", images=images)
    assert (spec["image"], spec["master"]["image"]) == (image, image)


def test_a_template_without_a_value_is_an_error() -> None:
    text = "{{.image.trainer.fqn}}:{{.image.trainer.version}}"
    config = OURS.PyTorch(worker=OURS.Worker(replicas=1, image=text))
    made = flyte.task(
        test_a_template_without_a_value_is_an_error,
        task_config=config,
        container_image="{{.image.default}}",
    )
    found = {
        problem.path: (problem.message, problem.help)
        for problem in made.convert("job").problems
        if problem.severity == "error"
    }
    unknown = "from Flyte's configuration, which is unknown here"
    assert found == {
        ("container_image",): (
            f"container_image: {{{{.image.default}}}} takes the image 'default' {unknown}",
            "--image IMAGE, or images={'default': ...}",
        ),
        ("task_config", "worker", "image"): (
            f"task_config.worker.image: {text} takes the image 'trainer' {unknown}",
            "--image trainer=IMAGE, or images={'trainer': ...}",
        ),
    }


def test_a_task_without_an_image_is_reported_in_flyte_terms() -> None:
    made = flyte.task(
        test_a_task_without_an_image_is_reported_in_flyte_terms,
        task_config=OURS.Elastic(),
        script="t.py",
    )
    (diagnostic,) = made.compile("job").diagnostics
    assert (diagnostic.path, diagnostic.name) == (("container_image",), "spec-missing-field")
    assert diagnostic.message.startswith(
        "container_image: is missing: Flyte would use the project's default image"
    )
    assert made.compile("job", image="acme/default:1").ok


@pytest.mark.parametrize(
    ("registry", "severity", "message"),
    [("ghcr.io/a", "note", "pyflyte build"), (None, "warning", "registry")],
)
def test_an_image_spec_must_be_built(registry: str | None, severity: str, message: str) -> None:
    spec: Any = SimpleNamespace(image_name=lambda: "ghcr.io/a/t:x1", registry=registry)
    made = flyte.task(
        test_an_image_spec_must_be_built,
        task_config=OURS.Elastic(),
        script="t.py",
        container_image=spec,
    )
    result = made.compile("job")
    assert result.manifests[0]["spec"]["containers"][0]["image"] == "ghcr.io/a/t:x1"
    (diagnostic,) = result.diagnostics
    assert (diagnostic.severity, diagnostic.path) == (severity, ("container_image",))
    assert message in diagnostic.message


def test_a_union_secret_without_a_group_is_explained() -> None:
    secret = flyte.Secret(key="HF_TOKEN")
    made = flyte.task(
        test_an_image_spec_must_be_built,
        task_config=OURS.Elastic(),
        script="t.py",
        secret_requests=[secret],
    )
    (problem,) = made.convert("job").problems
    assert problem.path == ("secret_requests", 0, "group")
    assert "Union finds 'HF_TOKEN' in its own store" in problem.message
    assert problem.help == "Secret(group=\"NAME-OF-THE-SECRET\", key='HF_TOKEN')"
