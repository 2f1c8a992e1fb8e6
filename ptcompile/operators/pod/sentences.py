"""What the target pod writes on its own account, and why: one sentence for each field."""

from collections.abc import Mapping

from ptcompile.operators.common.sentences import NEVER

SENTENCES: Mapping[str, str] = {
    "restartPolicy": NEVER,
}
