"""Declared functions of CEL with their types: standard ones, cel-go's extensions, and Kubernetes'
libraries.

One overload per line: `name(argument types) -> result`, preceded by the type of the value for a
method. Capital letters are type parameters. Source: cel-go 0.26 `common/stdlib`, `ext`; apiserver
1.36 `pkg/cel/environment/base.go`, `pkg/cel/library`.
"""

from __future__ import annotations

from functools import cache

from ptcompile._internal.namedtuple import NamedTuple
from ptcompile.apiserver.cel.types import CelType, compose

_OPERATORS = """
_==_(A, A) -> bool
_!=_(A, A) -> bool
@in(A, list(A)) -> bool
@in(A, map(A, B)) -> bool
!_(bool) -> bool
-_(int) -> int
-_(double) -> double
_+_(int, int) -> int
_+_(uint, uint) -> uint
_+_(double, double) -> double
_+_(string, string) -> string
_+_(bytes, bytes) -> bytes
_+_(list(A), list(A)) -> list(A)
_+_(timestamp, duration) -> timestamp
_+_(duration, timestamp) -> timestamp
_+_(duration, duration) -> duration
_-_(int, int) -> int
_-_(uint, uint) -> uint
_-_(double, double) -> double
_-_(timestamp, timestamp) -> duration
_-_(timestamp, duration) -> timestamp
_-_(duration, duration) -> duration
_*_(int, int) -> int
_*_(uint, uint) -> uint
_*_(double, double) -> double
_/_(int, int) -> int
_/_(uint, uint) -> uint
_/_(double, double) -> double
_%_(int, int) -> int
_%_(uint, uint) -> uint
_[_](list(A), int) -> A
_[_](map(A, B), A) -> B
_[_](optional(list(A)), int) -> optional(A)
_[_](optional(map(A, B)), A) -> optional(B)
_[?_](list(A), int) -> optional(A)
_[?_](map(A, B), A) -> optional(B)
_[?_](optional(list(A)), int) -> optional(A)
_[?_](optional(map(A, B)), A) -> optional(B)
_?_:_(bool, A, A) -> A
_&&_(bool, bool) -> bool
_||_(bool, bool) -> bool
"""

_CONVERSIONS = """
bool(bool) -> bool
bool(string) -> bool
bytes(bytes) -> bytes
bytes(string) -> bytes
double(double) -> double
double(int) -> double
double(uint) -> double
double(string) -> double
duration(duration) -> duration
duration(int) -> duration
duration(string) -> duration
dyn(A) -> dyn
int(int) -> int
int(uint) -> int
int(double) -> int
int(string) -> int
int(duration) -> int
int(timestamp) -> int
string(string) -> string
string(bool) -> string
string(int) -> string
string(uint) -> string
string(double) -> string
string(bytes) -> string
string(timestamp) -> string
string(duration) -> string
string(IP) -> string
string(CIDR) -> string
timestamp(timestamp) -> timestamp
timestamp(int) -> timestamp
timestamp(string) -> timestamp
type(A) -> type(A)
uint(uint) -> uint
uint(int) -> uint
uint(double) -> uint
uint(string) -> uint
"""

_STRINGS = """
size(string) -> int
size(bytes) -> int
size(list(A)) -> int
size(map(A, B)) -> int
string.size() -> int
bytes.size() -> int
list(A).size() -> int
map(A, B).size() -> int
matches(string, string) -> bool
string.matches(string) -> bool
string.contains(string) -> bool
string.startsWith(string) -> bool
string.endsWith(string) -> bool
string.find(string) -> string
string.findAll(string) -> list(string)
string.findAll(string, int) -> list(string)
string.charAt(int) -> string
string.indexOf(string) -> int
string.indexOf(string, int) -> int
string.lastIndexOf(string) -> int
string.lastIndexOf(string, int) -> int
string.lowerAscii() -> string
string.upperAscii() -> string
string.replace(string, string) -> string
string.replace(string, string, int) -> string
string.split(string) -> list(string)
string.split(string, int) -> list(string)
string.substring(int) -> string
string.substring(int, int) -> string
string.trim() -> string
string.reverse() -> string
string.format(list(dyn)) -> string
strings.quote(string) -> string
list(string).join() -> string
list(string).join(string) -> string
"""

_TIMES = "".join(
    f"timestamp.{name}() -> int\ntimestamp.{name}(string) -> int\n"
    for name in (
        "getFullYear",
        "getMonth",
        "getDate",
        "getDayOfMonth",
        "getDayOfWeek",
        "getDayOfYear",
        "getHours",
        "getMinutes",
        "getSeconds",
        "getMilliseconds",
    )
) + "".join(
    f"duration.{name}() -> int\n"
    for name in ("getHours", "getMinutes", "getSeconds", "getMilliseconds")
)

_ORDERED = ("int", "uint", "double", "string", "bytes", "bool", "timestamp", "duration")
_NUMBERS = ("int", "uint", "double")
_LISTS = (
    """
list(A).indexOf(A) -> int
list(A).lastIndexOf(A) -> int
list(A).first() -> optional(A)
list(A).last() -> optional(A)
list(A).slice(int, int) -> list(A)
list(A).flatten() -> list(dyn)
list(A).flatten(int) -> list(dyn)
list(A).sort() -> list(A)
list(A).distinct() -> list(A)
list(A).reverse() -> list(A)
lists.range(int) -> list(int)
sets.contains(list(A), list(A)) -> bool
sets.equivalent(list(A), list(A)) -> bool
sets.intersects(list(A), list(A)) -> bool
optional.of(A) -> optional(A)
optional.none() -> optional(A)
optional.ofNonZeroValue(A) -> optional(A)
optional(A).hasValue() -> bool
optional(A).value() -> A
optional(A).or(optional(A)) -> optional(A)
optional(A).orValue(A) -> A
"""
    + "".join(
        f"list({item}).isSorted() -> bool\nlist({item}).min() -> {item}\nlist({item}).max() -> "
        f"{item}\n"
        for item in _ORDERED
    )
    + "".join(f"list({item}).sum() -> {item}\n" for item in ("int", "uint", "double", "duration"))
    + "".join(
        f"_{mark}_({a}, {b}) -> bool\n"
        for mark in ("<", "<=", ">", ">=")
        for a, b in [(kind, kind) for kind in _ORDERED]
        + [(a, b) for a in _NUMBERS for b in _NUMBERS if a != b]
    )
)

_KUBERNETES = """
url(string) -> URL
isURL(string) -> bool
URL.getScheme() -> string
URL.getHost() -> string
URL.getHostname() -> string
URL.getPort() -> string
URL.getEscapedPath() -> string
URL.getQuery() -> map(string, list(string))
quantity(string) -> Quantity
isQuantity(string) -> bool
Quantity.sign() -> int
Quantity.isInteger() -> bool
Quantity.asInteger() -> int
Quantity.asApproximateFloat() -> double
Quantity.add(Quantity) -> Quantity
Quantity.add(int) -> Quantity
Quantity.sub(Quantity) -> Quantity
Quantity.sub(int) -> Quantity
Quantity.isLessThan(Quantity) -> bool
Quantity.isGreaterThan(Quantity) -> bool
Quantity.compareTo(Quantity) -> int
ip(string) -> IP
isIP(string) -> bool
ip.isCanonical(string) -> bool
IP.family() -> int
IP.isUnspecified() -> bool
IP.isLoopback() -> bool
IP.isLinkLocalMulticast() -> bool
IP.isLinkLocalUnicast() -> bool
IP.isGlobalUnicast() -> bool
cidr(string) -> CIDR
isCIDR(string) -> bool
CIDR.containsIP(IP) -> bool
CIDR.containsIP(string) -> bool
CIDR.containsCIDR(CIDR) -> bool
CIDR.containsCIDR(string) -> bool
CIDR.ip() -> IP
CIDR.masked() -> CIDR
CIDR.prefixLength() -> int
semver(string) -> Semver
semver(string, bool) -> Semver
isSemver(string) -> bool
isSemver(string, bool) -> bool
Semver.major() -> int
Semver.minor() -> int
Semver.patch() -> int
Semver.isLessThan(Semver) -> bool
Semver.isGreaterThan(Semver) -> bool
Semver.compareTo(Semver) -> int
format.named(string) -> optional(Format)
Format.validate(string) -> optional(list(string))
""" + "".join(
    f"format.{name}() -> Format\n"
    for name in (
        "dns1123Label",
        "dns1123Subdomain",
        "dns1035Label",
        "qualifiedName",
        "dns1123LabelPrefix",
        "dns1123SubdomainPrefix",
        "dns1035LabelPrefix",
        "labelValue",
        "uri",
        "uuid",
        "byte",
        "date",
        "datetime",
    )
)

_AUTHORIZER = """
Authorizer.path(string) -> PathCheck
Authorizer.group(string) -> GroupCheck
Authorizer.serviceAccount(string, string) -> Authorizer
PathCheck.check(string) -> Decision
GroupCheck.resource(string) -> ResourceCheck
ResourceCheck.subresource(string) -> ResourceCheck
ResourceCheck.namespace(string) -> ResourceCheck
ResourceCheck.name(string) -> ResourceCheck
ResourceCheck.fieldSelector(string) -> ResourceCheck
ResourceCheck.labelSelector(string) -> ResourceCheck
ResourceCheck.check(string) -> Decision
Decision.allowed() -> bool
Decision.reason() -> string
Decision.errored() -> bool
Decision.error() -> string
jsonpatch.escapeKey(string) -> string
"""

_TYPE_NAMES = {
    "timestamp": "google.protobuf.Timestamp",
    "duration": "google.protobuf.Duration",
    "optional": "optional_type",
    "Quantity": "kubernetes.Quantity",
    "URL": "kubernetes.URL",
    "IP": "net.IP",
    "CIDR": "net.CIDR",
    "Semver": "kubernetes.Semver",
    "Format": "kubernetes.NamedFormat",
    **{
        name: f"kubernetes.authorization.{name}"
        for name in ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
    },
}
_NAMESPACES = frozenset(
    ("strings", "lists", "sets", "math", "ip", "format", "jsonpatch", "optional")
)


class Overload(NamedTuple):
    """Argument types, beginning with the value of a method, and the type of the result."""

    arguments: tuple[CelType, ...]
    result: CelType


def read_type(text: str) -> CelType:
    """Return the type that a text of this module's notation stands for."""
    name, _, rest = text.partition("(")
    if rest:
        return compose(_TYPE_NAMES.get(name, name), *map(read_type, _split(rest[:-1])))
    if len(name) == 1:
        return CelType(f"${name}")
    return CelType(_TYPE_NAMES.get(name, name))


def _split_call(text: str) -> tuple[str, str]:
    """Split `list(A).join(string)` into what is called and the arguments: the last brackets."""
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        depth += (text[index] == ")") - (text[index] == "(")
        if depth == 0:
            return text[:index], text[index + 1 : -1]
    return text, ""


def _split(text: str) -> list[str]:
    """Split at the commas outside of brackets."""
    parts = list[str]()
    depth = 0
    start = 0
    for index, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            parts.append(text[start:index])
            start = index + 2
    return [*parts, text[start:]] if text else []


class DeclaredOverloads(NamedTuple):
    """The overloads of functions and of methods, by name."""

    functions: dict[str, list[Overload]]
    methods: dict[str, list[Overload]]


@cache
def overloads() -> DeclaredOverloads:
    """Return all declared overloads."""
    functions: dict[str, list[Overload]] = {}
    methods: dict[str, list[Overload]] = {}
    for line in (
        _OPERATORS + _CONVERSIONS + _STRINGS + _TIMES + _LISTS + _KUBERNETES + _AUTHORIZER
    ).split("\n"):
        call, arrow, result = line.partition(" -> ")
        if not arrow:
            continue

        callee, arguments = _split_call(call)
        target, _, name = callee.rpartition(".")
        types = tuple(map(read_type, _split(arguments)))
        returned = read_type(result)
        if not target or target in _NAMESPACES:
            functions.setdefault(callee, []).append(Overload(types, returned))
        else:
            methods.setdefault(name, []).append(Overload((read_type(target), *types), returned))

    return DeclaredOverloads(functions, methods)
