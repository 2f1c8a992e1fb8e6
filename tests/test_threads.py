"""Eight threads at once get the same bytes; importing does not change the process."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import ptcompile
from ptcompile.operators.targets import TARGETS
from ptcompile.report import FORMATS, renderer
from tests.conftest import GOOD, thinned

ROOT = Path(__file__).parents[1]
THREADS = 8

FIRST_USE = """
import sys
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from threading import Barrier
import ptcompile
sys.setswitchinterval(1e-6)
text = Path(sys.argv[1]).read_text(encoding="utf-8")
barrier = Barrier(8)
def work(_):
    barrier.wait()
    made = ptcompile.compile(text)
    told = ptcompile.lint(text + "---\\n" + made.yaml())
    world = ptcompile.simulate(made.yaml())
    return sha256(repr((made.yaml(), told, world.to_dict())).encode()).hexdigest()
with ThreadPoolExecutor(8) as pool:
    print(len(set(pool.map(work, range(8)))), ptcompile.compile(text).ok)
"""

IMPORT = """
import builtins, json, logging, os, signal, sys, threading, warnings
import pydantic  # what others change when they are imported is theirs
from pathlib import Path
def state():
    return {
        "handlers": [len(logging.root.handlers), logging.root.level],
        "signals": [str(signal.getsignal(n)) for n in signal.valid_signals()],
        "path": list(sys.path),
        "hooks": [str(sys.excepthook), str(sys.displayhook), str(sys.unraisablehook), str(threading.excepthook)],
        "finders": [str(sys.meta_path), str(sys.path_hooks)],
        "warnings": [str(one) for one in warnings.filters],
        "limits": [sys.getrecursionlimit(), sys.get_int_max_str_digits(), sys.getswitchinterval()],
        "streams": [id(sys.stdin), id(sys.stdout), id(sys.stderr)],
        "threads": threading.active_count(),
        "environ": dict(os.environ), "cwd": os.getcwd(), "umask": os.umask(os.umask(0)),
        "builtins": sorted(vars(builtins)),
    }
reads = []
before = state()
class Watched(type(os.environ)):
    def __getitem__(self, key):
        frame = sys._getframe(1)
        while frame.f_globals["__name__"] in ("os", "_collections_abc"):
            frame = frame.f_back
        if frame.f_globals["__name__"].startswith("ptcompile"):
            reads.append(key)
        return super().__getitem__(key)
os.environ.__class__ = Watched
import ptcompile
ptcompile.compile(Path(sys.argv[1]).read_text(encoding="utf-8")).unwrap()
ptcompile.lint("kind: Pod")
os.environ.__class__ = Watched.__mro__[1]
after = state()
print(json.dumps({"changed": [k for k in before if before[k] != after[k]], "reads": reads}))
"""


def _work(name: str, text: str, target: str | None) -> tuple[object, ...]:
    made = ptcompile.compile(text, target=target, filename=name)
    report = ptcompile.lint(text, filename=name)
    reports = [renderer(form)(report.diagnostics, {name: text}) for form in FORMATS]
    return (
        made.yaml(),
        made.diagnostics,
        report,
        reports,
        ptcompile.simulate(text, target=target).to_dict(),
    )


def test_eight_threads_get_the_same_bytes() -> None:
    targets = [None, *TARGETS]
    inputs = [
        (case.name, case.spec, targets[i % len(targets)]) for i, case in enumerate(thinned(GOOD, 5))
    ]
    alone = [_work(*one) for one in inputs]
    barrier = Barrier(THREADS)

    def all_of_them(shift: int) -> list[tuple[object, ...]]:
        barrier.wait()
        order = [(i + shift * 5) % len(inputs) for i in range(len(inputs))]
        done = {i: _work(*inputs[i]) for i in order}
        return [done[i] for i in range(len(inputs))]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            results = list(pool.map(all_of_them, range(THREADS)))
    finally:
        sys.setswitchinterval(interval)
    assert all(result == alone for result in results)


def test_the_first_use_can_be_from_eight_threads() -> None:
    """Lazy modules and caches are loaded once, and no thread sees a partial state."""
    for _ in range(3):
        assert _run(FIRST_USE) == "1 True\n"


def test_import_and_use_do_not_change_the_process() -> None:
    outcome = json.loads(_run(IMPORT))
    assert outcome == {"changed": [], "reads": []}


def _run(script: str) -> str:
    """Run code in a fresh process in which every warning is an error."""
    words = [sys.executable, "-W", "error", "-c", script, str(GOOD[0].folder / "spec.yaml")]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
