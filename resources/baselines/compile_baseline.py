# SPDX-License-Identifier: GPL-3.0-or-later
"""Times a task's operators under torch.compile, as Kernelwright times its candidates.

    python3 compile_baseline.py TASK --device cuda:0 --answer ANSWER.json [--warm] [--check] [--deadline SECONDS]

TASK is a file that `kernelwright-cli task` writes: a zip of task.json and the captured tensors. The operators are called
again through torch.ops and compiled with max-autotune (without its CUDA graphs, which copy their inputs); float32 stays
float32, TF32 is off. Times: cold L2 unless --warm (a buffer of twice its size is written before each run), five warm-ups and
at least 30 ms of them, then 40 to 200 samples until their spread is below 2 %; per sample the sum of its kernels by PyTorch's
profiler where that sees them, else CUDA events. --check only compares the rebuilt operators with the reference, on any
device, without compiling. After the deadline it ends by SIGALRM.

The answer is one JSON object: {"ok": true, "torch", "source", "samples_us": [...], "eager_us": [...], "compile_seconds",
"max_difference"} or {"ok": false, "reason": "..."}. The exit status is 0 in both cases; anything else is a crash.
"""
import argparse
import json
import signal
import statistics
import sys
import time
import zipfile


class Unsupported(Exception):
    """What keeps this task from being compiled; its text is for the user."""


def load_torch():
    try:
        import torch
    except ImportError as error:
        raise Unsupported(f"{sys.executable} has no torch ({error})") from error
    return torch


class TaskFile:
    """The captured case of a task: its graph, and its inputs and weights as tensors on a device."""

    def __init__(self, torch, path, device):
        self.torch, self.device = torch, device
        with zipfile.ZipFile(path) as archive:
            content = json.loads(archive.read("task.json"))
            self.graph = content["task"]["cases"][0]["subgraph"]
            self.inputs = [self.tensor(archive, entry) for entry in content["inputs"]]
            self.weights = {name: self.tensor(archive, entry) for name, entry in content["weights"].items()}

    def tensor(self, archive, entry):
        torch, layout = self.torch, entry["type"]
        dtype = getattr(torch, layout["dtype"], None)
        if dtype is None:
            raise Unsupported(f"this torch has no element type {layout['dtype']}")
        raw = bytearray(archive.read(entry["file"]))
        storage = torch.frombuffer(raw, dtype=dtype) if raw else torch.empty(0, dtype=dtype)
        flat = storage.to(self.device)
        return torch.as_strided(flat, layout["shape"], layout["strides"])


def argument_reader(torch, device):
    """Turns an argument of task.json into Python, given the values made so far."""
    formats = {name: getattr(torch, name) for name in
               ("contiguous_format", "channels_last", "channels_last_3d", "preserve_format")}

    def read(argument, frame):
        if isinstance(argument, list):
            return [read(item, frame) for item in argument]
        if not isinstance(argument, dict):
            return argument
        ((kind, content),) = argument.items()
        if kind == "value":
            return frame[content]
        if kind == "float":
            return float(content)
        if kind == "dtype":
            return getattr(torch, content)
        if kind == "device":
            return torch.device(device)
        if kind == "layout":
            return getattr(torch, content)
        if kind == "memory_format":
            return formats[content]
        raise Unsupported(f"arguments of kind '{kind}' cannot be rebuilt")

    return read


def find_operator(torch, node):
    """torch.ops.aten.add.Tensor for {"op": "aten::add", "overload": "Tensor"}; Python's own for sizes and lists."""
    space, _, name = node["op"].partition("::")
    if space == "_operator":
        import operator
        return getattr(operator, name), None
    if node["op"] == "prim::getitem":
        return (lambda items, index: items[index]), None
    packet = getattr(getattr(torch.ops, space, None), name, None)
    overload = getattr(packet, node.get("overload") or "default", None)
    if overload is None:
        raise Unsupported(f"torch {torch.__version__} has no operator {node['op']}.{node.get('overload', '')}")
    return overload, overload._schema


def bind(node, schema):
    """The node's arguments as (positional, by name), in the schema's order."""
    given = [(argument["name"], argument["value"]) for argument in node["arguments"]]
    if schema is None:
        return [value for _, value in given], {}
    named = dict((name, value) for name, value in given if name)
    positional = [value for name, value in given if not name]
    in_order = True
    for parameter in schema.arguments[len(positional):]:
        if parameter.kwarg_only or not in_order or parameter.name not in named:
            in_order = False
            continue
        positional.append(named.pop(parameter.name))
    return positional, named


def rebuild(torch, graph, device, weights):
    """A function of the graph's inputs that calls its operators and returns its tensors."""
    read = argument_reader(torch, device)
    steps = []
    for node in graph["nodes"]:
        if node.get("subgraphs"):
            raise Unsupported(f"{node['op']} has graphs of its own")
        operator, schema = find_operator(torch, node)
        positional, named = bind(node, schema)
        steps.append((operator, positional, named, node["outputs"]))
    given = set(graph["inputs"])
    constants = {index: weights[value["target"]] for index, value in enumerate(graph["values"])
                 if value.get("target") in weights and index not in given}
    inputs, outputs = graph["inputs"], graph["outputs"]

    def function(*arguments):
        frame = dict(constants)
        frame.update(zip(inputs, arguments))
        for operator, positional, named, results in steps:
            result = operator(*[read(item, frame) for item in positional],
                              **{name: read(item, frame) for name, item in named.items()})
            if len(results) == 1:
                frame[results[0]] = result
            else:
                frame.update(zip(results, result))
        return tuple(frame[output] for output in outputs)

    return function


def largest_difference(torch, ours, reference):
    """Over all outputs, relative to the largest element of each."""
    worst = 0.0
    for a, b in zip(ours, reference):
        a, b = a.to(torch.float64), b.to(torch.float64)
        if a.shape != b.shape:
            raise Unsupported(f"the compiled operators give {tuple(a.shape)} where eager gives {tuple(b.shape)}")
        if not torch.equal(torch.isnan(a), torch.isnan(b)):
            return float("inf")
        a, b = torch.nan_to_num(a), torch.nan_to_num(b)
        scale = b.abs().max().item() if b.numel() else 0.0
        error = (a - b).abs().max().item() if b.numel() else 0.0
        worst = max(worst, error / scale if scale > 0 else error)
    return worst


class Clock:
    """Takes samples of one call at a time."""

    def __init__(self, torch, device, warm):
        self.torch = torch
        properties = torch.cuda.get_device_properties(device)
        size = max(2 * getattr(properties, "L2_cache_size", 128 << 20), 1 << 20)
        self.flush = None if warm else torch.empty(size, dtype=torch.uint8, device=device)
        self.turn = 0

    def clear(self):
        if self.flush is not None:
            self.turn = (self.turn + 1) % 255
            self.flush.fill_(self.turn)

    def by_events(self, call):
        cuda = self.torch.cuda
        begin, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        self.clear()
        begin.record()
        call()
        end.record()
        cuda.synchronize()
        return begin.elapsed_time(end) * 1e3

    def samples_by_events(self, call):
        samples = []
        while len(samples) < 200 and (len(samples) < 40 or spread(samples) > 0.02):
            samples.append(self.by_events(call))
        return samples

    def kernels(self, work):
        """(name, start, microseconds) of every kernel, copy and fill that `work` makes, by PyTorch's profiler."""
        from torch.profiler import ProfilerActivity, profile
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            work()
            self.torch.cuda.synchronize()
        found = [(event.name, event.time_range.start, event.time_range.end - event.time_range.start)
                 for event in profiler.events() if str(event.device_type).endswith("CUDA")]
        return sorted(found, key=lambda kernel: kernel[1])

    def samples_by_kernels(self, call, count=60):
        """None where the records cannot be told apart by sample."""
        if self.flush is None:
            return None
        flushes = {name for name, _, _ in self.kernels(self.clear)}
        if len(flushes) != 1:
            return None
        flush = flushes.pop()

        def rounds():
            for _ in range(count):
                self.clear()
                call()
                self.torch.cuda.synchronize()

        samples = []
        for name, _, microseconds in self.kernels(rounds):
            if name == flush:
                samples.append(0.0)
            elif samples:
                samples[-1] += microseconds
        return samples if len(samples) == count and min(samples) > 0 else None

    def warm_up(self, call):
        began, calls = time.monotonic(), 0
        while calls < 5 or time.monotonic() - began < 0.03:
            call()
            self.torch.cuda.synchronize()
            calls += 1

    def measure(self, call):
        self.warm_up(call)
        try:
            samples = self.samples_by_kernels(call)
        except Exception as error:  # a profiler that may not be used costs its accuracy, nothing else
            print(f"profiler: {error}", file=sys.stderr)
            samples = None
        if samples:
            return samples, "kernels by PyTorch's profiler"
        return self.samples_by_events(call), "CUDA events, launch gaps included"


def spread(samples):
    low, _, high = statistics.quantiles(samples, n=4)
    return (high - low) / statistics.median(samples)


def rotated(function, sets):
    """Calls in turn on sets of inputs, so that none finds its inputs in a cache."""
    state = {"turn": 0}

    def call():
        state["turn"] = (state["turn"] + 1) % len(sets)
        return function(*sets[state["turn"]])

    return call


def work(options):
    torch = load_torch()
    if options.device.startswith("cuda") and not torch.cuda.is_available():
        raise Unsupported(f"torch {torch.__version__} of {sys.executable} sees no GPU")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    task = TaskFile(torch, options.task, options.device)
    function = rebuild(torch, task.graph, options.device, task.weights)
    with torch.inference_mode():
        expected = function(*task.inputs)
        if options.check:
            return {"ok": True, "torch": torch.__version__,
                    "outputs": [{"shape": list(output.shape), "dtype": str(output.dtype).removeprefix("torch."),
                                 "sum": output.to(torch.float64).sum().item(),
                                 "abs_sum": output.to(torch.float64).abs().sum().item()} for output in expected]}
        began = time.monotonic()
        compiled = torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False, fullgraph=True)
        difference = largest_difference(torch, compiled(*task.inputs), expected)
        compile_seconds = time.monotonic() - began
        sets = [task.inputs] + [[tensor.clone() for tensor in task.inputs] for _ in range(2)]
        clock = Clock(torch, options.device, options.warm)
        samples, source = clock.measure(rotated(compiled, sets))
        eager, _ = clock.measure(rotated(function, sets))
    return {"ok": True, "torch": torch.__version__, "source": source, "samples_us": samples, "eager_us": eager,
            "compile_seconds": compile_seconds, "max_difference": difference}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("task")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--answer", required=True)
    parser.add_argument("--warm", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--deadline", type=int, default=600, metavar="SECONDS")
    options = parser.parse_args()
    signal.alarm(max(options.deadline, 1))  # nobody else may be left to stop it
    try:
        answer = work(options)
    except Unsupported as reason:
        answer = {"ok": False, "reason": str(reason)}
    except Exception as error:  # torch's own errors come in many types; each is an answer, not a crash
        lines = [line for line in str(error).splitlines() if line.strip()] or [""]
        answer = {"ok": False, "reason": f"{type(error).__name__}: {lines[0][:300]}"}
    with open(options.answer, "w", encoding="utf-8") as file:
        json.dump(answer, file)


if __name__ == "__main__":
    main()
