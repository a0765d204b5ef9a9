# SPDX-License-Identifier: Apache-2.0
"""The example notebooks run from their first cell to their last."""

import nbclient
import nbformat
import pytest

from conftest import ROOT

FOLDER = ROOT / "examples/notebooks"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.name)
def test_a_notebook_runs(path):
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs are not committed"
    resources = {"metadata": {"path": FOLDER}}
    client = nbclient.NotebookClient(notebook, timeout=500, resources=resources)
    client.execute()
    assert any("image/svg" in str(cell.get("outputs")) or "<svg" in str(cell.get("outputs"))
               for cell in notebook.cells)
