"""Runs the programs of examples/frameworks as their readers do."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from purser import Purser
from tests.conftest import ADMIN_KEY, ROOT

GUIDE = ROOT / "docs" / "guides" / "frameworks.md"


def check_example(service_url: str, name: str) -> None:
    """The example prints what the guide says: the first invoice is paid, the second one is denied."""
    printed = re.search(r"## What you see\n.*?```\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert printed is not None
    with Purser(ADMIN_KEY, base_url=service_url, timeout=60) as admin:
        agent = admin.agents.create(
            {
                **{"slug": f"example-{name}", "mode": "ENFORCE"},
                "authority": {
                    "purpose": {"objective": "Servers from Hetzner Online for staging"},
                    **{"currency": "EUR", "per_transaction_limit_minor": 20_000},
                    "monthly_budget_minor": 150_000,
                },
            }  # type: ignore[typeddict-item]
        )
        key = admin.api_keys.create({"name": name, "agent_id": agent["id"]})["key"]
        program = ROOT / "examples" / "frameworks" / name / "agent.py"
        env = {**os.environ, "PURSER_BASE_URL": service_url, "PURSER_AGENT_KEY": key}
        ran = subprocess.run([sys.executable, program], env=env, capture_output=True, text=True, timeout=120)
        assert (ran.returncode, ran.stdout) == (0, printed.group(1)), ran.stderr
        decisions = list(admin.decisions.list(agent=f"example-{name}", order="asc"))
        assert [each["decision"] for each in decisions] == ["ALLOW", "DENY"]
