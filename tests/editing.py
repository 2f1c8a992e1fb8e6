"""Someone who edits a stream of manifests at random, for tests that compare what is kept with what is computed."""

from __future__ import annotations

from random import Random

from ptcompile.linter import every_rule
from ptcompile.linter.pages import rule_page
from tests.conftest import ROOT

_CRD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.acme.io}
spec:
  group: acme.io
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object}}}}
"""
OTHERS = (
    _CRD,
    "apiVersion: acme.io/v1\nkind: Widget\nmetadata: {name: w}\nspec: 1\n",
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: default, labels: {pod-security.kubernetes.io/warn: baseline}}\n",
    "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l}\nspec: {limits: [{type: Container, max: {cpu: 1}}]}\n",
    "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: 2, count/jobs.batch: 1}}\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: &m {name: c}\nimmutable: &n true\ndata: {a: *n}\n",
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: |\n  ---\n  a\n}\n",
    "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n- 1\n",
    "apiVersion: ptcompile/v1\nkind: TrainingJob\nmetadata: {name: t}\nspec: {image: 'a:1', script: t.py, node: 2}\n",
    "kind: [unclosed\n",
    "- a list\n",
    "{{ template }}\n",
    "name: '{{ value }}'\n",
    "%YAML 1.2\n",
)
_LINES = (
    "---\n",
    "--- \n",
    "---#\n",
    "...\n",
    "%YAML 1.1\n",
    "# Source: chart/a.yaml\n",
    "# ptcompile: ignore-file[PTC301]\n",
    "# ptcompile: ignore[PTC]\n",
    "\ufeff",
    "\r\n",
    "\t",
    "x: 1  # ptcompile: ignore[unknown-field]\n",
)


def examples() -> list[str]:
    """The bad examples of the rules, one text each, with documents that refer to one another."""
    return [rule_page(rule).bad for rule in every_rule()]


def goldens() -> list[str]:
    paths = sorted((ROOT / "golden").rglob("*.yaml"))
    return [
        text for text in (path.read_text(encoding="utf-8") for path in paths) if len(text) < 6_000
    ]


class Editor:
    """Someone who types into a stream at random."""

    def __init__(self, random: Random, texts: list[str]) -> None:
        self.random = random
        self.text = "---\n".join(f"{text}\n" for text in random.sample(texts, random.randint(1, 6)))

    def edit(self) -> None:
        """Change the text in one of the ways that people do."""
        ways = (
            self._type,
            self._type,
            self._type,
            self._erase,
            self._line,
            self._document,
            self._copy,
            self._move,
        )
        self.random.choice((*ways, self._rename, self._rename, self._comment, self._value))()

    def _splice(self, start: int, end: int, new: str) -> None:
        self.text = self.text[:start] + new + self.text[end:]

    def _place(self) -> int:
        return self.random.randint(0, len(self.text))

    def _type(self) -> None:
        place = self._place()
        self._splice(place, place, self.random.choice("abz019 :-#'{}[]\n\t&*!|>"))

    def _erase(self) -> None:
        place = self._place()
        self._splice(place, place + self.random.choice((1, 1, 2, 30, 300)), "")

    def _line(self) -> None:
        """Insert or take away a line."""
        start = self.text.rfind("\n", 0, self._place()) + 1
        if self.random.random() < 0.5:
            self._splice(start, start, self.random.choice(_LINES))
        else:
            self._splice(start, self.text.find("\n", start) + 1 or len(self.text), "")

    def _parts(self) -> list[str]:
        return self.text.split("---\n")

    def _document(self) -> None:
        parts = self._parts()
        parts.insert(self.random.randint(0, len(parts)), self.random.choice(OTHERS))
        self.text = "---\n".join(parts)

    def _copy(self) -> None:
        parts = self._parts()
        parts.insert(self.random.randint(0, len(parts)), self.random.choice(parts))
        self.text = "---\n".join(parts[:12])

    def _move(self) -> None:
        parts = self._parts()
        self.random.shuffle(parts)
        self.text = "---\n".join(parts[: self.random.randint(1, 12)])

    def _rename(self) -> None:
        """Replace a word of one document, which others may have too."""
        parts = self._parts()
        index = self.random.randrange(len(parts))
        words = parts[index].split()
        if words:
            word = self.random.choice(words)
            new = self.random.choice((*words, f"{word}x", word[:-1], "default"))
            parts[index] = parts[index].replace(word, new, self.random.choice((1, -1)))
        self.text = "---\n".join(parts)

    def _comment(self) -> None:
        end = self.text.find("\n", self._place())
        if end >= 0:
            self._splice(
                end,
                end,
                self.random.choice(
                    ("  # ptcompile: ignore[PTC]", " # {{ a }}", " # $(X) ${X}", "\r")
                ),
            )

    def _value(self) -> None:
        place = self.text.find(": ", self._place()) + 2
        if place > 1:
            self._splice(
                place,
                self.text.find("\n", place),
                self.random.choice(("2", "true", "null", "a", "[]", "{}")),
            )
