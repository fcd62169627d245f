from __future__ import annotations

from frameworks.examples import check_example


def test_the_example_leads_to_a_refusal(service_url: str) -> None:
    check_example(service_url, "langchain")
