"""Comments of a manifest that are carried over to the spec."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import ptcompile

MANIFEST = """\
# Copyright 2026 Acme
---
# The nightly fine-tune
apiVersion: batch/v1
kind: Job
metadata:
  name: j # one a night
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      tolerations: # for the GPU pool
        - {key: a, operator: Exists}
      containers:
        - name: pytorch
          # built by CI,
          # each night
          image: i:12 # ptcompile: ignore[PTC301]
          command: [torchrun, --standalone, --nproc-per-node=8, train.py] # see docs/train.md
          env:
            - name: NCCL_DEBUG # ask Ann before changing
              value: INFO
            # second
            - name: B
              value: "x # y"
          resources:
            limits:
              nvidia.com/gpu: 8 # H100
# the end
"""


def test_comments_go_to_the_fields_that_they_are_about() -> None:
    imported = ptcompile.import_manifests(MANIFEST)
    (spec,) = imported.found
    text = spec.yaml()
    for line in (
        "  name: j # one a night\n",
        "  # built by CI,\n  # each night\n  image: i:12\n",
        "  # see docs/train.md\n  # was: torchrun --standalone --nproc-per-node=8\n  script: train.py\n",
        "    NCCL_DEBUG: INFO # ask Ann before changing\n",
        '    B: "x # y" # second\n',
        "    gpu: 8 # H100\n",
        "Exists}] # for the GPU pool\n",
    ):
        assert line in text
    assert spec.remarks == ("Copyright 2026 Acme", "The nightly fine-tune", "the end")
    assert all(f"# {remark}\n" in text.partition("apiVersion")[0] for remark in spec.remarks)
    assert "ignore" not in text
    assert yaml.safe_load(text) == spec.document


def test_each_object_gets_its_own_comments() -> None:
    two = "---\n".join(
        MANIFEST.replace("name: j", f"name: {name}").replace("night", name) for name in "ab"
    )
    first, second = ptcompile.import_manifests(two).found
    assert first.comments["metadata", "name"] == "one a a"
    assert second.comments["metadata", "name"] == "one a b"
    assert "The bly" not in first.yaml()
    assert "The bly" in second.yaml()


@pytest.mark.parametrize(
    ("source", "remarks"),
    [(yaml.safe_load(MANIFEST.partition("---")[2]), [()]), ('{"kind": "Job # 1"}', [])],
)
def test_data_without_comments_has_no_remarks(source: Any, remarks: list[tuple[str, ...]]) -> None:
    found = ptcompile.import_manifests(source).found
    assert [spec.remarks for spec in found] == remarks


def test_the_number_of_comments_is_limited() -> None:
    many = "".join(f"# {number}\n" for number in range(300)) + MANIFEST
    (spec,) = ptcompile.import_manifests(many).found
    assert len(spec.remarks) == 200
