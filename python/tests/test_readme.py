"""The README's code runs and is typed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ADMIN_KEY

README = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```py\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
#: What the reader's program has.
GIVEN = """
from typing import Any
agent_key: str
consume_key: str
secret: str
stripe: Any
order: Any
request: Any
from purser import Purser, types
purser: Purser
adapter: Purser
accounts: dict[str, str]
bank: Any
action: types.Action
"""


def test_ten_lines_pay(service_url: str) -> None:
    lines = BLOCKS[0].strip().split("\n")
    assert len(lines) == 10
    assert lines[-1] == (
        'print(purser.spend({"idempotency_key": "order-1", "action": action}, pay, adapter=adapter))'
    )
    env = {**os.environ, "PURSER_KEY": ADMIN_KEY, "PURSER_BASE_URL": service_url}
    ran = subprocess.run([sys.executable, "-c", BLOCKS[0]], env=env, capture_output=True, text=True)
    assert ran.stderr == ""
    assert ran.stdout.startswith("Spent(status='paid'")
    assert "paid 5440 EUR" in ran.stdout


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_every_block_is_typed(checker: str, tmp_path: Path) -> None:
    tmp_path.joinpath("given.py").write_text(GIVEN)
    for number, block in enumerate(BLOCKS):
        given = "" if number == 0 else "from given import *\n"
        tmp_path.joinpath(f"block{number}.py").write_text(given + block)
    tmp_path.joinpath("pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
    options = ["--strict", "--no-incremental"] if checker == "mypy" else ["--pythonpath", sys.executable]
    ran = subprocess.run(
        [sys.executable, "-m", checker, *options, "."], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout
