"""Hover texts."""

from __future__ import annotations

import pytest

from ptcompile.server.hover import hover
from tests.recordings import AGAIN, RECORDINGS, recorded
from tests.server.making import SPEC, at_cursor

MANIFEST = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train}
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example.com/train:1
        command: [torchrun, --nnodes=2, --nproc-per-node=8, "--node-rank=$(RANK_OF_NODE)", train.py]
        env:
        - name: RANK_OF_NODE
          valueFrom: {fieldRef: {fieldPath: "metadata.annotations['batch.kubernetes.io/job-completion-index']"}}
        - {name: DB_PASSWORD, value: hunter2-and-more}
"""


def hover_text(text: str) -> str:
    document, position = at_cursor(text)
    hovered = hover(document, position)
    return "" if hovered is None else hovered.contents.value  # type: ignore[union-attr]  # Markdown, always


def test_a_field_shows_its_description_default_and_use() -> None:
    text = hover_text(SPEC.replace("  script:", "  scr|ipt:"))
    assert "Python file that torchrun starts" in text
    assert "the pass **rendezvous**" in text
    assert "for `volcano`" in text
    assert "Example: `script: train.py`" in text
    assert "Default: `5`" in hover_text(SPEC.replace("nprocPerNode: 8", "monitor|Interval: 5"))


def test_a_field_of_a_spec_has_the_effects_of_its_example() -> None:
    text = hover_text(SPEC.replace("  script:", "  shared|Memory: 8Gi\n  script:"))
    assert text.index("What it decides, for `volcano`") < text.index(
        "The example in a job of two nodes"
    )
    assert "- `pod`: `spec.volumes[shm].emptyDir.sizeLimit: 64Gi`\n" in text
    assert (
        "- `job`, `pytorchjob`, `volcano`, `trainjob`, `jobset`: "
        "`template.spec.volumes[shm].emptyDir.sizeLimit: 64Gi`" in text
    )
    many = hover_text(SPEC.replace("  elastic:", "  ela|stic:"))
    assert "- `pod`: an error: spec.nodes: " in many
    assert "- `volcano`: `template.spec.containers[pytorch].command[1]: --nnodes=2:4`" in many
    assert " and 4 more" in many
    assert "The example" not in hover_text(SPEC.replace("  target:", "  tar|get:"))
    assert "The example" not in hover_text(SPEC.replace("NCCL_DEBUG", "NCCL|_DEBUG"))


def test_a_line_without_effect_has_no_effects_in_its_hover() -> None:
    assert "decides" not in hover_text("apiVersion: ptcompile/v1\nki|nd: TrainingJob\n")


def test_a_field_of_kubernetes_has_its_description() -> None:
    text = hover_text(MANIFEST.replace("containers:", "cont|ainers:"))
    assert "list of mapping" in text
    assert "List of containers belonging to the pod." in text
    assert "Restart policy for all containers" in hover_text(
        MANIFEST.replace("restartPolicy", "restart|Policy")
    )


def test_an_accelerator_has_its_machines() -> None:
    spec = SPEC.replace("  script:", "  accelerator: nvidia|-h100\n  script:")
    assert "- eks: `p5.48xlarge` (8), `p5.4xlarge` (1)" in hover_text(spec)
    assert "Machines" not in hover_text(spec.replace("nvidia|-h100", "unkno|wn"))


def test_a_fabric_has_its_accelerators_and_what_pods_get() -> None:
    text = hover_text(SPEC.replace("  script:", "  fabric: tc|pxo\n  script:"))
    assert "- gke: `nvidia-h100-mega`" in text
    assert "Variables of its pods: `NCCL_SOCKET_IFNAME`, `LD_LIBRARY_PATH`" in text
    efa = hover_text(SPEC.replace("  script:", "  fabric: e|fa\n  script:"))
    assert "Resources of its pods: `vpc.amazonaws.com/efa`" in efa
    assert "nvidia-h100" in efa
    assert "Accelerators" not in hover_text(
        SPEC.replace("  script:", "  fabric: own|rails\n  script:")
    )


def test_a_target_has_its_kind() -> None:
    assert hover_text(SPEC.replace("target: volcano", "target: vol|cano")).startswith(
        "**volcano**: batch.volcano.sh/v1alpha1"
    )


def test_a_reference_shows_its_value_in_each_pod() -> None:
    text = hover_text(MANIFEST.replace("$(RANK_OF", "$(RANK|_OF"))
    assert "| `train-0-*****` | `0` |" in text
    assert "| `train-1-*****` | `1` |" in text


def test_a_variable_shows_its_value_in_each_pod() -> None:
    assert "| `train-1-*****` | `1` |" in hover_text(
        MANIFEST.replace("name: RANK_OF_NODE", "name: RANK|_OF_NODE")
    )
    assert "**NCCL_DEBUG** is `INFO` in all 4 pods" in hover_text(
        SPEC.replace("NCCL_DEBUG", "NCCL|_DEBUG")
    )


def test_variables_that_torchrun_sets_are_explained() -> None:
    text = hover_text(MANIFEST.replace("DB_PASSWORD", "RA|NK"))
    assert "| `train-1-*****` | `8 to 15` |" in text
    assert "**WORLD_SIZE** is `16` in both pods" in hover_text(
        MANIFEST.replace("DB_PASSWORD", "WORLD|_SIZE")
    )


def test_no_secret_is_shown() -> None:
    text = hover_text(MANIFEST.replace("DB_PASSWORD", "DB|_PASSWORD"))
    assert "DB_PASSWORD" in text
    assert "hunter2" not in text


def test_a_finding_shows_its_code() -> None:
    text = hover_text(SPEC.replace("  script:", "  scr|pt:"))
    assert "**PTC021" in text


def test_a_code_in_a_comment_shows_its_page() -> None:
    text = hover_text("apiVersion: v1 # ptcompile: ignore[PTC|302] fine\nkind: Pod\n")
    assert text.startswith("**PTC302 ")
    assert "**Fix**" in text


@pytest.mark.parametrize(
    "variants", ["variants:\n  a: {no|des: 3}\n", "variants:\n- a: {no|des: 3}\n"]
)
def test_a_field_of_a_variant_has_the_effects_of_the_specs(variants: str) -> None:
    text = hover_text(SPEC + variants)
    assert text.startswith("**nodes** (integer)")
    assert "- `job`: `spec.completions: 4`" in text
    assert "all 4 pods" in hover_text(
        SPEC + variants.replace("no|des: 3", "env: {NCCL|_DEBUG: INFO}")
    )


def test_text_without_a_meaning_has_no_hover() -> None:
    assert hover_text("|") == ""
    assert "PTC001" in hover_text("a: [|")
    assert hover_text("a: te|xt\n") == ""


def test_recorded_hovers() -> None:
    assert RECORDINGS["server/hovers.txt"]() == recorded("server/hovers.txt"), AGAIN
