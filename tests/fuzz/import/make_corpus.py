#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the seeds of the fuzzing corpus: small sound inputs for each reader, and one of each way of being wrong.

    python3 tests/fuzz/import/make_corpus.py tests/fuzz/import/corpus

Needs Python alone. What a fuzzing run finds is added by hand beside these, named after what was wrong."""
import copy
import io
import json
import pathlib
import pickle
import struct
import sys
import zipfile

SEPARATOR = b"\n----\n"


def size(value):
    return {"as_int": value}


def meta(sizes, dtype=7):
    strides = [1] * len(sizes)
    for i in range(len(sizes) - 1, 0, -1):
        strides[i - 1] = strides[i] * sizes[i]
    return {"dtype": dtype, "sizes": [size(s) for s in sizes], "requires_grad": False, "layout": 7,
            "device": {"type": "cpu", "index": None}, "strides": [size(s) for s in strides], "storage_offset": size(0)}


def tensor(name):
    return {"as_tensor": {"name": name}}


def node(target, inputs, outputs, **more):
    return {"target": target, "inputs": [{"name": n, "arg": a, "kind": 1} for n, a in inputs], "outputs": outputs,
            "metadata": {"stack_trace": '  File "net.py", line 7, in forward\n    return x',
                         "nn_module_stack": "L__self__,,net.Net;L__self___layer,layer,net.Layer"}, **more}


def program():
    symbolic = meta([2, 3])
    symbolic["sizes"][0] = {"as_expr": {"expr_str": "Mul(Integer(2), Symbol('s0', integer=True))",
                                        "hint": {"as_int": 2}}}
    branch = {"name": "true_graph_0",
              "graph": {"inputs": [tensor("a")], "outputs": [tensor("b")], "tensor_values": {"a": meta([2, 4]), "b": meta([2, 4])},
                        "sym_int_values": {}, "nodes": [node("torch.ops.aten.relu.default", [("self", tensor("a"))], [tensor("b")])]}}
    graph = {"inputs": [tensor("p_w"), tensor("x")], "outputs": [tensor("out")], "sym_int_values": {},
             "tensor_values": {"x": symbolic, "p_w": meta([4, 3]), "linear": meta([2, 4]), "out": meta([2, 4]),
                               "s1": meta([2, 2]), "s2": meta([2, 2])},
             "nodes": [node("torch.ops.aten.linear.default", [("input", tensor("x")), ("weight", tensor("p_w"))],
                            [tensor("linear")], name="linear"),
                       node("torch.ops.aten.split.Tensor", [("self", tensor("linear")), ("split_size", {"as_int": 2})],
                            [{"as_tensors": [{"name": "s1"}, {"name": "s2"}]}]),
                       node("torch.ops.aten.sym_size.int", [("self", tensor("x")), ("dim", {"as_int": 0})],
                            [{"as_sym_int": {"as_name": "n"}}]),
                       node("torch.ops.higher_order.cond",
                            [("", {"as_bool": True}), ("", {"as_graph": branch}), ("", {"as_graph": copy.deepcopy(branch)}),
                             ("", {"as_tensors": [{"name": "linear"}]})], [tensor("out")])]}
    signature = {"input_specs": [{"parameter": {"arg": {"name": "p_w"}, "parameter_name": "w"}},
                                 {"user_input": {"arg": tensor("x")}}],
                 "output_specs": [{"user_output": {"arg": tensor("out")}}]}
    return {"graph_module": {"graph": graph, "signature": signature}, "torch_version": "2.11.0",
            "range_constraints": {"s0": {"min_val": 1, "max_val": 64}}, "schema_version": {"major": 8, "minor": 17}}


def config(**change):
    weight = {"path_name": "weight_0", "is_param": True, "use_pickle": False, "tensor_meta": meta([4, 3])}
    weight["tensor_meta"].update(change)
    return {"config": {"w": weight}}


class Storage:
    """Pickles as torch.save does, a persistent id of a storage."""


def saved(root, sizes=(4, 3), strides=(3, 1), offset=0):
    """A pickle of what `root` makes of one tensor."""
    class Pickler(pickle._Pickler):
        def persistent_id(self, value):
            return ("storage", GlobalName("torch", "FloatStorage"), "0", "cpu", 12) if isinstance(value, Storage) else None

        def save(self, value, *rest, **named):
            if isinstance(value, GlobalName):
                return self.write(b"c%s\n%s\n" % (value.module.encode(), value.name.encode()))
            return super().save(value, *rest, **named)

    class GlobalName:
        def __init__(self, module, name):
            self.module, self.name = module, name

    class Tensor:
        def __reduce_ex__(self, protocol):
            return rebuild, (Storage(), offset, sizes, strides, False, {})

    def rebuild(*arguments):
        raise AssertionError(arguments)

    class Writer(Pickler):
        def save(self, value, *rest, **named):
            return super().save(GlobalName("torch._utils", "_rebuild_tensor_v2") if value is rebuild else value, *rest, **named)

    out = io.BytesIO()
    Writer(out, 2).dump(root(Tensor()))
    return out.getvalue()


def zipped(records, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in records:
            archive.writestr(name, content)
    return out.getvalue()


def changed(path, value):
    """The program with what is at `path` replaced."""
    result = program()
    place = result
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value(place[path[-1]]) if callable(value) else value
    return result


def programs():
    graph = ("graph_module", "graph")
    yield "sound", program()
    yield "cyclic", changed(graph + ("nodes",), lambda nodes: nodes[::-1])
    yield "duplicate_name", changed(graph + ("nodes",), lambda nodes: nodes + nodes[:1])
    yield "unknown_dtype", changed(graph + ("tensor_values", "x", "dtype"), 99)
    yield "negative_size", changed(graph + ("tensor_values", "linear", "sizes"), [size(-2), size(4)])
    yield "huge_size", changed(graph + ("tensor_values", "x", "sizes"), [size(2**62), size(2**62)])
    yield "huge_stride", changed(graph + ("tensor_values", "x", "strides"), [size(-2**63), size(2**63 - 1)])
    yield "unknown_argument", changed(graph + ("nodes", 1, "inputs", 1, "arg"), {"as_custom_obj": {"name": "c"}})
    yield "unknown_input", changed(("graph_module", "signature", "input_specs", 1), {"novel_input": {}})
    yield "no_outputs", changed(("graph_module", "signature", "output_specs"), [])
    yield "schema_9", changed(("schema_version", "major"), 9)


def deep(levels):
    inner = {"inputs": [], "outputs": [], "nodes": [], "tensor_values": {}}
    for level in range(levels):
        inner = {"inputs": [], "outputs": [], "tensor_values": {},
                 "nodes": [node("torch.ops.higher_order.wrap_with_set_grad_enabled",
                                [("", {"as_bool": False}), ("", {"as_graph": {"name": "g", "graph": inner}})], [])]}
    return changed(("graph_module", "graph"), inner)


def main():
    folder = pathlib.Path(sys.argv[1])
    text = json.dumps(program(), separators=(",", ":")).encode()
    weights = struct.pack("<12f", *range(12))

    def write(target, name, content):
        (folder / target).mkdir(parents=True, exist_ok=True)
        (folder / target / name).write_bytes(content)

    for name, content in programs():
        write("program", name, json.dumps(content, separators=(",", ":")).encode())
    write("program", "deep_graphs", json.dumps(deep(40), separators=(",", ":")).encode())
    write("program", "deep_brackets", b"[" * 5000)

    write("pickle", "state_dict", saved(lambda t: {"w": t}))
    write("pickle", "example", saved(lambda t: {"args": (t, 3, 0.5, None, True, "text"), "ref": [t]}))
    write("pickle", "contains_itself", b"\x80\x02]q\x00h\x00a.")
    write("pickle", "code", b"\x80\x02cos\nsystem\nU\x02id\x85R.")

    def archive(*pieces):
        return SEPARATOR.join(p if isinstance(p, bytes) else json.dumps(p, separators=(",", ":")).encode() for p in pieces)

    none = {"config": {}}
    inputs = zipped([("archive/data.pkl", saved(lambda t: ((t,), {}))), ("archive/data/0", weights)])
    write("archive", "sound", archive(text, config(), weights, none, b"", inputs))
    write("archive", "short_weights", archive(text, config(), weights[:20]))
    write("archive", "missing_weights", archive(text, none))
    write("archive", "offset_past_the_end", archive(text, config(storage_offset=size(2**61)), weights))
    write("archive", "negative_stride", archive(text, config(strides=[size(-3), size(1)]), weights))
    write("archive", "overflowing_stride", archive(text, config(strides=[size(2**62), size(2**62)]), weights))
    write("flat_archive", "sound", archive(text, saved(lambda t: {"w": t}), weights, saved(lambda t: ((t,), {}))))
    write("flat_archive", "negative_offset", archive(text, saved(lambda t: {"w": t}, offset=-5), weights))
    hollow = b"\x80\x02]" + b"".join(b"q%c0h%ch%c\x86" % (i, i, i) for i in range(60)) + b"."
    write("flat_archive", "hollow_doubling", archive(text, saved(lambda t: {"w": t}), weights, hollow))
    write("flat_archive", "huge_sizes", archive(text, saved(lambda t: {"w": t}, sizes=(2**40, 2**40)), weights))

    records = [("m/archive_format", b"pt2"), ("m/models/model.json", text), ("m/data/weights/weight_0", weights),
               ("m/data/weights/model_weights_config.json", json.dumps(config()).encode())]
    sound = zipped(records)
    write("file", "model.pt2", sound)
    write("file", "deflated.pt2", zipped(records, zipfile.ZIP_DEFLATED))
    write("file", "bomb.pt2", zipped([("m/models/model.json", b" " * 4_000_000)], zipfile.ZIP_DEFLATED))
    write("file", "truncated.pt2", sound[: len(sound) // 2])
    write("file", "state_dict.pt", zipped([("a/data.pkl", saved(lambda t: {"w": t})), ("a/data/0", weights)]))
    write("file", "script.pt", zipped([("s/constants.pkl", b"\x80\x02)."), ("s/code/net.py", b""),
                                       ("s/traced_inputs.pkl", saved(lambda t: {"forward": (t,)}))]))
    write("file", "empty.zip", zipped([]))

    write("expression", "product", b"Mul(Integer(2), Symbol('s0', integer=True))")
    write("expression", "sum", b"s0 + 2*s1 - (s0 // 3) % 5 ** 2 + max(s0, -u0)")
    write("expression", "least_number", b"-(0-9223372036854775807-1)")
    write("expression", "least_quotient", b"(0-9223372036854775807-1)//(0-1)")
    write("expression", "deep", b"(" * 5000)
    write("expression", "deep_signs", b"-" * 5000)


if __name__ == "__main__":
    main()
