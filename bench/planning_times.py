#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times the command on networks from small to very long.

  bench/planning_times.py build/release/bin/tessera [FOLDER] [--profiles A,B] [--minimize METRIC]
      [--runs 3] [--networks A,B] [--save FILE] [--against FILE]

Networks are those of examples/networks, the .onnx files of FOLDER without symbolic dimensions
(floats as int8), and three that are made here:

  llama_32_layers   llama_decode_gqa with 32 instead of four layers
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


def network(name, inputs, operators, constants=()):
    read = {each for op in operators for each in op["inputs"]}
    outputs = [op["id"] for op in operators if op["id"] not in read]
    states = [each["next"] for each in inputs if "next" in each]
    return {"schema": 1, "name": name, "dtype": "int8", "inputs": inputs,
            "constants": list(constants), "operators": operators,
            "outputs": outputs + [each for each in states if each not in outputs]}


class Decoder:
    """One token through a decoder, operator by operator as the importer reads the file of four
    layers: norms, rotary embedding, caches that grow, grouped attention, a gated feed-forward part
    and the words."""

    WIDTH, HEADS, KV_HEADS, DEPTH, HIDDEN, TOKENS, WORDS = 512, 8, 2, 64, 1408, 256, 32000

    def __init__(self, layers):
        self.inputs = [{"id": "token", "shape": [1, 1, self.WIDTH]},
                       {"id": "cos", "shape": [1, self.DEPTH]},
                       {"id": "sin", "shape": [1, self.DEPTH]}]
        self.operators = []
        x = "token"
        for i in range(layers):
            x = self.attend(f"layer{i}", x)
            x = self.feed_forward(f"layer{i}", x)
        self.add("words", "matmul", [self.norm("last", x)], columns=self.WORDS)
        self.network = network(f"llama_{layers}_layers", self.inputs, self.operators,
                               [{"id": "scale", "shape": [self.WIDTH]}])

    def add(self, name, kind, sources, **rest):
        self.operators.append({"id": name, "kind": kind, "inputs": sources, **rest})
        return name

    def norm(self, at, x):
        square = self.add(at + "_square", "elementwise", [x], function="square")
        mean = self.add(at + "_mean", "reduce", [square], function="mean", axis=[2],
                        keep_axes=True, activation="rsqrt")
        scaled = self.add(at + "_scaled", "elementwise", [x, mean], function="mul")
        return self.add(at + "_norm", "elementwise", [scaled], weights=["scale"], function="mul",
                        shape=[1, 1, self.WIDTH])

    def project(self, at, x, heads):
        made = self.add(at, "matmul", [x], columns=heads * self.DEPTH)
        return self.add(at + "_heads", "reshape", [made], shape=[1, heads, 1, self.DEPTH])

    def rotate(self, at, x, heads):
        half = [1, heads, 1, self.DEPTH // 2]
        low = self.add(at + "_low", "slice", [x], shape=half, starts=[0, 0, 0, 0])
        high = self.add(at + "_high", "slice", [x], shape=half, starts=[0, 0, 0, half[3]])
        even = self.add(at + "_even", "elementwise", [x, "cos"], function="mul")
        minus = self.add(at + "_minus", "elementwise", [high], function="neg")
        turned = self.add(at + "_turned", "concat", [minus, low], axis=3)
        odd = self.add(at + "_odd", "elementwise", [turned, "sin"], function="mul")
        return self.add(at + "_rotated", "elementwise", [even, odd], function="add")

    def cache(self, at, x):
        """Appends x to a state, and repeats the result for all heads that share it."""
        group = self.HEADS // self.KV_HEADS
        self.inputs.append({"id": at + "_before", "state": True, "next": at + "_cache",
                            "shape": [1, self.KV_HEADS, self.TOKENS - 1, self.DEPTH]})
        grown = self.add(at + "_cache", "concat", [at + "_before", x], axis=2)
        apart = self.add(at + "_apart", "reshape", [grown],
                         shape=[1, self.KV_HEADS, 1, self.TOKENS, self.DEPTH])
        often = self.add(at + "_often", "gather", [apart], axis=2, indices=[0] * group)
        return self.add(at + "_all", "reshape", [often],
                        shape=[1, self.HEADS, self.TOKENS, self.DEPTH])

    def attend(self, at, x):
        norm = self.norm(at + "_in", x)
        query = self.rotate(at + "_q", self.project(at + "_q", norm, self.HEADS), self.HEADS)
        key = self.rotate(at + "_k", self.project(at + "_k", norm, self.KV_HEADS), self.KV_HEADS)
        keys = self.cache(at + "_k", key)
        values = self.cache(at + "_v", self.project(at + "_v", norm, self.KV_HEADS))
        scores = self.add(at + "_scores", "matmul", [query, keys], second_axes=[0, 1, 3, 2],
                          activation="div")
        weights = self.add(at + "_weights", "softmax", [scores], axis=3)
        mixed = self.add(at + "_mixed", "matmul", [weights, values])
        joined = self.add(at + "_joined", "reshape", [mixed], shape=[1, 1, self.WIDTH])
        attended = self.add(at + "_attended", "matmul", [joined], columns=self.WIDTH)
        return self.add(at + "_sum", "elementwise", [x, attended], function="add")

    def feed_forward(self, at, x):
        norm = self.norm(at + "_mid", x)
        gate = self.add(at + "_gate", "matmul", [norm], columns=self.HIDDEN, activation="silu")
        up = self.add(at + "_up", "matmul", [norm], columns=self.HIDDEN)
        product = self.add(at + "_product", "elementwise", [gate, up], function="mul")
        down = self.add(at + "_down", "matmul", [product], columns=self.WIDTH)
        return self.add(at + "_out", "elementwise", [x, down], function="add")


def convolutions(name, count, reach, seed, unlike=False):
    """Convolutions that read one of the last `reach` results, and sums and concatenations of two.
    `unlike`: no two operators have the same kind, window and channels."""
    draw = random.Random(seed)
    operators, seen = [], set()
    channels = {"x": 16}
    recent = ["x"]
    while len(operators) < count:
        source = recent[-draw.randint(1, reach)] if len(recent) >= reach else recent[-1]
        before = channels[source]
        alike = [each for each in recent[:-1] if channels[each] == before and each != source]
        kind = draw.choice(["conv", "conv", "conv", "depthwise", "sum", "concat"])
        if kind == "sum" and alike:
            op, after = {"kind": "elementwise", "function": "add"}, before
        elif kind == "concat" and alike and before <= 48:
            op, after = {"kind": "concat", "axis": 1}, 2 * before
        elif kind == "depthwise":
            op, after = {"kind": kind, "kernel": draw.choice([3, 5]), "pads": "same"}, before
        else:
            after = 8 * draw.randint(1, 20)
            op = {"kind": "conv", "kernel": draw.choice([1, 3, 5]), "pads": "same",
                  "out_channels": after}
        signature = (op["kind"], op.get("kernel"), before, after)
        if unlike and signature in seen:
            continue
        seen.add(signature)
        is_join = op["kind"] in ("elementwise", "concat")
        op = {"id": f"op{len(operators)}",
              "inputs": [source, draw.choice(alike)] if is_join else [source], **op}
        channels[op["id"]] = after
        operators.append(op)
        recent = (recent + [op["id"]])[-8:]
    return network(name, [{"id": "x", "shape": [1, 16, 28, 28]}], operators)


def subjects(options, folder):
    """Names, files and further options of all networks."""
    for path in sorted((ROOT / "examples/networks").glob("*.yaml")):
        yield path.stem, path, []
    if options.folder:
        for path in sorted(options.folder.glob("*.onnx")):
            yield path.stem, path, ["--floats-as", "int8"]
    for made, more in ((Decoder(32).network, []),
                       (convolutions("chain_500", 500, 1, 1, unlike=True), []),
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
