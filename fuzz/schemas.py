"""Generated CRDs and JSON Schemas of strangers, with objects of their kinds: most of them sound,
parts of them not.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import jsonschema  # noqa: F401 - takes a second to load, which is no input's

from fuzz.mutate import MAX_SIZE, mutate
from ptcompile.source.emitter import emit_all

TYPES = ("string", "integer", "number", "boolean", "object", "array")
FIELDS = ("a", "b", "s", "n", "l", "m", "type", "namespace", "a-b", "__x__", "replicas")
PATTERNS = (
    "^[a-z]+$", "(a|a)*b", "^(a|aa)+$", "(a?){30}a{30}", "(x+x+)+y", "[", "(?=a)", "\\pL+", "^(\\d{1,3}\\.){3}", "",
    "(?i)x", "a{1000}", "((a{9}){9}){9}", "\\", "(?P<x>a)", "[[:alpha:]]+", "^" + "(a|b)?" * 40 + "$", "\\C", "(" * 99,
)  # fmt: skip
FORMATS = (
    "date-time",
    "date",
    "duration",
    "byte",
    "uuid",
    "ipv4",
    "int32",
    "int64",
    "double",
    "uri",
    "cidr",
    "x",
    "",
)
TEXTS = (
    "", "a", "a" * 29, "a" * 300, "1Gi", "10.0.0.1", "10.0.0.0/8", "https://u@h:1/p?q=1", "2026-01-01T00:00:00Z", "-1",
    "1h", "x\x00y", "\x1b[31m", "é", "👩‍🚀", "$ref", "self", "true", "1e400", "9" * 40, "a.b.c", "{{ x }}",
)  # fmt: skip
NUMBERS = (0, 1, -1, 2, 7, 100, 2**31, 2**63 - 1, 2**63, -(2**63), 10**30, 0.5, -0.0, 1e308)
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 1e20, "", "x", "(", "self", [], {}, [1], {"a": 1}, [None], [[]], [{}], ["a", "a"],
    {"type": "string"}, [{"rule": 1}], [{"rule": "self"}], [{"rule": "false", "fieldPath": 5}], {"$ref": "#"},
)  # fmt: skip
KEYWORDS = (
    "type", "enum", "pattern", "minLength", "maxLength", "minimum", "maximum", "multipleOf", "format", "maxItems",
    "minItems", "maxProperties", "minProperties", "required", "items", "additionalProperties", "properties", "allOf",
    "anyOf", "oneOf", "not", "nullable", "default", "x-kubernetes-list-type", "x-kubernetes-list-map-keys",
    "x-kubernetes-validations", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-embedded-resource", "$ref", "description", "exclusiveMinimum", "uniqueItems", "x-decoded", "x-logic",
    "x-rules", "x-ruled", "x-in-crd", "x-since", "definitions", "const", "if", "then", "patternProperties",
)  # fmt: skip


def stream(dice: random.Random) -> bytes:
    """A CRD or a JSON Schema and some objects of its kind, as one stream; a part of them mutated
    as any text is.
    """
    data = next(data for data in iter(lambda: _whole(dice), b"") if len(data) <= MAX_SIZE)
    return mutate(data, dice, ()) if dice.random() < 0.3 else data


def _whole(dice: random.Random) -> bytes:
    schema = _root(dice)
    plain = dice.random() < 0.25
    documents = [_json_schema(schema, dice) if plain else crd(schema, dice)]
    documents += [_object(schema, dice) for _ in range(dice.choice((1, 2, 2, 3)))]
    for _ in range(dice.choice((0, 0, 0, 1, 2, 8))):
        _spoil(dice.choice(documents), dice)
    if dice.random() < 0.5:
        return "\n---\n".join(map(json.dumps, documents)).encode()
    return emit_all(documents).encode("utf-8", "replace")


def _odd(dice: random.Random) -> Any:
    return json.loads(json.dumps(dice.choice(ODD)))


def crd(schema: Any, dice: random.Random) -> dict[str, Any]:
    """The definition of the kind Foo of x.io/v1."""
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    if dice.random() < 0.3:
        version["subresources"] = {"status": {}}
    names = {"kind": "Foo", "plural": "foos"}
    spec = {"group": "x.io", "names": names, "scope": "Namespaced", "versions": [version]}

    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "foos.x.io"},
        "spec": spec,
    }


def _root(dice: random.Random) -> dict[str, Any]:
    root = _object_schema(dice, 3)
    root["properties"] = {"spec": _schema(dice, 3), **root.get("properties", {})}
    return root


def _json_schema(schema: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """A schema as people keep them for kubeconform: with definitions, references and other
    dialects.
    """
    draft = dice.choice(
        ("http://json-schema.org/schema#", "https://json-schema.org/draft/2020-12/schema", "x")
    )
    out = {"$schema": draft, **schema}
    if dice.random() < 0.5:
        out["definitions"] = {
            "d": _schema(dice, 2),
            "e": {"$ref": dice.choice(("#/definitions/d", "#", "#/x", "a"))},
        }
        out["properties"]["d"] = {
            "$ref": dice.choice(("#/definitions/d", "#/definitions/e", "#", "http://x/", "f"))
        }

    return out


def _schema(dice: random.Random, depth: int) -> Any:
    """One node of a structural schema: with a probability for each keyword, and some that do not
    fit its type.
    """
    kind = dice.choice(TYPES if depth else TYPES[:4])
    make = {"object": _object_schema, "array": _array_schema}.get(
        kind, lambda dice, _: _scalar_schema(kind, dice)
    )
    node = make(dice, depth)
    if dice.random() < 0.15:
        node["nullable"] = True
    if dice.random() < 0.2:
        node["default"] = value(node, dice, 2)
    if dice.random() < 0.2:
        node["enum"] = [value(node, dice, 2) for _ in range(dice.choice((1, 2, 2, 5, 200)))]
    if dice.random() < 0.3:
        node["x-kubernetes-validations"] = [_rule(dice) for _ in range(dice.choice((1, 1, 2, 4)))]
    if depth and dice.random() < 0.1:
        node[dice.choice(("allOf", "anyOf", "oneOf"))] = [
            _schema(dice, 0),
            _schema(dice, 0),
        ] * dice.choice((1, 1, 40))
    if depth and dice.random() < 0.04:
        node["not"] = _schema(dice, 0)
    if depth and dice.random() < 0.02:
        node = _deep(node, dice)
    if dice.random() < 0.03:
        node["$ref"] = dice.choice(
            ("#", "#/definitions/d", "http://x/y", "file:///etc/passwd", "x")
        )
    if dice.random() < 0.04:
        node[dice.choice(KEYWORDS)] = _odd(dice)

    return node


def _deep(node: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """A node so many levels below another; JSON and YAML of twice this depth are read."""
    for _ in range(dice.choice((5, 20, 80))):
        node = dice.choice(
            (
                {"type": "array", "items": node},
                {"type": "object", "properties": {"a": node}},
                {"allOf": [node, {"not": node}] if dice.random() < 0.02 else [node]},
                {"not": node},
            )
        )

    return node


def _object_schema(dice: random.Random, depth: int) -> dict[str, Any]:
    node: dict[str, Any] = {"type": "object"}
    names = dice.sample(FIELDS, dice.choice((0, 1, 2, 3, 3)))
    if names:
        node["properties"] = {name: _schema(dice, max(0, depth - 1)) for name in names}
        if dice.random() < 0.5:
            node["required"] = dice.sample(names, dice.randrange(len(names) + 1))
    if dice.random() < 0.2:
        node["additionalProperties"] = dice.choice((True, False, _schema(dice, 0)))
    for key in ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"):
        if dice.random() < 0.1:
            node[key] = True
    for key in ("minProperties", "maxProperties"):
        if dice.random() < 0.1:
            node[key] = dice.choice((0, 1, 3, -1))

    return node


def _array_schema(dice: random.Random, depth: int) -> dict[str, Any]:
    node: dict[str, Any] = {"type": "array", "items": _schema(dice, depth - 1)}
    if dice.random() < 0.4:
        kind = node["x-kubernetes-list-type"] = dice.choice(("atomic", "set", "map", "map", "x"))
        if kind == "map" or dice.random() < 0.1:
            node["items"] = _object_schema(dice, 1)
            names = list(node["items"].get("properties", ())) or ["a"]
            node["x-kubernetes-list-map-keys"] = dice.sample(
                names, dice.randrange(1, len(names) + 1)
            )

    for key in ("minItems", "maxItems"):
        if dice.random() < 0.2:
            node[key] = dice.choice((0, 1, 2, 50))
    if dice.random() < 0.1:
        node["uniqueItems"] = dice.random() < 0.5

    return node


def _scalar_schema(kind: str, dice: random.Random) -> dict[str, Any]:
    node: dict[str, Any] = {"type": kind}
    if dice.random() < 0.08:
        return {"x-kubernetes-int-or-string": True}

    if kind == "string":
        if dice.random() < 0.4:
            node["pattern"] = dice.choice(PATTERNS)
        if dice.random() < 0.3:
            node["format"] = dice.choice(FORMATS)
        if dice.random() < 0.3:
            node[dice.choice(("minLength", "maxLength"))] = dice.choice((0, 1, 5, 100))
    elif kind != "boolean":
        for key in ("minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"):
            if dice.random() < 0.15:
                node[key] = dice.choice((*NUMBERS, True))

    return node


def _rule(dice: random.Random) -> dict[str, Any]:
    rule: dict[str, Any] = {"rule": expression(dice, dice.choice((1, 2, 3, 4)))}
    if dice.random() < 0.1:
        rule["rule"] = _hostile(dice)
    if dice.random() < 0.4:
        rule["message"] = dice.choice(TEXTS)
    if dice.random() < 0.2:
        rule["messageExpression"] = expression(dice, 2)
    if dice.random() < 0.2:
        rule["fieldPath"] = dice.choice((".a", ".spec.a", ".l[0]", "a", "", ".", "['a-b']"))
    if dice.random() < 0.2:
        rule["reason"] = dice.choice(("FieldValueInvalid", "FieldValueRequired", "x"))
    if dice.random() < 0.1:
        rule["optionalOldSelf"] = True

    return rule


_ATOMS = (
    "self", "self", "self.a", "self.b", "self.s", "self.l", "self.m", "self.__namespace__", "self.a__dash__b",
    "oldSelf", "oldSelf.a", "true", "false", "null", "0", "1", "-1", "2u", "1.5", "9223372036854775807", "''", "'x'",
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'", "b'x'", "[]", "[1, 2, 3]", "['a', 'b']", "{'a': 1}", "x", "y", "int",
    "duration('1h')", "timestamp('2026-01-01T00:00:00Z')", "quantity('1Gi')", "url('https://h/p')", "ip('10.0.0.1')",
    "cidr('10.0.0.0/8')", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]", "optional.none()", "r'\\d'", "(1)", "dyn(1)",
)  # fmt: skip
_FORMS = (
    "{} == {}", "{} != {}", "{} < {}", "{} && {}", "{} || {}", "{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} % {}",
    "{} in {}", "!{}", "-{}", "{} ? {} : {}", "{}[{}]", "size({})", "{}.size()", "has(self.a) && {}", "has({}.a)",
    "{}.all(x, {})", "{}.exists(x, {})", "{}.exists_one(x, {})", "{}.map(x, {})", "{}.filter(x, {})",
    "{}.map(x, {}, {})", "{}.all(x, {}.all(y, {}))", "{}.startsWith({})", "{}.endsWith({})", "{}.contains({})",
    "{}.matches({})", "{}.matches('(a|a)*b')", "{}.find({})", "{}.findAll({})", "{}.replace({}, {})", "{}.split({})",
    "{}.join({})", "{}.join()", "{}.lowerAscii()", "{}.trim()", "{}.substring({})", "{}.charAt({})", "{}.indexOf({})",
    "int({})", "string({})", "double({})", "uint({})", "bytes({})", "type({})", "dyn({})", "duration({})",
    "timestamp({})", "{}.getHours()", "quantity({})", "isQuantity({})", "{}.isGreaterThan({})", "{}.compareTo({})",
    "isURL({})", "url({}).getHost()", "isIP({})", "ip({}).family()", "isCIDR({})", "{}.containsIP({})", "{}.sum()",
    "{}.min()", "{}.isSorted()", "{}.format([{}])", "'%s %d'.format([{}, {}])", "{}.a", "{}.?a.orValue({})", "[{}, {}]",
    "{{'a': {}, 'b': {}}}", "cel.bind(x, {}, {})", "{}.transformList(x, y, {})", "sets.contains({}, {})", "({})",
    "math.greatest({}, {})", "lists.range({})", "{}.reverse()", "{}.flatten()", "base64.encode({})",
)  # fmt: skip


def expression(dice: random.Random, depth: int) -> str:
    """An expression of CEL: read by its grammar, and seldom sound in its types."""
    if depth <= 0 or dice.random() < 0.15:
        return dice.choice(_ATOMS)
    form = dice.choice(_FORMS)
    return form.format(*(expression(dice, depth - 1) for _ in range(form.count("{}"))))


def _hostile(dice: random.Random) -> str:
    """An expression that takes time or memory as a power of its length, or that is not one at
    all.
    """
    count = dice.choice((2, 5, 10, 40))
    ten = "[0,1,2,3,4,5,6,7,8,9]"
    macro = dice.choice(("all", "exists", "map", "filter", "exists_one"))
    makers: tuple[Callable[[], str], ...] = (
        lambda: f"{ten}.{macro}(x, " * count + "true" + ")" * count,
        lambda: (
            f"['{'a' * count}']"
            + "".join(f".map(x{i}, x{i}{f'+x{i}' * 15})" for i in range(count))
            + ".size() > 0"
        ),
        lambda: "self.map(x, " * count + "self" + ")" * count + " == []",
        lambda: "'aaaaaaaa'" + ".replace('a', 'aaaaaaaaaaaaaaaa')" * count + " == ''",
        lambda: "(" * 50 * count + "1" + ")" * 50 * count,
        lambda: "!" * 100 * count + "true",
        lambda: " && ".join(["self == self"] * 10 * count),
        lambda: "'" + "a" * 20 * count + "'.matches('" + dice.choice(PATTERNS) + "')",
        lambda: "self" + ".a" * 20 * count,
        lambda: "[" * 20 * count + "]" * 20 * count + " == []",
        lambda: "1" + " + 9223372036854775807" * count + " > 0",
        lambda: "'%s'.format([" * count + "1" + "])" * count,
        lambda: dice.choice(
            (
                "",
                " ",
                "self ==",
                "'",
                "self.",
                "a b",
                "\x00",
                "é",
                "/* */",
                "// x",
                "self;",
                "1 = 1",
            )
        ),
    )

    return dice.choice(makers)()


def value(schema: Any, dice: random.Random, depth: int) -> Any:
    """A value that mostly fits a schema."""
    if dice.random() < 0.06 or not isinstance(schema, dict):
        return _odd(dice)

    enum = schema.get("enum")
    if isinstance(enum, list) and enum and dice.random() < 0.7:
        return dice.choice(enum)

    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        return _mapping(schema, dice, depth)
    if kind == "array":
        count = (
            dice.choice((0, 1, 2, 3, 3, 40, 400) if depth == 1 else (0, 1, 2, 3)) if depth else 1
        )
        some = [
            value(schema.get("items"), dice, max(0, depth - 1)) for _ in range(min(count, 5))
        ] or [None]
        return [some[i % len(some)] for i in range(count)]

    scalars: dict[str, tuple[Any, ...]] = {
        "string": TEXTS, "integer": NUMBERS[:10], "number": NUMBERS, "boolean": (True, False),
    }  # fmt: skip

    return dice.choice(scalars.get(str(kind), (*TEXTS, *NUMBERS)))


def _mapping(schema: dict[str, Any], dice: random.Random, depth: int) -> dict[str, Any]:
    properties = schema.get("properties")
    out: dict[str, Any] = {}
    for name, child in properties.items() if isinstance(properties, dict) else ():
        if depth and dice.random() < 0.8:
            out[name] = value(child, dice, depth - 1)
    if isinstance(schema.get("additionalProperties"), dict):
        out.update(
            {
                f"k{i}": value(schema["additionalProperties"], dice, 0)
                for i in range(dice.choice((0, 1, 2, 30)))
            }
        )
    if dice.random() < 0.08:
        out[dice.choice((*FIELDS, "", "$ref", "é", "\x1b"))] = _odd(dice)

    return out


def _object(schema: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    body = _mapping(schema, dice, 4)
    return {
        "apiVersion": "x.io/v1",
        "kind": "Foo",
        "metadata": {"name": dice.choice(("a", "a", "b"))},
        **body,
    }


def _spoil(document: Any, dice: random.Random) -> None:
    """Give some value of a document a wrong type, or a schema's node a keyword with one."""
    boxes: list[Any] = []
    stack: list[Any] = [document]
    while stack:
        box = stack.pop()
        boxes.append(box)
        stack += [
            inner
            for inner in (box.values() if isinstance(box, dict) else box)
            if isinstance(inner, dict | list)
        ]

    box = dice.choice(boxes)
    odd = _odd(dice)
    if isinstance(box, list):
        box.append(odd)
    elif box and dice.random() < 0.6:
        box[dice.choice(list(box))] = odd
    else:
        box[dice.choice(KEYWORDS)] = odd
