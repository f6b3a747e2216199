"""A short share of every campaign, always the same trials."""

import pytest

from tests.campaigns.campaign import Campaign, campaigns, one_trial

FIRST = 20_000


@pytest.mark.parametrize(
    ("name", "campaign"), campaigns().items(), ids=lambda value: value if isinstance(value, str) else ""
)
def test_no_promise_is_broken(name: str, campaign: Campaign) -> None:
    findings = [one_trial(name, number) for number in range(FIRST, FIRST + campaign.share)]
    assert [str(finding) for finding in findings if finding is not None] == []
