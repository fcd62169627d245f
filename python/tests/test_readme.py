"""The README's code runs and is typed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import httpx2
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


def test_the_wheel_that_a_service_offers_pays(service_url: str, tmp_path: Path) -> None:
    offered = httpx2.get(f"{service_url}/packages/").json()["data"]
    wheel = next(each["url"] for each in offered if each["url"].endswith(".whl"))
    given = [
        "install",
        "--quiet",
        "--no-deps",
        "--disable-pip-version-check",
        "--target",
        str(tmp_path),
        wheel,
    ]
    subprocess.run([sys.executable, "-m", "pip", *given], check=True)
    program = f"import purser; assert purser.__file__.startswith({str(tmp_path)!r})\n{BLOCKS[0]}"
    program = program.replace("first-agent", "second-agent")
    env = {**os.environ, "PURSER_KEY": ADMIN_KEY, "PURSER_BASE_URL": service_url, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True)
    assert (ran.stderr, ran.stdout[:20]) == ("", "Spent(status='paid',")
    [installed] = metadata.distributions(path=[str(tmp_path)])
    needs = [each.split(";")[0] for each in installed.requires or [] if "extra ==" not in each]
    assert sorted(needs) == ["httpx2<3,>=2.12", "typing-extensions>=4.12"]


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
