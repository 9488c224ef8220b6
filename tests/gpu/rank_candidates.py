#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Do modelled times rank the playbook's candidates as measured ones do?

On a machine with a GPU: lets the playbook optimise the sample models there, then evaluates every candidate that was
measured once more on the simulator, and prints Spearman's rank correlation per task. Writes rank_candidates.json and .md.

    tests/gpu/rank_candidates.py [--bin build/bin] [--out FOLDER] [--iterations 16] [--tasks 4] [MODEL...]
"""
import argparse
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
FASTEST_SPREAD = 0.02  # measured times closer than this count as one: their order is noise


def run(command, log):
    done = subprocess.run(command, stdout=log, stderr=log)
    return done.returncode


def read_session(path):
    """The measured candidates by task: nodes, and (source, tuning, latency) of each."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    tasks = {}
    for task_id, title, text in database.execute("SELECT id, title, json FROM task"):
        tasks[task_id] = {"title": title, "nodes": json.loads(text)["nodes"], "candidates": []}
    query = ("SELECT c.task_id, c.id, c.summary, c.source, e.json FROM candidate c JOIN evaluation e ON e.candidate = c.id"
             " WHERE e.latency_us > 0 ORDER BY c.id")
    for task_id, number, summary, source, text in database.execute(query):
        evaluation = json.loads(text)
        if evaluation["time_source"] == "model":
            continue
        tasks[task_id]["candidates"].append({"id": number, "summary": summary, "source": source,
                                             "tuning": evaluation.get("tuning", {}),
                                             "measured_us": evaluation["latency_us"]["median"]})
    database.close()
    return [task for task in tasks.values() if task["candidates"]]


def model_times(cli, device, task_file, task, folder, log):
    """Adds modelled_us to each candidate that the simulator could time."""
    def evaluate(candidate):
        stem = folder / f"{task_file.stem}_{candidate['id']}"
        source = stem.with_suffix(".cu")
        source.write_text(candidate["source"])
        command = [cli, "evaluate", source, "--task", task_file, "--device", device, "--stages", "measure", "--json",
                   stem.with_suffix(".json")]
        if candidate["tuning"]:
            command += ["--tune", ",".join(f"{name}={value}" for name, value in candidate["tuning"].items())]
        run(command, log)
        try:
            evaluation = json.loads(stem.with_suffix(".json").read_text())
        except (OSError, ValueError):
            return
        latency = evaluation["latency_us"].get("median", 0)
        if latency > 0:
            candidate["modelled_us"] = latency
        else:
            candidate["why_not"] = evaluation.get("reason", "")
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 4)) as pool:
        list(pool.map(evaluate, task["candidates"]))


def ranks(values, spread):
    """Average ranks; values within `spread` of their neighbour below are tied."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start + 1
        while end < len(order) and values[order[end]] <= values[order[end - 1]] * (1 + spread):
            end += 1
        for i in range(start, end):
            result[order[i]] = (start + end - 1) / 2
        start = end
    return result


def spearman(a, b):
    x, y = ranks(a, FASTEST_SPREAD), ranks(b, 1e-9)
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    covariance = sum((p - mean_x) * (q - mean_y) for p, q in zip(x, y))
    spread = (sum((p - mean_x) ** 2 for p in x) * sum((q - mean_y) ** 2 for q in y)) ** 0.5
    return covariance / spread if spread > 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=ROOT / "build" / "bin", type=pathlib.Path)
    parser.add_argument("--out", default=os.environ.get("OUT", "."), type=pathlib.Path)
    parser.add_argument("--iterations", default="16")
    parser.add_argument("--tasks", default="4")
    parser.add_argument("--gpu", default="cuda:0")
    parser.add_argument("--simulator", default="simt")
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    models = arguments.models or sorted((ROOT / "resources" / "samples").glob("*.pt2"))
    cli = arguments.bin / "kernelwright-cli"
    arguments.out.mkdir(parents=True, exist_ok=True)
    results = []
    with tempfile.TemporaryDirectory() as folder, open(arguments.out / "rank_candidates.log", "w") as log:
        folder = pathlib.Path(folder)
        for model in models:
            session = folder / (model.stem + ".kwsession")
            run([cli, "optimize", model, "--device", arguments.gpu, "--iterations", arguments.iterations, "--tasks",
                 arguments.tasks, "--session", session], log)
            if not session.exists():
                print(f"{model.name}: no session was written, see the log", file=sys.stderr)
                continue
            for number, task in enumerate(read_session(session)):
                task_file = folder / f"{model.stem}_{number}.task"
                run([cli, "task", model, "--node", ",".join(task["nodes"]), "-o", task_file, "--device",
                     arguments.simulator], log)
                model_times(cli, arguments.simulator, task_file, task, folder, log)
                timed = [c for c in task["candidates"] if "modelled_us" in c]
                for candidate in task["candidates"]:
                    del candidate["source"]
                correlation = spearman([c["measured_us"] for c in timed], [c["modelled_us"] for c in timed]) \
                    if len(timed) > 2 else None
                results.append({"model": model.name, "task": task["title"], "nodes": task["nodes"],
                                "spearman": correlation, "candidates": task["candidates"]})
                print(f"{model.name}: {task['title']}: {len(timed)} of {len(task['candidates'])} candidates, Spearman "
                      f"{'-' if correlation is None else format(correlation, '.3f')}", flush=True)
    (arguments.out / "rank_candidates.json").write_text(json.dumps(results, indent=1) + "\n")
    lines = ["| model | task | candidates | Spearman | measured µs (modelled µs) |", "| --- | --- | --- | --- | --- |"]
    for result in results:
        timed = [c for c in result["candidates"] if "modelled_us" in c]
        times = ", ".join(f"{c['measured_us']:.1f} ({c['modelled_us']:.1f})" for c in timed)
        value = "-" if result["spearman"] is None else format(result["spearman"], ".3f")
        lines.append(f"| {result['model']} | {result['task']} | {len(timed)} | {value} | {times} |")
    (arguments.out / "rank_candidates.md").write_text("\n".join(lines) + "\n")
    known = [r for r in results if r["spearman"] is not None]
    total = sum(1 for r in results for c in r["candidates"] if "modelled_us" in c)
    print(f"{total} candidates in {len(results)} tasks; {sum(r['spearman'] >= 0.9 for r in known)} of {len(known)} tasks "
          "have a correlation of 0.9 or more")
    return 0 if known and all(r["spearman"] >= 0.9 for r in known) else 1


if __name__ == "__main__":
    sys.exit(main())
