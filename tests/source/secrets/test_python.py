"""Lines of Python for code frames: the secret is masked and nothing else."""

from __future__ import annotations

import pytest

from ptcompile.source.secrets.python import masked_python

SHOWN = [
    'secret_requests=[Secret(group="hf", key="token")],',
    'env["NCCL_DEBUG"] = "INFO"',
    'token = secrets.get("hf", "token")',
    'requests = Resources(gpu="8")',
    "def train(token: str, epochs: int = 1): pass",
    "x = 1  # the key is elsewhere",
    'image = "ghcr.io/acme/train:1"',
]
HIDDEN = [
    ('HF_TOKEN = "hunter2"', 'HF_TOKEN = ***      '),
    ('f(hf_token="hunter2", b=1)', 'f(hf_token=***      , b=1)'),
    ('env = {"HF_TOKEN": "hunter2", "A": "b"}', 'env = {"HF_TOKEN": ***      , "A": "b"}'),
    ('os.environ["HF_TOKEN"] = "hunter2"', 'os.environ["HF_TOKEN"] = ***      '),
    ('os.environ.setdefault("HF_TOKEN", "hunter2")', 'os.environ.setdefault("HF_TOKEN", ***      )'),
    ('def f(a, hf_token="hunter2", *, b=1, password="hunter3"): pass',
     'def f(a, hf_token=***      , *, b=1, password=***      ): pass'),
    ('password: str = "hun" + "ter2"', 'password: str = ***   + ***   '),
    ('args = ["--hf-token", "hunter2"]', 'args = ["--hf-token", ***      ]'),
    ('é = {"HF_TOKEN": "hunter2"}', 'é = {"HF_TOKEN": ***      }'),
    ('x = 1  # HF_TOKEN=hunter2', 'x = 1  # HF_TOKEN= ***'),
    ('PASSWORD = """hunter2\nhunter3"""', 'PASSWORD = ***       \n***       '),
]  # fmt: skip


@pytest.mark.parametrize("line", SHOWN)
def test_what_is_no_secret_is_shown(line: str) -> None:
    before = "f(" if line.endswith(",") else ""
    after = ")" if before else ""
    text = f"{before}{line}{after}\nimport os\n"
    assert masked_python(text) == text.split("\n")


@pytest.mark.parametrize(("text", "shown"), HIDDEN)
def test_a_secret_is_masked(text: str, shown: str) -> None:
    assert masked_python(f"{text}\nimport os") == [*shown.split("\n"), "import os"]


def test_what_is_no_python_is_left_to_others() -> None:
    assert masked_python("a: [\n") is None
    assert masked_python("a\0b") is None
