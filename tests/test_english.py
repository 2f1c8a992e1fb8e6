"""The English of docs/maintaining/english.md, as far as a program can check it.

`english_exceptions.json` lists what is left of older text: phrases by file, names that shadow an
import or a function, and type names with two meanings. It only shrinks: an entry that no longer
occurs fails the test too. `python -m tests.test_english` rewrites it.
"""

from __future__ import annotations

import ast
import builtins
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from tests import sources
from tests.sources import PACKAGE

EXCEPTIONS = Path(__file__).parent / "english_exceptions.json"

PHRASES = {
    r"\b(is|are) told\b": "is given / gets / is reported",
    r"\btold of\b": "aware of; knows about",
    r"\b(what|whatever) is said\b": "the finding; what is reported",
    r"\bnothing is said\b": "no finding is reported",
    r"\b(is|are) asked (of|about|for)\b": "is checked / runs on / is requested",
    r"\b(they|it|rules?|module) (is|are) asked\b": "is evaluated, runs",
    r"\bwho (asks|reads|wrote|writes|knows)\b": "name the caller, pass or file",
    r"\b(it|kind|option|plugin|operator|Kubernetes|webhook) wants\b": "requires; must be",
    r"\bthose (who|whose)\b": "repeat the noun: callers that, kinds whose",
    r"\bfor people\b": "human-readable; as text",
    r"\b([Aa]n?|[Tt]he|no|each) words? of (a|the) spec\b": "a spec field",
    r"(?<!one )\bof (its|their|our) own\b": "its own X; separate; custom",
    r"\bbut for\b": "except; ignoring",
    r"\ball else\b": "everything else",
    r"\bas it stands\b": "as written; unchanged",
    r"\b(stays?|left|leaves?|keeps?) as (it is|they are)\b": "is left unchanged",
    r"\bNone where\b": ", or None if",
    r"\b[Ee]mpty where\b": ", or empty if",
    r"\b(is|are) not there\b": "is missing; does not exist",
    r"\bthat (is|are) there\b": "existing",
    r"\bwhat (is|are) (not|no)\b": "a noun: missing fields, non-mappings",
    r"\b[Ww]hat of\b": "the X fields that",
    r"\bfor what (is|has)\b": "for a value that is; for anything",
    r"\b(is|are) no "
    r"(mapping|list|text|number|error|default|difference|keys?|objects?|names?|nodes?|strings?|pods?"
    r"|containers?|members?|parts?|bug)\b": "is not a; are not",
    r"\b(has|have) not (the|it|got|so)\b": "does not have; lacks",
    r"\bis none\b(?! of)": "does not exist; is absent; is ignored",
    r"\bbeside (the|its|it|a|an|each|them|others?|another|their|node)\b": "next to; besides; auxiliary",
    r"\bbehind (it|the|them|those|its|this|each|others?)\b": "after",
    r"\b[Bb]lanks?\b": "space; whitespace",
    r"\b(mis)?spelt\b(?!-)": "spelled; misspelled",
    r"\bstands? (in|at|there|before|behind|below|above|alone|under|on|where|over|first|still)\b": "is; appears; comes",
    r"\bin front\b": "first; before it; prefixed",
    r"\b[Oo]f whatever\b": "of any",
    r"\bwhatever (it|the|is|they|was) ": "any; regardless of",
    r"\b(taken|takes?) (out|along|away)\b": "removes; includes",
    r"\bcomes? by\b": "appears; is read",
    r"\b(row|line|file|word|module|shell|patch|worker|hundred) an? "
    r"(row|line|file|word|module|shell|change|manager"
    r"|replicatedJob|GPU|rule|node|class|kind|document|process)\b": "one X per Y",
    r"\bof strangers\b": "untrusted",
    r"\b(once more|again and again|again each time)\b": "again; repeatedly; each time",
    r"\bin silence\b": "silently",
    r"\bhints of public types can be asked for\b": "so typing.get_type_hints works",
    r"\b([Hh]ow near|[Nn]earness)\b": "topology; placement constraint",
    r"\b(which counts|versions count)\b": "which takes effect; wins",
    r"\b[Tt]otal: any\b": "Accepts any data; never raises",
    r"\(rules? [0-9]+": "the Go function and release",
    r"\b(kubeflow|volcano|flyte|torchx_and_peers|sheet)\.md [0-9]": "a page of docs/facts, or project, release, file",
    r"\b(behaviour|colours?|modelled|licence)\b": "behavior, color, modeled, license",
}
"""Phrases that a native engineer would not write, and what to write instead."""

NOT_OURS = re.compile(
    r"\b(?:mends?|mended|nobody|anybody|somebody|anew|for ever|whole path|no such field|is "
    r"refused this"
    r"|beside the trainers|take the \w+ away|of the findings \()\b"
)
FINE = {"fails fails", "redis redis"}
"""Correct repetitions: "What fails fails the job", and image names."""
TWICE = re.compile(r"\b([a-z]{4,}) \1\b")
VOWEL = r"(?!(?:one|once|and|or|in|is|of|as|are|if|on|at|it|again)\b)(?:[aeio][a-z]+|u(?!ni|s[aeu]|til|biq)[a-z]+)"
CONSONANT = (
    r"(?!hour|heir|honest|honor|http\b|mpirun\b|mlPolicy\b)"
    r"(?:[b-df-hj-np-tv-z][a-z]+|uni[a-z]+|use[a-z]*|one\b)"
)
ARTICLE = re.compile(rf"(?<![\w'\"`./$-])(?:[Aa] {VOWEL}|[Aa]n {CONSONANT})")
"""An article that does not fit the sound of the next word. Only words in lower case are checked."""
JSON_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
NAMES = {"affinity-to-nobody", "mend", "Mended"}
"""Names of a rule and of functions."""
IDENTITY = re.compile(r"\n\nPTC\d{3} .*?(?=\n\n)", re.DOTALL)
"""The paragraph of a rule's docstring that is its identity: names, not prose."""


VAGUE = 12
"""Bindings of `one` and `found` in the package, at most."""


def _trees() -> dict[str, ast.Module]:
    return {path: module.tree for path, module in sources.package().items()}


@cache
def _texts() -> list[tuple[str, int, str]]:
    """Return the texts of the code and of the tables of facts, with path and line."""
    rows = [
        (path.relative_to(PACKAGE).as_posix(), number, text)
        for path in sorted(PACKAGE.rglob("*.json"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        for text in JSON_TEXT.findall(line)
    ]
    constants = [
        (path, node.lineno, IDENTITY.sub("", node.value))
        for path, tree in _trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return constants + rows


def _comments(path: str) -> Iterator[str]:
    """Yield the comments of a file; consecutive lines are one comment."""
    block: list[str] = []
    last = 0
    for line, comment in sources.package()[path].tokens.comments:
        if line != last + 1:
            yield " ".join(block)
            block = []
        block.append(comment.lstrip("# "))
        last = line
    yield " ".join(block)


def _phrases() -> dict[str, dict[str, int]]:
    """Return the phrases of each file with their counts; line breaks count as spaces."""
    patterns = [re.compile(pattern) for pattern in PHRASES]
    counts: dict[str, Counter[str]] = {}
    texts = [
        *((path, text) for path, _, text in _texts()),
        *((path, text) for path in sources.package() for text in _comments(path)),
    ]
    for path, text in texts:
        joined = " ".join(text.split())
        for pattern in patterns:
            for match in pattern.finditer(joined):
                counts.setdefault(path, Counter())[match[0].strip()] += 1
    return {path: dict(sorted(phrases.items())) for path, phrases in sorted(counts.items())}


def _type_names() -> list[str]:
    """Return the names of classes and type aliases that two or more modules define."""
    modules: dict[str, set[str]] = {}
    for path, tree in _trees().items():
        blocks = [tree.body, *(node.body for node in tree.body if isinstance(node, ast.If))]
        for node in chain.from_iterable(blocks):
            name = None
            if isinstance(node, ast.ClassDef):
                name = node.name
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name = node.target.id
            if name and re.match(r"_?[A-Z]\w*[a-z]", name):
                modules.setdefault(name, set()).add(path)
    return sorted(name for name, paths in modules.items() if len(paths) > 1)


def _shadows() -> list[str]:
    """Return `file: function: name` for each parameter or local that hides an import or a
    function of its module.
    """
    shadows = set()
    for path, tree in _trees().items():
        hidden: set[str] = set()
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                hidden |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.FunctionDef):
                hidden.add(node.name)
        for function in (
            node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)
        ):
            name = getattr(function, "name", "lambda")
            for inner in ast.walk(function):
                bound = inner.arg if isinstance(inner, ast.arg) else None
                if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                    bound = inner.id
                if bound in hidden:
                    shadows.add(f"{path}: {name}: {bound}")
    return sorted(shadows)


FINDERS: dict[str, Callable[[], object]] = {
    "phrases": _phrases,
    "shadows": _shadows,
    "type names": _type_names,
}
"""What finds the exceptions of each kind."""


@pytest.mark.parametrize("kind", FINDERS)
def test_no_exception_is_new_and_none_is_obsolete(kind: str) -> None:
    assert FINDERS[kind]() == json.loads(EXCEPTIONS.read_text(encoding="utf-8"))[kind]


def test_vague_names_are_rare() -> None:
    names = Counter(
        node.id if isinstance(node, ast.Name) else node.arg
        for tree in _trees().values()
        for node in ast.walk(tree)
        if (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
        or isinstance(node, ast.arg)
    )
    assert names["one"] + names["found"] <= VAGUE


def test_names_in_error_are_exceptions() -> None:
    bases = {
        node.name: {
            base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "")
            for base in node.bases
        }
        for tree in _trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }

    def is_exception(name: str) -> bool:
        builtin = getattr(builtins, name, None)
        if isinstance(builtin, type):
            return issubclass(builtin, BaseException)
        return any(map(is_exception, bases.get(name, ())))

    assert [name for name in bases if name.endswith("Error") and not is_exception(name)] == []


@pytest.mark.parametrize(
    "text", ["None where it is absent", "a row a change", "kinds beside it", "as it stands"]
)
def test_a_phrase_is_detected(text: str) -> None:
    assert any(re.search(pattern, text) for pattern in PHRASES)


def test_older_wordings_are_gone() -> None:
    matches = [
        f"{path}:{line}: {NOT_OURS.search(text)[0]}"  # type: ignore[index]
        for path, line, text in _texts()
        if text not in NAMES and NOT_OURS.search(text)
    ]
    assert matches == []


def test_no_word_is_repeated() -> None:
    matches = [
        f"{path}:{line}: {match[0]}"
        for path, line, text in _texts()
        for match in TWICE.finditer(text)
        if match[0] not in FINE
    ]
    assert matches == []


def test_articles_fit_the_next_word() -> None:
    matches = [
        f"{path}:{line}: {match[0]}"
        for path, line, text in _texts()
        for match in ARTICLE.finditer(text)
    ]
    assert matches == []


@pytest.mark.parametrize(
    "text",
    ["in a auxiliary role", "A operator", "a unknown field", "an role", "an unique name", "an one"],
)
def test_a_wrong_article_is_detected(text: str) -> None:
    assert ARTICLE.search(text)


def test_articles_follow_the_sound() -> None:
    fine = (
        "a user, a unit, a one-node job, an hour, a URL, an http URL, a use of an unknown word, "
        "side A is old"
    )
    assert not ARTICLE.search(fine)


def test_older_wordings_are_detected() -> None:
    assert TWICE.search("to the training code code")
    assert NOT_OURS.search("the place is not there; mend it")
    assert not NOT_OURS.search("recommended, amend")


if __name__ == "__main__":
    exceptions = {kind: find() for kind, find in FINDERS.items()}
    EXCEPTIONS.write_text(
        json.dumps(exceptions, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )
