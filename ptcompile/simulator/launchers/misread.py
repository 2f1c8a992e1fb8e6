"""Words of a launch that its launcher takes for something else than was meant.

Source: Python 3.14, argparse: the first word that is no option and no value is the script, and
everything after it is the script's; an option begins with a hyphen, U+002D. The options are those
of `launchers` and `torchrun`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ptcompile._internal.lazy import Pattern
from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.kubernetes.commands import basename
from ptcompile.simulator.launchers import LAUNCHERS, option_table
from ptcompile.simulator.launchers.arguments import GivenOption, read_arguments
from ptcompile.simulator.launchers.rendezvous import variable_of
from ptcompile.simulator.launchers.torchrun import OPTIONS, is_literal, read_options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.simulator.launchers.command import Invocation


class MisreadWord(NamedTuple):
    """A word that is no option, no value or no script, though it looks like that."""

    word: str
    message: str
    help: str


_DASHES = "\u00ad\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
_SPACES = "\u00a0\u1680\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff"
_QUOTES = "\u2018-\u201f"
_find_look_alike = Pattern(f"[{_DASHES}{_SPACES}{_QUOTES}]").search
_is_dashed = Pattern(f"-{{0,2}}[{_DASHES}]+-?[A-Za-z]").match
_is_space = Pattern(f"[{_SPACES}]").match
_find_lost_option = Pattern(f"[{_SPACES}][-{_DASHES}]").search
_is_answer = Pattern(r"(?i)true|false|yes|no|on|off|\d{1,6}").fullmatch
_has_inner_option = Pattern(r"[^\0]--[A-Za-z]").search
_find_options = Pattern(r"--(?P<name>[A-Za-z][\w-]*)").finditer

_COUNTS = (
    *(
        "nnodes",
        "nproc-per-node",
        "num-processes",
        "rdzv-backend",
        "rdzv-endpoint",
        "rdzv-id",
        "rdzv-conf",
    ),
    *("standalone", "max-restarts", "hostfile", "no-ssh"),
)
"""Options by torchrun's names that no script is likely to have itself."""
_ADDRESSES = ("node-rank", "master-addr", "master-port")
"""Options that old scripts have too: in doubt they are the script's."""

_MODULES = {
    "torchrun": "torch.distributed.run",
    "accelerate": "accelerate.commands.launch",
    "deepspeed": "deepspeed.launcher.runner",
    "tune": "torchtune._cli.tune",
}
"""Programs that are no modules, or packages without a main module, with the module that each
starts.
"""


def launch_words(launch: Invocation) -> tuple[tuple[GivenOption, ...], tuple[str, ...]]:
    """Return the options of a launch, and the words from the script on."""
    launcher = LAUNCHERS.get(launch.launcher)
    if launcher is None:
        return read_options(launch.arguments)
    return read_arguments(option_table(launcher), launch.arguments)


def misread_word(launch: Invocation) -> MisreadWord | None:
    """Return the first word by which a launch certainly does not start what was meant, or None."""
    arguments = launch.arguments
    module = None
    if launch.program != launch.launcher:
        module = _unknown_module(launch.program.split() or launch.entry)
    if module is not None or not arguments:
        return module or _unknown_program(launch.entry[:1])

    given, entry = launch_words(launch)
    options = arguments[: len(arguments) - len(entry)]
    text = "\0".join([*options, *entry[:1]])

    return (
        (None if text.isascii() else _look_alike(launch, (*options, *entry[:1])))
        or (_glued_word(launch, given, entry) if _has_inner_option(text) else None)
        or _answer(launch, given, entry)
        or _valued_switch(launch, given)
    )


def lost_options(launch: Invocation) -> tuple[str, ...]:
    """Return the words after the script that look like options but begin with another sign than
    a hyphen.
    """
    entry = launch.entry
    if launch.arguments:
        _, entry = launch_words(launch)
    if "".join(entry).isascii():
        return ()
    return tuple([word for word in entry[1:] if _is_dashed(word) or _find_lost_option(word)])


def misplaced_options(launch: Invocation) -> tuple[str, ...]:
    """Return the launcher's options, as written, that the launcher passes on because they are
    after the script.
    """
    if not launch.arguments:
        return ()

    given, entry = launch_words(launch)
    if len(entry) < 2:
        return ()

    own = _own_names(launch)
    before = {option.name for option in given}
    written_names = [word.partition("=")[0] for word in entry[1:] if word.startswith("--")]
    own_names = [(written, written[2:].replace("_", "-")) for written in written_names]
    misplaced = [
        (written, own[name]) for written, name in own_names if name in own and name not in before
    ]
    names = [name for _, name in misplaced if name not in _ADDRESSES]
    is_told = launch.program != "tune run" and all(
        variable_of(launch.launcher, name) in launch.env for name in names
    )
    # the launcher may have what it needs from a variable, and the only option after the script may
    # be the script's
    if not names or (is_told and len(misplaced) == 1):
        return ()

    return tuple(dict.fromkeys(written for written, _ in misplaced))


def _own_names(launch: Invocation) -> dict[str, str]:
    """Return torchrun's names of the options that decide how many processes start and where they
    meet, keyed by the launcher's own names.
    """
    launcher = LAUNCHERS.get(launch.launcher)
    if launcher is None:
        return {name: name for name in (*_COUNTS, *_ADDRESSES) if name in OPTIONS}
    return {
        own: name for name, own in launcher.names.items() if name in _COUNTS or name in _ADDRESSES
    }


def _unknown_module(words: Sequence[str]) -> MisreadWord | None:
    """Return the program that a command line takes as a module or a file of Python."""
    for before, name in pairwise(words):
        if name.startswith("-") and before != "-m":
            continue
        if name not in _MODULES or not basename(words[0]).startswith(("python", "-m")):
            return None
        noun = "module" if before == "-m" else "file"
        message = f"Python finds no {noun} {name} to run: {name} is a program"
        return MisreadWord(name, message, f"write {name} alone, or python -m {_MODULES[name]}")
    return None


def _unknown_program(words: Sequence[str]) -> MisreadWord | None:
    """Return the program if a space that no shell knows joins it with its arguments."""
    for word in words:
        match = _find_look_alike(word)
        if match is not None and _is_space(match.group()):
            message = f"no program is called {word!r}: {_sign(match.group())} separates no words"
            return MisreadWord(word, message, "write a space, U+0020")
    return None


def _look_alike(launch: Invocation, words: Sequence[str]) -> MisreadWord | None:
    """Return a word before the script, or the script, with a sign that only looks like a hyphen,
    space or quote.
    """
    for word in words:
        match = None if word.isascii() else _find_look_alike(word)
        if match is None:
            continue
        sign = _sign(match.group())
        if _is_space(match.group()):
            return MisreadWord(
                word,
                f"{word!r} is one word: {sign} separates none",
                "write a space, U+0020",
            )
        if _is_dashed(word):
            message = (
                f"{_program(launch)} takes {word!r} as the script: it begins with {sign}, no hyphen"
            )
            return MisreadWord(word, message, "write two hyphens, --")
        if match.start() == 0 or match.end() == len(word):
            message = f"{sign} does not quote, but is part of the word {word!r}"
            return MisreadWord(word, message, "write straight quotes, or none")

    return None


def _program(launch: Invocation) -> str:
    return launch.program or launch.launcher


def _sign(sign: str) -> str:
    from unicodedata import name

    return f"U+{ord(sign):04X} ({name(sign, 'a control character').lower()})"


def _glued_word(
    launch: Invocation, given: Sequence[GivenOption], entry: Sequence[str]
) -> MisreadWord | None:
    """Return an option or a script with another option of the launcher at its end, for want of a
    space.
    """
    launcher = LAUNCHERS.get(launch.launcher)
    option_names = OPTIONS if launcher is None else {*launcher.names.values(), *launcher.flags}
    for value in [*[option.value or "" for option in given], *entry[:1]]:
        for match in _find_options(value):
            if match.start() and match["name"].replace("_", "-") in option_names:
                option = match.group()
                message = f"{value!r} is one word: {_program(launch)} reads no {option} in it"
                return MisreadWord(
                    value, message, f"write a space before {option}, outside of quotes"
                )

    return None


def _valued_switch(launch: Invocation, given: Sequence[GivenOption]) -> MisreadWord | None:
    """Return the switch that has a value after `=`, of a launcher other than torchrun."""
    launcher = LAUNCHERS.get(launch.launcher)
    if launcher is None:
        return None
    for option in given:
        if option.value is not None and option.name in launcher.flags:
            message = f"{launch.launcher} does not start with {option.written}: it takes no value"
            return MisreadWord(option.written, message, "remove the value")
    return None


def _answer(
    launch: Invocation, given: Sequence[GivenOption], entry: Sequence[str]
) -> MisreadWord | None:
    """Return the word after a switch that the launcher takes as the script, because a switch has
    no value.
    """
    last = given[-1] if given else None
    if not entry or entry[0].endswith(".py") or not is_literal(entry[0]):
        return None

    word = entry[0]
    names = {option.name for option in given}
    is_other = not names.isdisjoint({"module", "no-python", "m", "module-mode", "command-mode"})
    has_script = any(following.endswith(".py") for following in entry[1:])
    is_answer = _is_answer(word) is not None and (not is_other or has_script)
    is_value = (
        "." not in word
        and "/" not in word
        and not is_other
        and has_script
        and bool(misplaced_options(launch))
    )
    if not (is_answer or is_value):
        return None

    message = f"{_program(launch)} takes {word!r} as the script"
    if last is None or last.value is not None:
        return MisreadWord(word, message, f"remove {word}")

    is_off = word.lower() in ("false", "no", "off", "0")
    if is_off:
        help_text = f"remove {last.written} {word}"
    else:
        help_text = f"remove {word}: {last.written} alone switches it on"

    return MisreadWord(word, f"{last.written} takes no value: {message}", help_text)
