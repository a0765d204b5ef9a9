# SPDX-License-Identifier: Apache-2.0
"""The example programs print what their pages show."""

import subprocess
import sys

import pytest

from conftest import ROOT


@pytest.mark.parametrize(
    "program, page", [("executorch_specs", "executorch"), ("usmp_buffers", "usmp")]
)
def test_a_page_shows_the_output_of_its_program(program, page):
    command = [sys.executable, str(ROOT / f"examples/programs/{program}.py")]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    shown = "".join(f"    {line}\n" for line in output.splitlines())
    text = (ROOT / f"docs/{page}.md").read_text()
    assert shown in text and f"examples/programs/{program}.py\n{shown}" in text
