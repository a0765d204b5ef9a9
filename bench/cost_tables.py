#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the cost model with tables of another estimator, row by row.

    bench/cost_tables.py --bench build/release/bin/cost_bench --data DIR --networks DIR

A folder --data has TARGET_stripes.csv for each target: one operator in stripes of so many output
rows, with its `total_cycles`. cost_bench prices the same operator, stripes and place of the weights
on the profile hw_profiles/TARGET.yaml. For each target and network it prints

    Spearman's rank correlation over all rows,
    the same at the median over the operators, each over its heights,
    the ratios ours / theirs at 10, 50 and 90 % of the rows.

and Kendall's tau over plans of the network. In a plan each operator is one row of the table, and
the plan costs the sum of its rows. "tau" is over 240 plans with random rows. "tau close" is the
median over 20 draws of ten plans that the estimator puts within 5 % of the best: the best plan with
random rows for some of its operators.

With --encoded the weights have the sizes that the estimator's compression gives them.
With --goals the exit status is 1 if a figure misses its goal, otherwise 0.
"""

import argparse
import csv
import math
import pathlib
import random
import statistics
import subprocess
import sys
from collections import defaultdict

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOALS = (("Spearman", 0.98, None), ("within", 0.9, None), ("10 %", 0.85, None),
         ("50 %", 0.97, 1.03), ("90 %", None, 1.2), ("tau", 0.9, None), ("tau close", 0.8, None))
RANKED = "mobilenet_v2"  # the network for which tau has goals


def ranks(values):
    """Ranks from 0; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    begin = 0
    while begin < len(order):
        end = begin
        while end + 1 < len(order) and values[order[end + 1]] == values[order[begin]]:
            end += 1
        for i in order[begin:end + 1]:
            result[i] = (begin + end) / 2
        begin = end + 1
    return result


def spearman(first, second):
    """None where one of the two is constant."""
    a, b = ranks(first), ranks(second)
    mean = (len(a) - 1) / 2
    of_a = sum((x - mean) ** 2 for x in a)
    of_b = sum((y - mean) ** 2 for y in b)
    if of_a == 0 or of_b == 0:
        return None
    return sum((x - mean) * (y - mean) for x, y in zip(a, b)) / math.sqrt(of_a * of_b)


def quantile(values, share):
    values = sorted(values)
    at = share * (len(values) - 1)
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


def figures(rows):
    """Of (operator, weights, theirs, ours)."""
    groups = defaultdict(list)
    for operator, weights, theirs, ours in rows:
        groups[operator, weights].append((theirs, ours))
    within = [spearman(*zip(*group)) for group in groups.values() if len(group) > 2]
    within = [value for value in within if value is not None]
    ratios = [ours / theirs for _, _, theirs, ours in rows]
    all_rows = spearman([row[2] for row in rows], [row[3] for row in rows])
    return [math.nan if all_rows is None else all_rows,
            statistics.median(within) if within else math.nan,
            *(quantile(ratios, share) for share in (0.1, 0.5, 0.9))]


def kendall(pairs):
    """Tau-a of two values of each plan."""
    concordant = sum(math.copysign(1, (a[0] - b[0]) * (a[1] - b[1]))
                     for i, a in enumerate(pairs) for b in pairs[:i]
                     if a[0] != b[0] and a[1] != b[1])
    return concordant / (len(pairs) * (len(pairs) - 1) / 2)


def taus(rows):
    """Of (operator, weights, theirs, ours)."""
    options = defaultdict(list)
    for operator, _, theirs, ours in rows:
        options[operator].append((theirs, ours))
    draw = random.Random(1)

    def plan():
        chosen = [draw.choice(rows) for rows in options.values()]
        return sum(row[0] for row in chosen), sum(row[1] for row in chosen)

    def close_plan():
        while True:
            changed = set(draw.sample(list(options), draw.randint(1, len(options))))
            chosen = [draw.choice(rows) if operator in changed else min(rows)
                      for operator, rows in options.items()]
            theirs = sum(row[0] for row in chosen)
            if theirs <= 1.05 * best:
                return theirs, sum(row[1] for row in chosen)

    best = sum(min(rows)[0] for rows in options.values())
    return [kendall([plan() for _ in range(240)]),
            statistics.median(kendall([close_plan() for _ in range(10)]) for _ in range(20))]


def price(bench, network, profile, rows, encoded):
    lines = "".join(f"{row['operator']} {row['stripe_rows']} {row['weights']} "
                    f"{row['encoded_weight_bytes'] if encoded else ''}\n" for row in rows)
    output = subprocess.run([bench, network, profile], input=lines, check=True,
                            capture_output=True, text=True).stdout.split()
    return [None if word == "-" else int(word) for word in output]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True, type=pathlib.Path)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--networks", required=True, type=pathlib.Path,
                        help="NETWORK.yaml of those that examples/networks lacks")
    parser.add_argument("--targets", nargs="*", help="default: all tables")
    parser.add_argument("--rows", type=pathlib.Path, help="write all rows as CSV")
    parser.add_argument("--encoded", action="store_true",
                        help="weights as the estimator compresses them")
    parser.add_argument("--goals", action="store_true",
                        help="exit with 1 if a figure misses its goal")
    options = parser.parse_args()
    tables = sorted(options.data.glob("*_stripes.csv"))
    missed = False
    written = []
    print(f"{'target':16}{'network':22}{'rows':>6}" +
          "".join(f"{name:>10}" for name, _, _ in GOALS))
    for table in tables:
        target = table.name.removesuffix("_stripes.csv")
        if options.targets and target not in options.targets:
            continue
        networks = defaultdict(list)
        with table.open(newline="") as lines:
            for row in csv.DictReader(lines):
                networks[row["network"]].append(row)
        for network, rows in networks.items():
            file = ROOT / "examples" / "networks" / f"{network}.yaml"
            if not file.exists():
                file = options.networks / f"{network}.yaml"
            cycles = price(options.bench, file, ROOT / "hw_profiles" / f"{target}.yaml", rows,
                           options.encoded)
            pairs = [(row["operator"], row["weights"], int(row["total_cycles"]), ours)
                     for row, ours in zip(rows, cycles) if ours is not None]
            written += [[target, network, row["operator"], row["stripe_rows"], row["weights"],
                         row["total_cycles"], ours] for row, ours in zip(rows, cycles)]
            values = figures(pairs) + taus(pairs)
            print(f"{target:16}{network:22}{len(pairs):6}" +
                  "".join(f"{value:10.3f}" for value in values))
            for value, (name, least, most) in zip(values, GOALS):
                if name.startswith("tau") and network != RANKED:
                    continue
                missed |= (least is not None and value < least) or (most is not None and value > most)
    if options.rows:
        with options.rows.open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["target", "network", "operator", "stripe_rows", "weights",
                             "their_cycles", "our_cycles"])
            writer.writerows(written)
    return 1 if missed and options.goals else 0


if __name__ == "__main__":
    sys.exit(main())
