#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how many bytes tensors need off chip: whole, by the published tile-aware method, and ours.

    bench/off_chip.py [--tessera build/release/bin/tessera] [--timeout SECONDS] [NETWORK ...]

Each network is planned on edge_npu_1mib layer by layer, as in the publication, and as `tessera plan`
plans it. Figures are bytes of tensors that come and go; constants and state are not counted. The
last column is the published change against Shared Objects; its tile shapes are not published.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PUBLISHED = {
    "squeezenet": -15.2,
    "mobilenet_v1": -7.57,
    "mobilenet_v2": 0.0,
    "mnasnet_130": 0.0,
    "fsrcnn_activations": -33.33,
    "fsrcnn_same": None,
}
PARTITIONS = {"layer by layer": ["--max-operators", "1", "--no-keep"], "our plan": []}
METHODS = ["whole", "paper", "tile-aware"]


def peak_and_bound(plan):
    """The peak of all homes and its lower bound, without constants and state."""
    peak = bound = 0
    for home in plan["homes"]:
        lasting = sum(t["size"] for t in home["tensors"] if t["role"] in ("constant", "state"))
        peak += home["peak"] - lasting
        bound += home["lower_bound"] - lasting
    return peak, bound


def figures(tessera, network, options, timeout):
    found = {}
    for method in METHODS:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plan.json"
            command = [tessera, "plan", str(ROOT / f"examples/networks/{network}.yaml"), "--hw",
                       str(ROOT / "hw_profiles/edge_npu_1mib.yaml"), "--off-chip", method,
                       "--budget", "200000", "--timeout", str(timeout), "--output", str(path)]
            subprocess.run(command + options, check=True, capture_output=True)
            found[method] = peak_and_bound(json.loads(path.read_text()))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tessera", default=str(ROOT / "build/release/bin/tessera"))
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("networks", nargs="*", default=list(PUBLISHED))
    asked = parser.parse_args()
    print("| network | partition | whole | paper's method | ours | bound | ours/whole | published |")
    print("|---|---|---|---|---|---|---|---|")
    for network in asked.networks:
        for partition, options in PARTITIONS.items():
            found = figures(asked.tessera, network, options, asked.timeout)
            whole, paper, ours = (found[method][0] for method in METHODS)
            published = PUBLISHED.get(network)
            print(f"| {network} | {partition} | {whole:,} | {paper:,} | {ours:,} | "
                  f"{found['tile-aware'][1]:,} | {100 * (ours / whole - 1):+.1f} % | "
                  f"{'' if published is None else f'{published:+.2f} %'} |", flush=True)


if __name__ == "__main__":
    main()
