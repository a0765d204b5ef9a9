#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the command on networks from small to very long.

  bench/planning_times.py build/release/bin/tessera [FOLDER] [--profiles A,B] [--minimize METRIC]
      [--runs 3] [--networks A,B] [--save FILE] [--against FILE]

Networks are those of examples/networks, the .onnx files of FOLDER without symbolic dimensions
(floats as int8), and three that are made here:

  llama_32_layers   the decoder of a language model, one token: 32 equal layers with key and value
                    caches of 128 tokens
  chain_500         500 operators one behind another, no two alike, with skips
  forks_5000        5 000 operators with random forks and skips, planned with --timeout 2

Each run is a process of its own on one thread and includes reading, checking and writing. Prints a
Markdown table: processor time in seconds (the least of all runs), the greatest memory in megabytes,
the plan's score and its distance to the bound. --save writes the figures as JSON; --against adds
columns from such a file and ends with 1 if a score is worse.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def network(name, inputs, operators, outputs):
    return {"schema": 1, "name": name, "dtype": "int8", "inputs": inputs,
            "operators": operators, "outputs": outputs}


def llama(layers, width=512, kv_heads=2, group=4, depth=64, hidden=1408, tokens=128):
    """One token through `layers` layers of grouped attention and a gated feed-forward part."""
    inputs = [{"id": "token", "shape": [1, 1, width]}]
    operators = []

    def add(name, kind, sources, **rest):
        operators.append({"id": name, "kind": kind, "inputs": sources, **rest})
        return name

    x = "token"
    for i in range(layers):
        at = f"layer{i}_"
        norm = add(at + "norm", "layer_norm", [x], axis=2)
        query = add(at + "query", "matmul", [norm], columns=kv_heads * group * depth)
        heads = add(at + "heads", "reshape", [query], shape=[kv_heads, group, depth])
        cached = {}
        for part in ("keys", "values"):
            made = add(at + "new_" + part, "matmul", [norm], columns=kv_heads * depth)
            split = add(at + part + "_split", "reshape", [made], shape=[1, kv_heads, depth])
            state = at + part + "_before"
            inputs.append({"id": state, "shape": [tokens - 1, kv_heads, depth], "state": True,
                           "next": at + part})
            cached[part] = add(at + part, "concat", [state, split], axis=0)
        scores = add(at + "scores", "matmul", [heads, cached["keys"]], second_axes=[1, 2, 0])
        weights = add(at + "weights", "softmax", [scores], axis=2)
        mixed = add(at + "mixed", "matmul", [weights, cached["values"]], second_axes=[1, 0, 2])
        joined = add(at + "joined", "reshape", [mixed], shape=[1, 1, kv_heads * group * depth])
        attended = add(at + "attended", "matmul", [joined], columns=width)
        x = add(at + "sum", "elementwise", [x, attended], function="add")
        norm = add(at + "norm2", "layer_norm", [x], axis=2)
        gate = add(at + "gate", "matmul", [norm], columns=hidden, activation="silu")
        up = add(at + "up", "matmul", [norm], columns=hidden)
        product = add(at + "product", "elementwise", [gate, up], function="mul")
        down = add(at + "down", "matmul", [product], columns=width)
        x = add(at + "out", "elementwise", [x, down], function="add")
    return network(f"llama_{layers}_layers", inputs, operators, [x])


def convolutions(name, count, reach, seed):
    """Convolutions that read one of the last `reach` results, and sums and concatenations of two."""
    draw = random.Random(seed)
    operators = []
    channels = {"x": 16}
    recent = ["x"]
    for i in range(count):
        source = recent[-draw.randint(1, reach)] if len(recent) >= reach else recent[-1]
        alike = [each for each in recent[:-1] if channels[each] == channels[source] and
                 each != source]
        op = {"id": f"op{i}"}
        kind = draw.choice(["conv", "conv", "conv", "depthwise", "sum", "concat"])
        if kind == "sum" and alike:
            op.update(kind="elementwise", function="add", inputs=[source, draw.choice(alike)])
            channels[op["id"]] = channels[source]
        elif kind == "concat" and alike and channels[source] <= 48:
            op.update(kind="concat", axis=1, inputs=[source, draw.choice(alike)])
            channels[op["id"]] = 2 * channels[source]
        elif kind == "depthwise":
            op.update(kind="depthwise", inputs=[source], kernel=draw.choice([3, 5]), pads="same")
            channels[op["id"]] = channels[source]
        else:
            op.update(kind="conv", inputs=[source], kernel=draw.choice([1, 3]), pads="same",
                      out_channels=8 * draw.randint(1, 12))
            channels[op["id"]] = op["out_channels"]
        operators.append(op)
        recent = (recent + [op["id"]])[-8:]
    read = {each for op in operators for each in op["inputs"]}
    outputs = [op["id"] for op in operators if op["id"] not in read]
    return network(name, [{"id": "x", "shape": [1, 16, 28, 28]}], operators, outputs)


def subjects(options, folder):
    """Names, files and further options of all networks."""
    for path in sorted((ROOT / "examples/networks").glob("*.yaml")):
        yield path.stem, path, []
    if options.folder:
        for path in sorted(options.folder.glob("*.onnx")):
            yield path.stem, path, ["--floats-as", "int8"]
    for made, more in ((llama(32), []), (convolutions("chain_500", 500, 1, 1), []),
                       (convolutions("forks_5000", 5000, 6, 2), ["--timeout", "2"])):
        path = folder / f"{made['name']}.json"
        path.write_text(json.dumps(made))
        yield made["name"], path, more


def run_once(words):
    """The exit code, the processor time in seconds and the greatest memory in megabytes."""
    process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(options, path, profile, more, folder):
    plan = folder / "plan.json"
    seconds, memory = [], 0
    for _ in range(options.runs):
        code, took, most = run_once(
            [options.program, "plan", path, "--hw", ROOT / f"hw_profiles/{profile}.yaml",
             "--minimize", options.minimize, "--threads", 1, "--output", plan, *more])
        if code:
            return {"exit": code}
        seconds.append(took)
        memory = max(memory, most)
    made = json.loads(plan.read_text())
    return {"seconds": min(seconds), "megabytes": memory, "score": made["score"],
            "bound": made["bound"]}


def row(name, profile, figures, before):
    if "exit" in figures:
        return f"| {name} | {profile} | exit {figures['exit']} | | | |"
    over = figures["score"] / figures["bound"] if figures["bound"] else float("nan")
    text = (f"| {name} | {profile} | {figures['seconds']:.2f} | {figures['megabytes']:.0f} | "
            f"{figures['score']:.6g} | {over:.3f} |")
    if before and "seconds" in before:
        text += f" {before['seconds']:.2f} | {before['score']:.6g} |"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path, nargs="?")
    parser.add_argument("--profiles", default="edge_npu_1mib")
    parser.add_argument("--minimize", default="latency")
    parser.add_argument("--networks")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--save", type=pathlib.Path)
    parser.add_argument("--against", type=pathlib.Path)
    options = parser.parse_args()
    before = json.loads(options.against.read_text()) if options.against else {}
    wanted = options.networks.split(",") if options.networks else None
    figures, worse = {}, []
    columns = "| network | profile | s | MB | score | over bound |"
    print(columns + (" s before | score before |" if before else ""))
    print("|---|---|" + "---:|" * (6 if before else 4))
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for title, path, more in subjects(options, folder):
            if wanted and title not in wanted:
                continue
            for profile in options.profiles.split(","):
                key = f"{title} {profile} {options.minimize}"
                figures[key] = measure(options, path, profile, more, folder)
                print(row(title, profile, figures[key], before.get(key)), flush=True)
                old = before.get(key, {}).get("score")
                if old is not None and figures[key].get("score", float("inf")) > old * (1 + 1e-9):
                    worse.append(key)
    if options.save:
        options.save.write_text(json.dumps(figures, indent=1))
    for key in worse:
        print(f"worse: {key}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
