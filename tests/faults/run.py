#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the program with the faults of faults.txt and checks that the test of each finds it.

    tests/faults/run.py [NAME ...]      all faults, or these

Everything is built once, in build/faults (CMake preset `faults`). First the named tests run with no
fault, and must pass. Then each runs alone with its fault switched on, and must fail within 60
seconds. The script prints a line with the outcome for each fault:

    caught    an assertion of the test failed, or the audit had a finding
    MISSED    the test passed
    CRASHED   the program ended by a signal or an exception before any assertion failed: no test has
              found the fault
    TOO SLOW  no answer within 60 seconds

The exit code is 1 if any fault is not caught, or any test fails without a fault. Needs python3.
"""
import collections
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import seed  # noqa: E402

BUILD = seed.ROOT / "build/faults"
SECONDS = 60

Outcome = collections.namedtuple("Outcome", "word seconds output")


def command_of(test):
    program, *words = test.split()
    if len(words) == 1 and not words[0].startswith("-"):
        words = [f"--gtest_filter={words[0]}"]
    return [str(BUILD / "tests" / program), *words]


def word_for(code, output, is_unit_test):
    if is_unit_test and "Running 1 test from" not in output:
        return "NO SUCH TEST"
    if code == 0:
        return "MISSED"
    said = ": Failure\n" in output if is_unit_test else " findings; cases in " in output
    return "caught" if said else "CRASHED"


def run(test, fault):
    """Runs a test alone, with its own folder for temporary files."""
    command = command_of(test)
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, TESSERA_FAULT=fault, RC_PARAMS="seed=1", TMPDIR=folder,
                           TEST_TMPDIR=folder)
        start = time.monotonic()
        try:
            done = subprocess.run(command, cwd=folder, env=environment, timeout=SECONDS, text=True,
                                  errors="replace", stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired:
            return Outcome("TOO SLOW", SECONDS, "")
        word = word_for(done.returncode, done.stdout, "--gtest_filter" in command[-1])
        return Outcome(word, time.monotonic() - start, done.stdout)


def build(faults):
    programs = sorted({fault.test.split()[0] for fault in faults})
    subprocess.run(["cmake", "-S", BUILD / "source", "-B", BUILD, "--preset", "faults"], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "--target", "tessera", *programs], check=True)


def main(names):
    faults = seed.write_tree(BUILD / "source")
    unknown = set(names) - {fault.name for fault in faults}
    if unknown:
        sys.exit(f"{seed.TABLE} lists no fault '{min(unknown)}'")
    build(faults)
    faults = [fault for fault in faults if not names or fault.name in names]
    tests = sorted({fault.test for fault in faults})
    failed = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for test, outcome in zip(tests, pool.map(lambda test: run(test, ""), tests)):
            if outcome.word != "MISSED":
                failed = True
                print(f"without a fault: {test}: {outcome.word}\n{outcome.output}", flush=True)
        outcomes = pool.map(lambda fault: run(fault.test, fault.name), faults)
        for fault, outcome in zip(faults, outcomes):
            failed = failed or outcome.word != "caught"
            print(f"{outcome.word:<8}  {outcome.seconds:5.1f} s  {fault.name}: {fault.test}",
                  flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
