#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets each allocation of a command fail, one after the other, and checks how the command ends.

    tests/memory/every_allocation.py COMMAND LIBRARY [--step N]

COMMAND is the program `tessera`, LIBRARY the one of fail_new.cc. On inputs as small as they can be,
`alloc`, `tile`, `plan` and `check` run once for each of their allocations, or for every N-th. A run
must end with the answer, or with exit code 10 and a message. An answer that differs from the one of
a run without failure must pass `check`. A file is whole, or it does not exist. Prints the number of
runs of each command and the first faults; ends with 1 if there is a fault. Needs python3.
"""
import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROFILE = str(ROOT / "hw_profiles" / "mcu_320k.yaml")
BUFFERS = "id,lower,upper,size\na,0,4,30\nb,2,6,20\nc,5,9,40\nd,1,8,10\n"
NETWORK = """schema: 1
name: one
inputs: [{id: x, shape: [1, 8, 4, 4]}]
operators: [{id: r, kind: elementwise, function: relu, inputs: [x]}]
"""
COMMANDS = {
    "alloc": ["alloc", "buffers.csv", "--output", "out.json"],
    "tile": ["tile", "network.yaml", "--hw", PROFILE],
    "plan": ["plan", "network.yaml", "--hw", PROFILE, "--output", "out.json"],
    "check": ["check", "plan.json"],
}
CHECKS = {
    "alloc": ["check", "out.json", "--problem", "buffers.csv"],
    "plan": ["check", "out.json"],
}
INPUTS = ["buffers.csv", "network.yaml", "plan.json"]


class Command:
    def __init__(self, program, library, name):
        self.program, self.library, self.name = program, library, name
        self.answer = b""

    def run(self, folder, arguments, **environment):
        return subprocess.run([self.program, *arguments], cwd=folder, capture_output=True,
                              env=dict(os.environ, **environment))

    def prepare(self, folder):
        """Writes the inputs. Returns the number of allocations of a run in which none fails."""
        (folder / "buffers.csv").write_text(BUFFERS)
        (folder / "network.yaml").write_text(NETWORK)
        planned = self.run(folder, ["plan", "network.yaml", "--hw", PROFILE, "--output", "plan.json"])
        assert planned.returncode == 0, planned.stderr
        whole = self.run(folder, COMMANDS[self.name], LD_PRELOAD=self.library,
                         FAIL_ALLOCATION="0", COUNT_ALLOCATIONS=str(folder / "count"))
        assert whole.returncode == 0, whole.stderr
        self.answer = self.written(folder)
        count = int((folder / "count").read_text())
        (folder / "count").unlink()
        return count

    def written(self, folder):
        output = folder / "out.json"
        return output.read_bytes() if output.exists() else b""

    def fault_of(self, folder, allocation):
        """What is wrong with the run in which this allocation fails; empty if nothing is."""
        (folder / "out.json").unlink(missing_ok=True)
        outcome = self.run(folder, COMMANDS[self.name], LD_PRELOAD=self.library,
                           FAIL_ALLOCATION=str(allocation))
        if outcome.returncode not in (0, 10):
            return f"exit code {outcome.returncode}: {outcome.stderr[-200:]}"
        if outcome.returncode == 10 and not outcome.stderr and not outcome.stdout:
            return "no message"
        extra = {path.name for path in folder.iterdir()} - {*INPUTS, "out.json"}
        if extra:
            return f"a file is left: {min(extra)}"
        answer = self.written(folder)
        if outcome.returncode == 0 and self.answer and not answer:
            return "exit code 0 without the output"
        if answer and answer != self.answer:
            check = self.run(folder, CHECKS[self.name])
            if check.returncode != 0:
                return f"check: exit code {check.returncode}: {check.stderr[-200:]}"
        return ""

    def faults_of(self, allocations):
        """Runs in a folder of its own, because runs of other threads write files too."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            self.prepare(folder)
            return [(allocation, fault) for allocation in allocations
                    if (fault := self.fault_of(folder, allocation))]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command")
    parser.add_argument("library")
    parser.add_argument("--step", type=int, default=1)
    options = parser.parse_args()
    workers = os.cpu_count()
    failed = False
    for name in COMMANDS:
        command = Command(os.path.abspath(options.command), os.path.abspath(options.library), name)
        with tempfile.TemporaryDirectory() as folder:
            count = command.prepare(pathlib.Path(folder))
        assert count > 1000, f"{name}: {count} allocations are too few: does the library count?"
        numbers = range(1, count + 1, options.step)
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            parts = pool.map(command.faults_of, [numbers[i::workers] for i in range(workers)])
            faults = sorted(fault for part in parts for fault in part)
        failed = failed or bool(faults)
        print(f"{name}: {len(numbers)} of {count} allocations failed in turn, {len(faults)} faults",
              flush=True)
        for allocation, fault in faults[:10]:
            print(f"  allocation {allocation}: {fault}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
