# SPDX-License-Identifier: Apache-2.0
"""The package as pip makes it: the wheel is complete, and no build folder is needed."""

import os
import shutil
import subprocess
import sys
import venv

import pytest

from conftest import ROOT

USE = """
import sys, tessera
import numpy
column = numpy.arange(1, 4)
assert tessera.allocate(0 * column, column, column).peak == 6
assert tessera.__file__.startswith(sys.argv[1])
loaded = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
print(*loaded, sep="\\n")
"""


def pip(*arguments):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


@pytest.mark.skipif("TESSERA_BUILD" not in os.environ, reason="no build folder is named")
def test_a_wheel_is_complete(tmp_path):
    pip("wheel", "--no-build-isolation", "--no-deps", "--no-index", "-w", tmp_path, ROOT)
    [wheel] = tmp_path.glob("tessera-*.whl")
    pip("install", "--no-deps", "--no-index", "--target", tmp_path / "site", wheel)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    output = subprocess.run([sys.executable, "-c", USE, str(tmp_path)], env=environment, check=True,
                            capture_output=True, text=True, cwd=tmp_path).stdout
    for name in ("libtessera", "libz3", "libyaml-cpp", "libfmt"):
        [loaded] = [path for path in output.split() if f"/{name}.so" in path or f"/{name}-" in path]
        assert loaded.startswith(str(tmp_path)), loaded


PLAN = """
import sys, tessera
assert tessera.__file__.startswith(sys.prefix)
network = tessera.load_network(sys.argv[1] + "/examples/networks/patent_chain.yaml")
profile = tessera.Profile(sys.argv[1] + "/hw_profiles/edge_npu_1mib.yaml")
assert tessera.plan(network, profile).score == 2754
"""


def test_pip_builds_and_installs_a_source_tree(tmp_path):
    source = tmp_path / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns("build", ".git"), symlinks=True)
    venv.create(tmp_path / "clean", system_site_packages=True, with_pip=True)
    python = str(tmp_path / "clean/bin/python")
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("TESSERA_BUILD", "PYTHONPATH")}

    def run(*command):
        subprocess.run([python, *map(str, command)], env=environment, check=True, cwd=tmp_path,
                       stdout=subprocess.DEVNULL)

    run("-m", "pip", "install", "--no-build-isolation", "--no-index", source)
    run("-c", PLAN, ROOT)
    run("-m", "pip", "uninstall", "--yes", "tessera")
