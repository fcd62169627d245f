from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ADMIN_KEY = "sk_python_tests_0123456789abcdef"
AUTHORITY = {
    "purpose": {"objective": "Servers from Hetzner Online"},
    "currency": "EUR",
    "monthly_budget_minor": 10_000_000,
}


@pytest.fixture(scope="session")
def service_url() -> Iterator[str]:
    """A service of this clone on a port and data directory of its own, with an administrator's key."""
    data = tempfile.mkdtemp(prefix="purser-python-")
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PURSER_")},
        **{"PORT": "0", "DATA_DIR": data, "BOOTSTRAP_ADMIN_KEY": ADMIN_KEY, "BOOTSTRAP_PLAN": "enterprise"},
        **{"RATE_LIMIT_PER_MINUTE": "1000000", "LOG_LEVEL": "error"},
    }
    command = ["node", "scripts/run.mjs", "serve"]
    log = Path(data, "output.txt")
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=output, stderr=output)
    try:
        yield _address(process, log)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        shutil.rmtree(data, ignore_errors=True)


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    while True:
        text = log.read_text()
        found = re.search(r"http://(?:localhost|127\.0\.0\.1):(\d+)", text)
        if found is not None:
            return f"http://127.0.0.1:{found.group(1)}"
        if process.poll() is not None:
            raise RuntimeError(f"the service did not start:\n{text}")
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            pass


def openapi() -> dict[str, object]:
    document: dict[str, object] = json.loads((ROOT / "openapi.json").read_text())
    return document
