#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plans every network of a folder on every shipped profile, and compares the plans with bounds.

  bench/networks.py build/release/bin/tessera FOLDER [--timeout 20] [--profiles A,B] [--networks A,B]
      [--save FILE] [--against FILE] [--execute]

Networks are the .onnx files of FOLDER, as int8 (--floats-as int8), symbolic dimensions as 1. Each
plan and each refutation goes through `tessera check`, with --execute each plan through
`check --execute`. Prints a Markdown table:

  answer         optimal, feasible, infeasible (a refutation that the checker accepts), or what is
                 wrong
  cycles         thousands, of the plan / of the plan layer by layer / the lower bound
  energy, bytes  the same in uJ and in thousands of off-chip bytes
  over           score over bound
  host           operators on the host, and their share of the MACs

and then, for each profile, the median of score over bound. Networks with unknown work are left out
of the median and listed. --save writes all figures as JSON. --against compares with such a file and
lists each plan that is missing or whose score is worse. Ends with 1 if an answer is none, a check
fails, or a plan is worse than in the other file. Needs an idle machine: plans depend on time.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROFILES = sorted(path.stem for path in (ROOT / "hw_profiles").glob("*.yaml"))
NO_PLAN = 20


def run(words):
    return subprocess.run([str(word) for word in words], text=True, capture_output=True)


def symbols_of(program, network, profile):
    """--dim options that set each symbolic dimension to 1; the error of a first run names them."""
    refused = run([program, "plan", network, "--hw", profile, "--floats-as", "int8", "--budget", 1])
    names = re.findall(r"--dim (\w+)=", refused.stderr)
    return [word for name in dict.fromkeys(names) for word in ("--dim", f"{name}=1")]


METRICS = ("latency_cycles", "energy_pj", "off_chip_bytes")


def figures_of(plan):
    baseline = plan.get("baseline")
    layers = baseline["totals"] if baseline and baseline["complete"] else {}
    host = re.search(r"on the host: (\d+) of \d+ operators, ([\d.]+) %", " ".join(plan["notes"]))
    return {
        "answer": plan["status"],
        "score": plan["score"],
        "bound": plan["bound"],
        **{metric: [plan["totals"][metric], layers.get(metric), plan["lower_bounds"][metric]]
           for metric in METRICS},
        "on_host": int(host.group(1)) if host else 0,
        "host_percent": float(host.group(2)) if host else 0,
        "unknown_work": plan["totals"]["unknown_work"],
    }


def answer(program, network, profile, dims, options, folder):
    """The figures of a plan or of a refutation; `fault` says what the checker does not accept."""
    plan, certificate = folder / "plan.json", folder / "certificate"
    done = run([program, "plan", network, "--hw", profile, "--floats-as", "int8", *dims,
                "--timeout", options.timeout, "--no-reasons", "--certificate", certificate,
                "--output", plan])
    if done.returncode == 0:
        figures = figures_of(json.loads(plan.read_text()))
        checked = run([program, "check", *(["--execute"] if options.execute else []), plan])
    elif done.returncode == NO_PLAN:
        figures = {"answer": "infeasible"}
        checked = run([program, "check", "--certificate", certificate])
    else:
        said = re.search(r"^.*(unknown|unsupported|error): .*$", done.stdout + done.stderr, re.M)
        return {"answer": f"exit {done.returncode}", "fault": said.group() if said else "no answer"}
    if checked.returncode != 0:
        figures["fault"] = "check: " + (checked.stdout + checked.stderr).strip().split("\n")[0]
    return figures


def grouped(number):
    return "-" if number is None else f"{number:,.0f}".replace(",", " ")


def row(network, profile, figures):
    answer = ": ".join(figures[key] for key in ("answer", "fault") if key in figures)
    if "score" not in figures:
        return f"| {network} | {profile} | {answer} | | | | | |"

    def shown(metric, unit):
        return " / ".join(grouped(each if each is None else each / unit)
                          for each in figures[metric])

    host = f"{figures['on_host']}, {figures['host_percent']:g} %" if figures["on_host"] else ""
    cells = [network, profile, answer, shown("latency_cycles", 1e3), shown("energy_pj", 1e6),
             shown("off_chip_bytes", 1e3), f"{figures['score'] / figures['bound']:.2f}", host]
    return "| " + " | ".join(cells) + " |"


def print_medians(table):
    print()
    for profile in sorted({profile for _, profile in table}):
        ratios, unknown = [], []
        for (network, on), figures in table.items():
            if on != profile or not figures.get("bound"):
                continue
            if figures["unknown_work"]:
                unknown.append(network)
            else:
                ratios.append(figures["score"] / figures["bound"])
        if ratios:
            print(f"{profile}: median of score over bound {statistics.median(ratios):.3f} of "
                  f"{len(ratios)} plans; unknown work: {', '.join(unknown) or 'none'}")


def worse_than(before, table):
    for key, old in before.items():
        new = table.get(tuple(key.split(" on ")))
        if new is None or old.get("score") is None:
            continue
        if new.get("score") is None:
            yield f"{key}: no plan; it was {grouped(old['score'])}"
        elif new["score"] > old["score"]:
            yield f"{key}: {grouped(new['score'])}; it was {grouped(old['score'])}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--timeout", default="20")
    parser.add_argument("--profiles", default=",".join(PROFILES))
    parser.add_argument("--networks", default="")
    parser.add_argument("--save", type=pathlib.Path)
    parser.add_argument("--against", type=pathlib.Path)
    parser.add_argument("--execute", action="store_true")
    options = parser.parse_args()
    chosen = set(options.networks.split(",")) - {""}
    networks = [path for path in sorted(options.folder.glob("*.onnx"))
                if not chosen or path.stem in chosen]
    if not networks:
        sys.exit(f"{options.folder} has no .onnx file that was asked for")
    print("| network | profile | answer | cycles, k | energy, uJ | off-chip, kB | over | host |\n"
          "|---|---|---|--:|--:|--:|--:|---|")
    table = {}
    for network in networks:
        dims = None
        for name in options.profiles.split(","):
            profile = ROOT / "hw_profiles" / f"{name}.yaml"
            if dims is None:
                dims = symbols_of(options.program, network, profile)
            with tempfile.TemporaryDirectory() as folder:
                figures = answer(options.program, network, profile, dims, options,
                                 pathlib.Path(folder))
            table[network.stem, name] = figures
            print(row(network.stem, name, figures), flush=True)
    print_medians(table)
    if options.save:
        options.save.write_text(json.dumps(
            {" on ".join(key): figures for key, figures in table.items()}, indent=1) + "\n")
    worse = []
    if options.against:
        worse = list(worse_than(json.loads(options.against.read_text()), table))
        print("\n".join(["", "worse than before:", *worse] if worse else ["", "no plan is worse"]))
    sys.exit(1 if worse or any("fault" in figures for figures in table.values()) else 0)


if __name__ == "__main__":
    main()
