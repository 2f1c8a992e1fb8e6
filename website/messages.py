"""A page for each message of logs, and the index of all of them."""

from __future__ import annotations

from itertools import groupby

from ptcompile.diagnosis.messages import Message, PossibleCause, messages
from ptcompile.diagnosis.pages import ROLES
from website.codes import prose


def pages() -> dict[str, str]:
    """The page of every message, and `messages/index.md`."""
    made = {f"messages/{message.id}.md": _page(message) for message in messages().values()}
    return {"messages/index.md": _index(), **made}


def _page(message: Message) -> str:
    """A page whose title is the message itself: that is what people search."""
    title = message.examples[0].strip().split("\n")[0]
    examples = "\n".join(message.examples)
    causes = (f"{number}. {_cause(cause)}" for number, cause in enumerate(message.causes, 1))
    parts = [
        f"# {prose(title)}",
        f"`{message.id}`: {prose(message.meaning)} This message {ROLES_IN_SENTENCES[message.role]}.",
        f"```text\n{examples}\n```",
        "## Causes\n\nThe likeliest first; `ptcompile explain --log` tests them against the manifest.\n\n"
        + "\n".join(causes),
        f"## What to do\n\n{prose(message.do)}"
        + (f" Look next at {prose(message.next)}." if message.next else ""),
        f"## Source\n\n{prose(message.source)}.",
        f"---\n\n`ptcompile explain {message.id}` prints this page offline. [All messages](index.md)\n"
        "{ data-search-exclude }",
    ]
    return "\n\n".join(parts)


ROLES_IN_SENTENCES = {
    role: text if text.startswith(("can", "says")) else f"is {text}" for role, text in ROLES.items()
}


def _cause(cause: PossibleCause) -> str:
    return prose(cause.text) + (f" ({cause.code})" if cause.code else "")


def _index() -> str:
    parts = [
        "# Messages\n\nWhat logs and events of distributed jobs say, what it means and what led to it. "
        "[From a log to the line](../guide/diagnose.md) shows how to find the first cause of many."
    ]
    for group, rows in groupby(messages().values(), key=lambda message: message.group):
        head = "| Message | What |\n|---|---|"
        lines = [
            f"| [{message.id}]({message.id}.md) | {prose(message.meaning)} |" for message in rows
        ]
        parts.append(
            f"## {group}\n\n{head}\n" + "\n".join(line.replace("\\|", "|") for line in lines)
        )
    return "\n\n".join(parts) + "\n"
