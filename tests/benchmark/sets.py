#!/usr/bin/env python3
"""Evaluates the public test sets in a folder and holds the figures to their floors.

    sets.py BINARY FOLDER

FOLDER holds BEIR folders and, under gate/, the gate queries of some of them. Sets that are not
there are skipped, which is said; figures below their floor end with exit code 1.
"""
import json
import subprocess
import sys
from pathlib import Path

# nDCG@10 of the hybrid ranking.
RETRIEVAL = {
    "cranfield": 0.395,
    "scifact": 0.72,
    "cisi": 0.45,
    "clinc150-oos": 0.87,
    "clariq": 0.84,
    "limit-small": 0.97,
    "stackfaq-para": 0.98,
}
# Figure: floor or ceiling of the mean over the gate's sets, and of the worst of them.
GATE = {
    "false_asks": (max, 0.03, 0.08),
    "ooc_far_asked": (min, 0.97, 0.93),
    "ooc_near_asked": (min, 0.80, 0.80),
    "degraded_failing_asked": (min, 0.72, 0.55),
    "auroc_failing": (min, 0.80, 0.72),
    "mix_ask": (min, 0.49, 0.38),
    "asked_share": (max, 0.27, 0.33),
    "ece": (max, 0.07, 0.09),
}


def evaluate(binary, folder, name):
    command = [binary, "--config", "nowhere", "evaluate", "--corpus", str(folder / name), "--json"]
    gate = folder / "gate" / f"{name}.jsonl"
    if gate.exists():
        command += ["--gate", str(gate)]
    output = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return json.loads(output)


def main():
    binary, folder = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
    missed = []
    gates = {}

    def hold(what, value, better, bound):
        ok = value <= bound if better is max else value >= bound
        print(f"{'ok  ' if ok else 'MISS'} {what}: {value:.3f} ({'at most' if better is max else 'at least'} {bound})")
        if not ok:
            missed.append(what)

    for name, floor in RETRIEVAL.items():
        if not (folder / name / "corpus.jsonl").exists():
            print(f"skip {name}: not in {folder.name}/")
            continue
        report = evaluate(binary, folder, name)
        hold(f"{name} hybrid nDCG@10", report["retrieval"]["hybrid"]["ndcg10"]["value"], min, floor)
        if "gate" in report:
            gates[name] = report["gate"]
    if gates:
        for figure, (better, mean, worst) in GATE.items():
            values = [gate[figure]["value"] for gate in gates.values()]
            hold(f"{figure}, mean of {', '.join(gates)}", sum(values) / len(values), better, mean)
            hold(f"{figure}, worst", max(values) if better is max else min(values), better, worst)
    sys.exit(1 if missed else 0)


main()
