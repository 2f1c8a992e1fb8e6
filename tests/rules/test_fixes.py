"""What a rule offers as a fix mends what it found, and makes nothing that an API server would refuse."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import yaml

import ptcompile
from ptcompile.diagnostics import Edit, Fix
from ptcompile.rules import every_rule
from ptcompile.rules.pages import page
from ptcompile.rules.rule import Rule


def changed(document: Any, fix: Fix) -> Any:
    """The document after a fix, as data; what is missing on the way to a value is made."""
    out = copy.deepcopy(document)
    for edit in fix.edits:
        _change(out, edit)
    return out


def _change(document: Any, edit: Edit) -> None:
    *way, last = edit.path
    holder = document
    for part in way:
        if isinstance(holder, dict) and holder.get(part) is None:
            holder[part] = {}
        holder = holder[part]
    if edit.op == "set":
        holder[last] = edit.value
    elif edit.op == "append":
        holder[last].append(edit.value)
    elif edit.op == "rename":
        holder[edit.value] = holder.pop(last)
    else:
        del holder[last]


@pytest.mark.parametrize("rule", every_rule(), ids=lambda rule: rule.name)
def test_a_fix_mends_what_was_found(rule: Rule) -> None:
    bad = page(rule).bad
    (one,) = [d for d in ptcompile.lint(bad).diagnostics if d.name == rule.name]
    if one.fix is None:
        return
    documents = [json.loads(json.dumps(one)) for one in yaml.safe_load_all(bad)]  # what an alias stands for, copied
    documents[one.document] = changed(documents[one.document], one.fix)
    after = ptcompile.lint(yaml.safe_dump_all(documents)).diagnostics
    assert rule.name not in {d.name for d in after}
    assert [d.message for d in after if d.stage in ("apply", "pod")] == []
