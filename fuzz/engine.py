"""The two engines: one that changes seeds blindly and runs anywhere, and atheris, which is
guided by coverage.
"""

from __future__ import annotations

import random
import sys
import traceback
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from fuzz.guard import Guard, HangError
from fuzz.mutate import MAX_SIZE, enlarge, mutate

Tell = Callable[[str], None]
Make = Callable[[random.Random], bytes]


def blind(
    guard: Guard,
    seeds: Sequence[bytes],
    *,
    runs: int,
    seed: int,
    crashes: Path,
    tell: Tell,
    make: Make | None = None,
    large: bool = False,
) -> int:
    """Run the seeds, then `runs` inputs made of them or by `make`; the number of different crashes,
    each saved.

    Each input depends on its number alone, so that a run whose process ended goes on behind the
    input that ended it: as many as `guard.executions` says are left out.
    """
    found: dict[str, Path] = {}
    for number in range(guard.executions - len(seeds), runs):
        dice = random.Random(f"{seed}/{number}")
        data = seeds[number] if number < 0 else _made(dice, seeds, make)
        data = enlarge(data, dice) if large and number >= 0 else data
        try:
            guard(data)
        except (Exception, HangError) as error:
            place = _place(error)
            if place not in found:
                found[place] = save(data, crashes)
                tell(f"{place}: {str(error)[:200]}\n  {found[place]}")

        if number > 0 and number % 5_000 == 0:
            tell(
                f"{number} of {runs}, slowest {guard.slowest:.2f} s, {guard.grown() >> 20} MiB "
                "above the start"
            )

    return len(found)


def _made(dice: random.Random, seeds: Sequence[bytes], make: Make | None) -> bytes:
    """A changed seed; where there is a grammar, mostly what that makes."""
    if make is not None and dice.random() < 0.8:
        return make(dice)
    return mutate(dice.choice(seeds), dice, seeds)


def guided(
    guard: Guard, seeds: Sequence[bytes], *, runs: int, seed: int, crashes: Path, corpus: Path
) -> None:
    """Hand over to atheris. It ends the process, at the first crash or after `runs`."""
    import atheris

    crashes.mkdir(parents=True, exist_ok=True)
    for data in seeds:
        save(data, corpus)

    def once(data: bytes) -> None:
        try:
            guard(data)
        except (Exception, HangError) as error:
            sys.stderr.write(f"{_place(error)}: {error}\n  {save(data, crashes)}\n")
            raise

    def another(data: bytes, _size: int, number: int) -> bytes:
        return mutate(data, random.Random(number), seeds)

    words = [
        sys.argv[0],
        f"-runs={runs}",
        f"-seed={seed}",
        f"-max_len={MAX_SIZE}",
        "-timeout=60",
        "-rss_limit_mb=1024",
    ]
    setup: Any = atheris.Setup
    setup(
        [*words, "-print_final_stats=1", f"-artifact_prefix={crashes}/", str(corpus)],
        once,
        custom_mutator=another,
    )
    atheris.Fuzz()


def save(data: bytes, folder: Path) -> Path:
    """Keep an input under the digest of its bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / sha256(data).hexdigest()[:16]
    path.write_bytes(data)
    return path


def _place(error: BaseException) -> str:
    """What went wrong, and where in ptcompile unless it is an assertion; a crash is told once
    for each place.
    """
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    if not isinstance(error, AssertionError):
        last = next((one for one in reversed(frames) if "/ptcompile/" in one.filename), last)
    where = last.name if isinstance(error, HangError) else last.lineno  # a hang is seen at any line
    return f"{type(error).__name__} at {Path(last.filename).name}:{where}"
