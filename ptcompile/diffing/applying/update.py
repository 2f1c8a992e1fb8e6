"""What the rules of updates are: questions about a change of one object."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ptcompile.findings.diagnostics import Problem
from ptcompile.operators.record import Update

Rule = Callable[[Update], Iterator[Problem]]
