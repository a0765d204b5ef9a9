#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How late `tessera` answers after a deadline or a signal, and how much memory it takes.

  bench/deadlines.py build/release/bin/tessera [--inputs 50] [--signals 200] [--seed 1] [--sizes]

Draws hard inputs: lists of 300 to 30 000 buffers, some with ties and fixed offsets, and networks of
chains, parallel branches and wide windows. Each runs with a timeout of 0.2, 1 or 3 s and a memory
limit of 1 GiB; then `plan`, `alloc`, `tile` and `check` receive SIGINT or SIGTERM at random moments.

A run may take T + 0.1 s + 1 % of T with a timeout of T seconds, and 0.12 s of processor time behind
a signal (a clock tick more than 0.1 s). The time until a plan layer by layer exists does not count,
so `plan --timeout 0` of the same input is measured first and its time is printed as the floor. Some
plans are lowered. Prints a table row for each late run, a summary, and ends with 1 if some run was
late, took more memory, or left a partial file. Needs an idle machine.
"""
import argparse
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

PROFILES = ["edge_npu_1mib", "edge_npu_64kib", "ethos_u55_256", "ethos_u65_256", "mcu_320k"]
MEMORY = 1 << 30
ROOT = pathlib.Path(__file__).resolve().parent.parent


def draw_buffers(rng, count, alive):
    """Lifespans of about `alive` buffers at a time; sizes from two scales, as tensors have."""
    horizon = max(2, 20 * count // alive)
    rows = []
    for _ in range(count):
        length = 1 + int(rng.expovariate(1 / 20))
        lower = rng.randrange(max(1, horizon - length))
        size = rng.choice([rng.randrange(1, 64), rng.randrange(64, 4096)]) * 16
        rows.append((lower, lower + length, size))
    return rows


def load_of(rows):
    """The most bytes alive at one step: a bound that no placement is below."""
    change = {}
    for lower, upper, size in rows:
        change[lower] = change.get(lower, 0) + size
        change[upper] = change.get(upper, 0) - size
    most = now = 0
    for step in sorted(change):
        now += change[step]
        most = max(most, now)
    return most


def alloc_case(rng, folder, number):
    count = rng.choice([300, 1000, 3000, 10000, 30000])
    alive = rng.choice([a for a in (30, 100, 300, 3000) if a * 10 <= count])
    rows = draw_buffers(rng, count, alive)
    path = folder / f"buffers{number}.csv"
    lines = [f"b{i},{lower},{upper},{size}" for i, (lower, upper, size) in enumerate(rows)]
    path.write_text("id,lower,upper,size\n" + "\n".join(lines) + "\n")
    options = []
    if rng.random() < 0.5:
        options = ["--capacity", str(int(load_of(rows) * rng.choice([0.98, 1.0, 1.01, 1.05])))]
    if rng.random() < 0.3:
        options += ["--engine", rng.choice(
            ["canonical", "lazy", "cadical", "local-search", "z3"])]
    return f"alloc {count} buffers, {alive} alive", ["alloc", str(path), *options]


def conv(name, source, rng):
    kernel = rng.choice([1, 3])
    channels = rng.choice([16, 32, 48, 64])
    return {"id": name, "kind": "conv", "inputs": [source], "out_channels": channels,
            "kernel": kernel, "pads": [kernel // 2, kernel // 2]}


def draw_network(rng):
    shape = rng.choice(["chain", "branches", "ladder", "window"])
    extent = rng.choice([28, 56, 112])
    image = {"id": "x", "shape": [1, 16, extent, extent]}
    operators = []
    if shape == "chain":
        for i in range(rng.choice([40, 100, 200])):
            operators.append(conv(f"c{i}", f"c{i - 1}" if i else "x", rng))
    elif shape == "branches":
        for i in range(rng.choice([30, 100, 300])):
            operators.append({"id": f"c{i}", "kind": "elementwise", "function": "r", "inputs": ["x"]})
    elif shape == "ladder":
        before = "x"
        for i in range(rng.choice([10, 30, 60])):
            for side in "ab":
                operators.append({"id": f"{side}{i}", "kind": "pool", "inputs": [before], "kernel": 3,
                                  "stride": 1, "pads": [1, 1]})
            operators.append({"id": f"s{i}", "kind": "elementwise", "function": "add",
                              "inputs": [f"a{i}", f"b{i}"]})
            before = f"s{i}"
    else:
        side = rng.choice([4096, 16384, 65536])
        image["shape"] = [1, 1, side, side]
        operators.append({"id": "c", "kind": "pool", "inputs": ["x"], "kernel": side, "stride": 1,
                          "pads": [side // 2, side // 2]})
    return f"{shape} of {len(operators)}", {"schema": 1, "name": "drawn", "inputs": [image],
                                            "operators": operators}


def plan_case(rng, folder, number):
    label, network = draw_network(rng)
    path = folder / f"network{number}.json"
    path.write_text(json.dumps(network))
    profile = rng.choice(PROFILES)
    options = rng.choice([[], ["--lowering"], ["--minimize", "energy"],
                          ["--score", "latency=1,peak=1"],
                          ["--limit", "peak=40000"], ["--order", "given"], ["--no-keep"]])
    return (f"plan {label} on {profile}",
            ["plan", str(path), "--hw", str(ROOT / "hw_profiles" / f"{profile}.yaml"), *options])


def run(command, signalled_after=None, number=signal.SIGINT):
    """Exit code, wall seconds (behind the signal, if one is sent), processor seconds behind it, KiB."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    used = 0.0
    if signalled_after is not None:
        time.sleep(signalled_after)
        used = processor_seconds(process.pid)
        os.kill(process.pid, number)
        begin = time.monotonic()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - begin
    return process.returncode, wall, usage.ru_utime + usage.ru_stime - used, usage.ru_maxrss


def processor_seconds(pid):
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


def measure_deadlines(binary, rng, folder, count):
    late = []
    for number in range(count):
        make = alloc_case if number % 2 else plan_case
        label, arguments = make(rng, folder, number)
        floor = 0.0
        if arguments[0] == "plan":
            floor = run([binary, *arguments, "--timeout", "0"])[1]
        timeout = rng.choice([0.2, 1.0, 3.0])
        code, wall, _, memory = run(
            [binary, *arguments, "--timeout", str(timeout), "--memory-limit", str(MEMORY)])
        over = wall - max(timeout, floor)
        allowed = 0.1 + 0.01 * timeout
        answers = (0, 4, 10, 20) if "--engine" in arguments else (0, 10, 20)  # 4: it declines
        if over > allowed or memory * 1024 > MEMORY or code not in answers:
            late.append(over)
            print(f"| {label} {' '.join(arguments[2:])} | {timeout} | {floor:.2f} | {wall:.2f} | {memory // 1024} MiB | {code} |",
                  flush=True)
    print(f"deadlines: {count} inputs, {len(late)} late, too large or without an answer; "
          f"the latest {max(late, default=0):.2f} s")
    return len(late)


def measure_signals(binary, rng, folder, count):
    faults = 0
    worst = 0.0
    cases = []
    for i in range(10):
        cases.append(alloc_case(rng, folder, f"s{i}"))
        label, arguments = plan_case(rng, folder, f"s{i}")
        cases.append((label, arguments))
        cases.append((label.replace("plan", "tile"), ["tile", *arguments[1:4]]))
    plan = folder / "plan.json"
    network = ROOT / "examples" / "networks" / "mobilenet_v2.yaml"
    profile = ROOT / "hw_profiles" / "ethos_u65_256.yaml"
    run([binary, "plan", str(network), "--hw", str(profile), "--budget", "100000", "--output", str(plan)])
    cases += [("check MobileNetV2", ["check", str(plan)])] * 3
    cases += [("check --execute MobileNetV2", ["check", "--execute", str(plan)])] * 3
    floors = {label: run([binary, *arguments, "--timeout", "0"])[1]
              for label, arguments in cases if arguments[0] == "plan"}
    for number in range(count):
        label, arguments = rng.choice(cases)
        output = folder / f"out{number}.json"
        moment = rng.choice([0.02, 0.1, 0.5, 2.0]) * rng.random()
        kind = rng.choice([signal.SIGINT, signal.SIGTERM])
        writes = [] if arguments[0] in ("tile", "check") else ["--output", str(output)]
        code, wall, used, _ = run([binary, *arguments, *writes], moment, kind)
        whole = True
        if output.exists():
            try:
                json.loads(output.read_text())
            except ValueError:
                whole = False
        leftovers = [p for p in folder.iterdir() if p.name.startswith(".tessera-")]
        allowed = 0.12 + max(0.0, floors.get(label, 0.0) - moment)
        worst = max(worst, used)
        if used > allowed or not whole or leftovers:
            faults += 1
            print(f"| {label} {' '.join(arguments[2:])} | {kind.name} after {moment:.2f} s | {wall:.2f} s | cpu {used:.2f} s, "
                  f"allowed {allowed:.2f} s | code {code} | whole file: {whole} | {leftovers} |", flush=True)
        output.unlink(missing_ok=True)
    print(f"signals: {count}, {faults} faults; at most {worst:.2f} s of processor time behind one")
    return faults


def measure_sizes(binary, rng, folder):
    faults = 0
    for count in (1000, 3000, 10000, 30000, 100000):
        for alive in (a for a in (30, 300, 3000) if a * 10 <= count):
            path, answer = folder / "sized.csv", folder / "sized.json"
            rows = draw_buffers(rng, count, alive)
            path.write_text("id,lower,upper,size\n" + "".join(
                f"b{i},{lower},{upper},{size}\n" for i, (lower, upper, size) in enumerate(rows)))
            code, wall, _, memory = run([binary, "alloc", str(path), "--timeout", "5",
                                         "--memory-limit", str(MEMORY), "--output", str(answer)])
            found = json.loads(answer.read_text()) if code == 0 else {"status": f"code {code}"}
            verdict = found["status"]
            if verdict == "feasible":
                above = 100 * (found["peak"] / found["lower_bound"] - 1)
                verdict += f", peak {above:.1f} % above the bound"
            print(f"| {count:7d} | {alive:15d} | {verdict:37s} | {wall:7.2f} | "
                  f"{memory // 1024:3d} MiB |", flush=True)
            faults += code != 0 or memory * 1024 > MEMORY or wall > 5.15
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--inputs", type=int, default=50)
    parser.add_argument("--signals", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sizes", action="store_true")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        binary = str(pathlib.Path(arguments.binary).resolve())
        if arguments.sizes:
            faults = measure_sizes(binary, rng, folder)
        else:
            faults = measure_deadlines(binary, rng, folder, arguments.inputs)
            faults += measure_signals(binary, rng, folder, arguments.signals)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
