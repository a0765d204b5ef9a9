# SPDX-License-Identifier: Apache-2.0
"""Builds the extension of the Python package, and copies the libraries that it needs, with CMake.

TESSERA_BUILD names a build folder that is configured already; else build/wheel becomes one.
"""

import os
import pathlib
import re
import subprocess
import sys

import setuptools
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).parent.resolve()


def version():
    header = (ROOT / "api/version.h").read_text()
    return ".".join(re.findall(r"define TESSERA_VERSION_[MP]\w+ (\d+)", header))


class CMakeBuild(build_ext):
    """The component `python` of the CMake project is the whole content of the package."""

    def build_extension(self, extension):
        given = os.environ.get("TESSERA_BUILD")
        folder = str(ROOT / (given or "build/wheel"))
        package = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve().parent
        if not given:
            subprocess.run(["cmake", "-S", str(ROOT), "-B", folder, "-G", "Ninja",
                            "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_UNITY_BUILD=ON",
                            "-DTESSERA_TESTS=OFF", f"-DTESSERA_PYTHON={sys.executable}"],
                           check=True)
        subprocess.run(["cmake", "--build", folder, "--target", "tessera_python"], check=True)
        subprocess.run(["cmake", "--install", folder, "--prefix", str(package.parent),
                        "--component", "python"], check=True)


setuptools.setup(
    version=version(),
    packages=["tessera", "tessera.integrations"],
    package_dir={"": "python", "tessera.integrations": "integrations"},
    package_data={"tessera": ["*.pyi", "py.typed"]},
    ext_modules=[setuptools.Extension("tessera._native", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
)
