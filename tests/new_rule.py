"""Begin a rule: `python -m tests.new_rule NAME --like RULE` writes its files and prints what is left to do.

The new rule is of the family of the other one and begins with its identity and its example. It finds nothing, and
tests fail until it does. The code is a free one in the other rule's hundred.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ptcompile.diagnostics.codes import CODES
from ptcompile.linter import rule_named

ROOT = Path(__file__).parents[1]
LOCK = Path("tests/diagnostics/codes.lock")
PLACEHOLDER = "TODO"
"""Where something must be written in the page and the tests below."""

PAGE = '''"""TODO: one sentence that says what is wrong.

{identity}

What: TODO.

Why: TODO.

Example:{example}

Fix: TODO.

Source: TODO.
"""

from __future__ import annotations

from ptcompile.linter.rule import Findings, Subject


def check(subject: Subject) -> Findings:
    # TODO: yield found_at(path, text, help) for each container.path, template.path, ...
    yield from ()
'''

TESTS = '''"""What {name} does not report."""

from __future__ import annotations

import pytest

import ptcompile


@pytest.mark.parametrize("text", ["TODO"])
def test_it_is_not_reported(text: str) -> None:
    report = ptcompile.lint(text)
    assert report.checked
    assert "{name}" not in [finding.name for finding in report.diagnostics]
'''

LEFT = """\
{code} {name}: written, and in the tables. What is left:

1. {module}: the page, the words in its line `Needs`, and the check.
2. {tests}: manifests that must not be reported.
3. python -m tests.linter.examples: review what it records of the rule.
4. python -m pytest tests/linter {family}

docs/maintaining/adding.md says more. After a change of the identity: python schemas/update.py --rules
"""


class NewRule(NamedTuple):
    """A new rule's code, and its files, relative to the project."""

    code: str
    name: str
    module: Path
    tests: Path


def make_rule(name: str, like: str) -> NewRule:
    """Write the rule's files, and the tables again. Raises ValueError if the name is taken or has another form, if
    there is no such rule, or if its hundred has no free code.
    """
    lock = (ROOT / LOCK).read_text(encoding="utf-8")
    if not re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", name):
        raise ValueError(f"{name} is not words with hyphens")
    if name in lock.split():
        raise ValueError(f"{name} is taken: names are never reused")

    model = rule_named(like)
    if model is None:
        raise ValueError(f"there is no rule {like}")

    family = Path(*model.check.__module__.split(".")[:-1])
    stem = name.replace("-", "_")
    new = NewRule(
        code=free_code(lock, CODES[like]),
        name=name,
        module=family / f"{stem}.py",
        tests=Path("tests", *family.parts[1:], f"test_{stem}.py"),
    )
    page = (ROOT / family / f"{like.replace('-', '_')}.py").read_text(encoding="utf-8")
    identity = page.split("\n\n")[1].replace(f"{CODES[like]} {like}:", f"{new.code} {name}:")
    example = page.split("\nExample:")[1].split("\n\nFix:")[0]
    text = PAGE.format(identity=identity, example=example)
    (ROOT / new.module).write_text(text, encoding="utf-8")
    (ROOT / new.tests).write_text(TESTS.format(name=name), encoding="utf-8")
    (ROOT / LOCK).write_text(f"{lock}{new.code} {name}\n", encoding="utf-8")
    subprocess.run([sys.executable, ROOT / "schemas" / "update.py", "--rules"], check=True)

    return new


def free_code(lock: str, like: str) -> str:
    """Return the first code of this hundred that was never given out. Raises ValueError if there is none."""
    hundred = like[:-2]
    codes = (f"{hundred}{number:02}" for number in range(1, 100))
    free = next((code for code in codes if f"\n{code} " not in lock), None)
    if free is None:
        raise ValueError(f"{hundred}xx has no free code: take a rule with another one")
    return free


def main(argv: Sequence[str] | None = None) -> None:
    """Begin the rule that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.new_rule", description=__doc__)
    parser.add_argument("name", help="words with hyphens, such as idle-main-container")
    parser.add_argument("--like", metavar="RULE", required=True, help="a rule of the same family")
    options = parser.parse_args(argv)
    try:
        new = make_rule(options.name, options.like)
    except ValueError as error:
        parser.error(str(error))

    sys.stdout.write(LEFT.format(**new._asdict(), family=new.tests.parent))


if __name__ == "__main__":
    main()
