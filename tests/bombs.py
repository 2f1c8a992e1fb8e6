"""Texts that expand far beyond their size. As a program: run a verb on all of them with little memory."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import ptcompile
from fuzz.guard import limit_memory
from ptcompile.api import fix, requirements
from ptcompile.explainer.page import html
from tests import growing as many
from tests.making import gather, smallest

DOUBLED = (
    "env: {A0: xxxxxxxxxx, "
    + ", ".join(f"A{i}: $(A{i - 1})$(A{i - 1})" for i in range(1, 40))
    + "}"
)
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - name: a\n    image: a:1\n"
CHAIN = [f"A{i}=$A{i - 1}$A{i - 1}" for i in range(1, 40)]
SCRIPT = "\\n".join(["A0=xxxxxxxxxx", *CHAIN, "torchrun --nnodes=$A39 t.py"])
BOMBS = {
    "variables of a spec": smallest(DOUBLED),
    "variables of a pod": POD + "    env: [{name: A0, value: xxxxxxxxxx}, "
    + ", ".join(f"{{name: A{i}, value: $(A{i - 1})$(A{i - 1})}}" for i in range(1, 40)) + "]\n",
    "a script": POD + f'    command: [bash, -c, "{SCRIPT}"]\n',
    "aliases": "".join(f"a{i}: &a{i} [" + (f"*a{i - 1}, *a{i - 1}" if i else "x") + "]\n" for i in range(40)),
    "one long variable": POD + f"    env: [{{name: A, value: {'x' * 200_000}}}]\n    args: ['{'$(A)' * 1000}']\n",
    "separators": "---\n" * 200_000,
    "empty lines": "\n" * 5_000_000,
    "JSON": "{} " * 20_000,
    "tasks": many.tasks(1000, "svc: []"),
    "roles": many.spec_roles(1000),
    "pods": smallest("nodes: 2147483647"),
}  # fmt: skip
VERBS: dict[str, Callable[[str], object]] = {
    "lint": ptcompile.lint,
    "compile": lambda text: ptcompile.compile(text).yaml(),
    "simulate": lambda text: str(ptcompile.simulate(text).to_dict()),
    "simulate, all pods": lambda text: str(ptcompile.simulate(text).to_dict(all_pods=True)),
    "explain": lambda text: ptcompile.explain(text).text("env"),
    "page": lambda text: html(gather(text)),
    "diff": lambda text: ptcompile.diff(text, text.replace("x", "y", 1)).text(),
    "fix": lambda text: fix.fix(text, unsafe=True),
    "import": ptcompile.import_manifests,
    "convert": lambda text: ptcompile.convert(text, target="jobset"),
    "requires": ptcompile.requires,
    "platform": requirements.platform,
}


def main(verb: str) -> None:
    """Run a verb on all texts. Raises MemoryError or AssertionError if one needs too much memory or time."""
    do = VERBS[verb]
    do("apiVersion: v1")
    limit_memory(400 << 20)
    for name, text in BOMBS.items():
        began = time.process_time()
        do(text)
        took = time.process_time() - began
        assert took < 10 + len(text) / 100_000, (name, took)
    print("survived", len(BOMBS))


if __name__ == "__main__":
    main(sys.argv[1])
