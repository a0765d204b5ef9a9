# SPDX-License-Identifier: Apache-2.0
"""Inputs of the tests of the Python package."""

import pathlib

import pytest

import tessera as ts

ROOT = pathlib.Path(__file__).parents[2]

CHAIN = {
    "schema": 1,
    "name": "chain",
    "inputs": [{"id": "x", "shape": [1, 16, 32, 32]}],
    "operators": [
        {"id": name, "kind": "conv", "inputs": [source], "out_channels": 16, "kernel": 3,
         "pads": "same"}
        for name, source in [("a", "x"), ("b", "a")]
    ],
    "outputs": ["b"],
}


@pytest.fixture(scope="session")
def chain():
    return ts.Network.parse(CHAIN)


@pytest.fixture(scope="session")
def mobilenet():
    return ts.load_network(ROOT / "examples/networks/mobilenet_v2.yaml")


@pytest.fixture(scope="session")
def npu():
    return ts.Profile(ROOT / "hw_profiles/edge_npu_1mib.yaml")


@pytest.fixture(scope="session")
def plan(chain, npu):
    return ts.plan(chain, npu)
