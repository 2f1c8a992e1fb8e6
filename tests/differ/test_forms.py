"""Differences as terminal text and as Markdown for pull requests. No manifest value can break either format."""

from __future__ import annotations

import html
import json
import re

import pytest
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt
from markdown_it.token import Token

import ptcompile
from ptcompile.api.reference import schema
from ptcompile.differ import Difference
from ptcompile.report.layout import safe_text
from tests.differ.making import job, pod
from tests.making import smallest

MARKDOWN = MarkdownIt("commonmark").enable("table")


def _change() -> Difference:
    was = smallest("nodes: 2\nresources: {gpu: 8, memory: 64Gi}\nenv: {NCCL_DEBUG: INFO, OLD: x}")
    now = smallest(
        "nodes: 4\nresources: {gpu: 8, memory: 64Gi}\nenv: {NCCL_DEBUG: WARN, HF_TOKEN: hf_1}"
    )
    return ptcompile.diff(was, now, filenames=("old.yaml", "new.yaml"))


TEXT = """\
old.yaml -> new.yaml

Job/train
  apply: refused: spec.template: Invalid value: field is immutable; delete the object and apply again (kubectl replace \
--force), or give it another name
  same         started by torchrun, rendezvous static
  job
    pods                   ~  2 -> 4
    processes              ~  16 -> 32
    nodes                  ~  2 -> 4
    nvidia.com/gpu in all  ~  16 -> 32
    memory in all          ~  128Gi -> 256Gi
  rank 0 and workers
    command         ~  --nnodes=2 -> --nnodes=4
    env NCCL_DEBUG  ~  INFO -> WARN
    env OLD         -  x
    env HF_TOKEN    +  ***
  manifest
    ~ spec.completions: 2 -> 4
    ~ spec.parallelism: 2 -> 4
    ~ spec.template.spec.containers[pytorch].command[1]: --nnodes=2 -> --nnodes=4
    + spec.template.spec.containers[pytorch].env[HF_TOKEN]: {"name": "HF_TOKEN", "value": "***"}
    ~ spec.template.spec.containers[pytorch].env[NCCL_DEBUG].value: INFO -> WARN
    - spec.template.spec.containers[pytorch].env[OLD]: {"name": "OLD", "value": "x"}

1 other object the same
"""

MARKED = """\
### <code>old.yaml</code> → <code>new.yaml</code>

**<code>Job/train</code>**

An apply: <code>refused&#58; spec.template&#58; Invalid value&#58; field is immutable&#59; delete th\
e object and apply again &#40;kubectl replace --force&#41;, or give it another name</code>.

The same: <code>started by torchrun</code>, <code>rendezvous static</code>.

| who | what | from | to |
|---|---|---|---|
| <code>job</code> | <code>pods</code> | <code>2</code> | <code>4</code> |
"""


def test_the_text_lists_facts_and_changes() -> None:
    assert _change().text() == TEXT


def test_markdown_masks_secrets() -> None:
    shown = _change().markdown()
    assert shown.startswith(MARKED)
    assert "\n! spec.completions: 2 -> 4\n" in shown
    assert "\n+ spec.template.spec.containers[pytorch].env[HF_TOKEN]" in shown
    assert shown.endswith("</details>\n\n1 other object the same.\n")


def test_equal_sides_have_no_difference() -> None:
    same = ptcompile.diff(pod(), pod(), filenames=("a", "b"))
    assert same.text() == "no difference\n"
    assert same.markdown() == "### <code>a</code> → <code>b</code>\n\nNo difference.\n"


def test_an_object_of_only_one_side_is_listed() -> None:
    more = {"apiVersion": "v1", "kind": "List", "items": [job(), pod(name="b")]}
    shown = ptcompile.diff(job(), more, filenames=("a.yaml", "b.yaml"))
    assert shown.text() == "a.yaml -> b.yaml\n\nPod/b: only in b.yaml\n\n1 other object the same\n"
    assert "**<code>Pod/b&#58; only in b.yaml</code>**" in shown.markdown()


EVIL = [
    "a | b",
    "a \\| b \\",
    "`", "``` x", "~~~", "````\n```\n",
    "<script>alert(1)</script>", "</code>", "</details>", "<!--", "&lt;", "&#96;",
    "[x](http://e.vil)", "![x](http://e.vil/x.png)", "https://e.vil", "www.e.vil", "a@e.vil", "@everyone", "#1",
    "**b** _i_ ~~s~~", "$x$", "a\nb\n\n# c", "a\r\nb", "\x1b[31mred", "\u202eevil", "\u2028", " ", "", "- [ ] x",
]  # fmt: skip


def _walk(tokens: list[Token]) -> list[Token]:
    return [one for token in tokens for one in (token, *_walk(token.children or []))]


def _skeleton(text: str) -> list[tuple[str, str]]:
    """Return the structure of a Markdown text without its words: token types and tags."""
    tokens = [token for token in _walk(MARKDOWN.parse(text)) if token.type != "text"]
    return [(token.type, token.content if "html" in token.type else token.tag) for token in tokens]


@pytest.mark.parametrize("evil", EVIL, ids=repr)
def test_no_value_breaks_the_markdown(evil: str) -> None:
    """With any value, the document has the same structure, and the value can be read back from it."""

    def shown(value: str) -> str:
        old = {
            "env": [{"name": "A", "value": value}],
            "args": ["x", f"y{value}"],
            "image": f"i{value}",
        }
        other = {
            "env": [{"name": "A", "value": f"new{value}"}],
            "args": ["x", f"z{value}"],
            "image": f"j{value}",
        }
        return ptcompile.diff(job(old, name=f"n{value}"), job(other, name=f"n{value}")).markdown()

    assert _skeleton(shown(evil)) == _skeleton(shown("plain"))
    (row,) = (line for line in shown(evil).splitlines() if "<code>image</code>" in line)
    cells = re.findall(r"<code>(.*?)</code>", row)
    assert html.unescape(cells[2]) == safe_text(f"i{evil}")


@pytest.mark.parametrize("evil", EVIL, ids=repr)
def test_no_value_controls_the_terminal(evil: str) -> None:
    shown = ptcompile.diff(
        pod({"image": evil, "args": [evil]}), pod({"image": f"x{evil}"}), filenames=(evil, evil)
    ).text()
    assert all(line.isprintable() for line in shown.split("\n"))


def test_long_values_are_cut_in_markdown_alone() -> None:
    long = "x" * 5000
    difference = ptcompile.diff(pod({"image": "i"}), pod({"image": long}))
    assert max(map(len, difference.markdown().splitlines())) < 600
    assert long in difference.text()
    assert long in str(difference.to_dict())


def test_a_changed_value_of_any_type_follows_the_schema() -> None:
    """A change's two values may be of any type; those of a fact are texts."""
    was, now = job(), job({"args": ["--lr", "1"], "tty": True}, pods=3, suspend=True)
    data = json.loads(json.dumps(ptcompile.diff(was, now).to_dict()))
    changes = data["objects"][0]["changes"]
    assert {type(change["to"]) for change in changes} == {int, bool, list}
    validator = Draft202012Validator(schema("diff"))
    assert list(validator.iter_errors(data)) == []
    data["objects"][0]["facts"][0]["to"] = 3
    assert [error.json_path for error in validator.iter_errors(data)] == [
        "$.objects[0].facts[0].to"
    ]


def test_the_markdown_counts_the_changes_of_a_manifest() -> None:
    one = ptcompile.diff(pod(), pod({"image": "i:2"})).markdown()
    assert "<summary>The manifest: 1 change</summary>" in one
    assert (
        "<summary>The manifest: 2 changes</summary>"
        in ptcompile.diff(pod(), pod({"image": "i:2", "tty": True})).markdown()
    )
