"""Who gives way under fair sharing, as Kueue's own tests say."""

from __future__ import annotations

import pytest

from tests.operators.kueue.scheduler.test_preemption import check
from tests.operators.kueue.scheduler.upstream import Case, case_name, cases


@pytest.mark.parametrize("case", cases("fair_preemption"), ids=case_name)
def test_fair_preemptions(case: Case) -> None:
    strategies = case.values.get("strategies", ())
    check(case, case.state({"fairSharing": {"preemptionStrategies": strategies} if strategies else {}}))
