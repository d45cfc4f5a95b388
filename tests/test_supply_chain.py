"""The bill of materials lists every pinned package and every vendored file, with hashes."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_bill_of_materials_is_complete():
    command = [sys.executable, ROOT / "scripts" / "sbom"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    components = json.loads(told)["components"]
    listed = {component["name"] for component in components}
    pinned = re.findall(r"^([\w.-]+)==", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    assert {name.lower() for name in pinned} <= listed
    assert all(component["hashes"] for component in components)
    assert any(name.endswith("preact.mjs") for name in listed)


def test_promises_name_tests_that_exist():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for path in re.findall(r"`(tests/[\w/.]+)`", text):
        assert (ROOT / path).exists(), path
