"""Label selectors, as the API server and the scheduler read them."""

from __future__ import annotations

from ptcompile.kubernetes.untyped import items, string_map, text, texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ptcompile.kubernetes.untyped import Json


def selects(selector: Json, labels: Json) -> bool:
    """Whether a label selector selects these labels; an empty one selects all. An unknown operator is taken to hold."""
    if not string_map(selector.get("matchLabels")).items() <= labels.items():
        return False
    return all(_holds(one, labels) for one in items(selector.get("matchExpressions")))


def _holds(expression: Json, labels: Json) -> bool:
    key, values = text(expression.get("key")), texts(expression.get("values"))
    known: dict[str, bool] = {
        "In": labels.get(key) in values,
        "NotIn": labels.get(key) not in values,
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }
    return known.get(text(expression.get("operator")), True)
