#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Architecture search under latency and memory limits on two accelerators, with deap.

    PYTHONPATH=build/release/python examples/nas/evolve.py --seeds 5 --output front.svg

Looks for networks of mcunet_like.space that are fast on an edge NPU and good by a proxy, within
limits of latency and memory on this NPU and on a microcontroller. Evolution (NSGA-II) has half the
evaluations of random search; the hypervolumes of both are compared, each the median of the seeds.

The proxy stands in for an accuracy that was not trained, and is no estimate of one:

    10 log10(MACs) + 4 log2(resolution / 48) + 2 log2(blocks) - 0.5 |blocks of kernel 5 or 7 - 3|

A candidate whose lower bounds exceed a limit is refused without a search. One that was evaluated
before counts as an evaluation all the same.

Needs Debian's python3-deap.
"""

import argparse
import math
import pathlib
import random
import statistics
import sys
import time

import tessera as ts
from deap import base, creator, tools

ROOT = pathlib.Path(__file__).resolve().parents[2]
SPACE = ts.NetworkSpace(ROOT / "examples/nas/mcunet_like.space")
PROFILES = [
    ts.Profile(ROOT / "hw_profiles/edge_npu_64kib.yaml"),
    ts.Profile(ROOT / "hw_profiles/mcu_320k.yaml"),
]
LIMITS = [{"latency": 200e3}, {"latency": 5e6, "peak": 96 * 1024}]
OPTIONS = {"max_operators": 2, "keep_order": True, "budget": 500}
NAMES = list(SPACE.parameters)
VALUES = list(SPACE.parameters.values())
WORST = (0.0, 1e9)  # proxy, latency
REFERENCE = (60.0, LIMITS[0]["latency"])


def proxy_of(choice, macs):
    blocks = 1 + sum(value for name, value in choice.items() if name.endswith(".depth"))
    wide = 0
    for name, value in choice.items():
        stage, _, rest = name.partition(".")
        if rest.endswith(".kernel") and int(rest[5 : rest.index(".")]) <= choice[stage + ".depth"]:
            wide += value > 3
    return (
        10 * math.log10(macs)
        + 4 * math.log2(choice["resolution"] / 48)
        + 2 * math.log2(blocks)
        - 0.5 * abs(wide - 3)
    )


class Task:
    """Evaluates genomes, each the indices of the values of the parameters."""

    def __init__(self):
        self.evaluator = ts.Evaluator(PROFILES, **OPTIONS)
        self.evaluations = 0
        self.refused = 0
        self.searched = 0

    def evaluate(self, genome):
        self.evaluations += 1
        choice = {name: values[gene] for name, values, gene in zip(NAMES, VALUES, genome)}
        found = self.evaluator.evaluate_at_most(SPACE.make(choice), LIMITS)
        self.searched += any(each.searched for each in found)
        if not all(found):
            self.refused += 1
            return WORST
        return proxy_of(choice, found[0].bounds["macs"]), found[0].metrics["latency"]


def draw():
    return [random.randrange(len(values)) for values in VALUES]


def mutate(genome, changes=2):
    for _ in range(changes):
        gene = random.randrange(len(genome))
        genome[gene] = random.randrange(len(VALUES[gene]))
    return (genome,)


def evolve(task, evaluations, size=20):
    box = base.Toolbox()
    population = [creator.Genome(draw()) for _ in range(size)]
    seen = []
    for genome in population:
        genome.fitness.values = task.evaluate(genome)
    seen += [genome.fitness.values for genome in population]
    population = tools.selNSGA2(population, size)
    while task.evaluations < evaluations:
        children = [box.clone(each) for each in tools.selTournamentDCD(population, size)]
        for left, right in zip(children[::2], children[1::2]):
            if random.random() < 0.7:
                tools.cxUniform(left, right, 0.5)
        for genome in children[: evaluations - task.evaluations]:
            mutate(genome)
            genome.fitness.values = task.evaluate(genome)
            seen.append(genome.fitness.values)
        population = tools.selNSGA2(population + children, size)
    return seen


def search_randomly(task, evaluations):
    return [task.evaluate(draw()) for _ in range(evaluations)]


def front_of(points):
    """Those with a higher proxy than all that are at least as fast."""
    front = []
    for point in sorted(set(points), key=lambda each: (each[1], -each[0])):
        if not front or point[0] > front[-1][0]:
            front.append(point)
    return front


def hypervolume(points):
    """The area between the front and the reference point."""
    area = 0.0
    level = REFERENCE[0]
    for proxy, latency in front_of(points):
        if latency < REFERENCE[1] and proxy > level:
            area += (proxy - level) * (REFERENCE[1] - latency)
            level = proxy
    return area


def draw_svg(evolved, drawn):
    inside = [each for each in evolved + drawn if each != WORST]
    least, most = min(each[0] for each in inside), max(each[0] for each in inside)
    slowest = max(each[1] for each in inside)

    def place(point):
        x = 60 + 520 * point[1] / slowest
        return f"{x:.1f}", f"{340 - 300 * (point[0] - least) / max(most - least, 1e-9):.1f}"

    lines = ['<svg xmlns="http://www.w3.org/2000/svg" width="620" height="400"',
             ' font-family="sans-serif" font-size="12">',
             f'<text x="60" y="385">latency, 0 to {slowest:.0f} cycles</text>',
             f'<text x="10" y="25">proxy, {least:.1f} to {most:.1f}</text>',
             '<text x="420" y="25" fill="#c33">evolution</text>',
             '<text x="500" y="25" fill="#36c">random search</text>']
    for points, color in ((drawn, "#36c"), (evolved, "#c33")):
        for point in points:
            if point != WORST:
                x, y = place(point)
                lines.append(f'<circle cx="{x}" cy="{y}" r="2" fill="{color}" opacity="0.4"/>')
        path = " ".join(",".join(place(each)) for each in front_of(points) if each != WORST)
        lines.append(f'<polyline points="{path}" fill="none" stroke="{color}"/>')
    return "\n".join([*lines, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--evaluations", type=int, default=200, help="of random search")
    parser.add_argument("--output", default="", help="an SVG with the points of the first seed")
    given = parser.parse_args()
    creator.create("Fitness", base.Fitness, weights=(1.0, -1.0))
    creator.create("Genome", list, fitness=creator.Fitness)
    areas = {"evolution": [], "random": []}
    for seed in range(given.seeds):
        found = {}
        for name, search, count in (
            ("evolution", evolve, given.evaluations // 2),
            ("random", search_randomly, given.evaluations),
        ):
            random.seed(seed)
            task = Task()
            start = time.process_time()
            found[name] = search(task, count)
            seconds = time.process_time() - start
            areas[name].append(hypervolume(found[name]))
            print(
                f"seed {seed}, {name}: {task.evaluations} evaluations, {task.searched} with a "
                f"search, {task.refused} refused, {task.evaluations / seconds:.1f} a second of processor time, "
                f"hypervolume {areas[name][-1]:.0f}, best proxy "
                f"{max(each[0] for each in found[name]):.1f}",
                flush=True,
            )
        if seed == 0 and given.output:
            pathlib.Path(given.output).write_text(draw_svg(found["evolution"], found["random"]))
    evolved, drawn = (statistics.median(areas[name]) for name in ("evolution", "random"))
    print(f"median hypervolume: evolution {evolved:.0f}, random search {drawn:.0f}")
    return 0 if evolved >= drawn else 1


if __name__ == "__main__":
    sys.exit(main())
