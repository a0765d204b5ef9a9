# SPDX-License-Identifier: Apache-2.0
"""A program of a user that mypy checks; it never runs."""

import numpy

import tessera as ts

network: ts.Network = ts.load_network("m.onnx", floats_as="int8", dims={"batch": 1})
profile: ts.Profile = ts.Profile("npu.yaml").with_({"memories.sram.capacity_bytes": 512 * 1024})
plan: ts.Plan = ts.plan(network, profile, minimize="latency", timeout=5)
cycles: int = sum(row.latency_cycles for row in plan.subgraphs)
rows: ts.Table[ts.Subgraph] = plan.subgraphs[1:]
energy: float = plan.totals["energy"]
column = numpy.arange(3)
peak: int = ts.allocate(column, column + 1, column + 1, capacity=9).peak
total: int = int(ts.Session().allocate(ts.Problem.load("b.csv")).offsets.sum())
wrong = ts.plan(profile, network)  # type: ignore[arg-type]
missing = plan.beauty  # type: ignore[attr-defined]
