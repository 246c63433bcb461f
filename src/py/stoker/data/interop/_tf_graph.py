# SPDX-License-Identifier: Apache-2.0
"""Functions of a tf.data pipeline, from the graphs that TensorFlow made of them.

A function's graph holds what its Python source does not show: control flow that AutoGraph wrote, methods
under tf.function, captured tensors and tables. Here it is run over this module's operations, one node after another,
while a pipeline's function is traced: the result is native code. _tf_ops.py (values) and _tf_datasets.py (datasets)
define what a node becomes. A node without an equivalent raises Unsupported, which names it.

Limits: nodes, nesting and the library's size are bounded. Variables have the value of the time of the
import. A function that changes a variable, or draws from TensorFlow's generators of that kind, is not
translated.
"""

import numpy as np

NODES_MAX = 50_000  # of all functions of one stage: more are no input function, but a model
DEPTH_MAX = 64  # functions that call functions

OPS = {}  # type of an operation -> function(at, *inputs), its results


class Unsupported(Exception):
    """What a graph has and this module does not."""


def operation(*types):
    """Decorator: what operations of these types do here."""

    def put(f):
        OPS.update(dict.fromkeys(types, f))
        return f

    return put


class Resource:
    """A variable or table of TensorFlow's, by its handle."""

    def __init__(self, handle):
        self.handle = handle


class At:
    """An operation that is being translated: its attributes, and the functions that they name."""

    def __init__(self, program, op, depth):
        self.program, self.op, self.depth = program, op, depth

    def attr(self, name, default=None):
        try:
            v = self.op.get_attr(name)
        except ValueError:  # a version without it
            return default
        return v

    def dtype(self, name):
        """An attribute that is a type, by NumPy's name; "bytes" for strings."""
        return dtype_name(self.attr(name))

    def dtypes(self, name):
        return [dtype_name(t) for t in self.attr(name)]

    def text(self, name):
        v = self.attr(name)
        return v.decode() if isinstance(v, bytes) else v

    def function(self, name):
        """function(*values) of the function that an attribute names; a list of its results."""
        return self.program.function(self.attr(name).name, self.depth + 1)

    def refuse(self, why):
        raise Unsupported(f"{self.op.type}: {why}")


def dtype_name(dtype):
    import tensorflow as tf

    name = tf.dtypes.as_dtype(dtype).name
    return "bytes" if name == "string" else name


class _Body:
    """A function's graph: the operations that its results need, in an order in which they can run."""

    def __init__(self, graph, inputs=None, outputs=None):
        self.inputs = [_key(t) for t in (graph.inputs if inputs is None else inputs)]
        self.outputs = [_key(t) for t in (graph.outputs if outputs is None else outputs)]
        effects = list(getattr(graph, "control_outputs", ()))
        self.ops = _needed(graph.get_operations(), self.outputs, effects, set(self.inputs))


def _key(tensor):
    return tensor.op.name, tensor.value_index


_KEPT = ("Assert", "If", "StatelessIf", "PrintV2")  # what a function does besides its results
_NOTHING = ("NoOp", "Const", "Placeholder", "Identity", "ReadVariableOp", "VarIsInitializedOp")


def _needed(ops, outputs, effects, inputs):
    by_name = {op.name: op for op in ops}
    wanted = {name for name, _ in outputs} | {op.name for op in effects if op.type not in _NOTHING}
    left, seen = [n for n in wanted if n in by_name], set()
    given = {name for name, _ in inputs}
    while left:
        name = left.pop()
        if name in seen or name in given:
            continue
        seen.add(name)
        left.extend(t.op.name for t in by_name[name].inputs)
        left.extend(c.name for c in by_name[name].control_inputs if c.type in _KEPT)
    return [op for op in ops if op.name in seen]


class Program:
    """The functions of a library, run over this module's operations."""

    def __init__(self, library, graph):
        """graph: TensorFlow's, which knows the library's functions."""
        self.definitions, self.graph = {f.signature.name: f for f in library}, graph
        self.bodies, self.count = {}, 0

    def function(self, name, depth=0):
        if depth > DEPTH_MAX:
            raise Unsupported(f"functions that call each other more than {DEPTH_MAX} deep")
        body = self.bodies.get(name)
        if body is None:
            body = self.bodies[name] = self.read(name)
        return lambda *values: self.run(body, values, depth)

    def read(self, name):
        """The body of a function of the library."""
        from tensorflow.python.framework import function_def_to_graph

        if name not in self.definitions:
            raise Unsupported(f"the function {name} is not in the graph's library")
        try:
            with self.graph.as_default():
                graph = function_def_to_graph.function_def_to_graph(self.definitions[name])
        except Exception as e:
            raise Unsupported(f"the function {name} of the graph's library is damaged: {_first_line(e)}") from e
        return self.add(graph)

    def add(self, graph):
        self.count += len(graph.get_operations())
        if self.count > NODES_MAX:
            raise Unsupported(f"more than {NODES_MAX:,} operations")
        return _Body(graph)

    def run(self, body, values, depth=0):
        """The results of a body, a list."""
        if len(values) != len(body.inputs):
            raise Unsupported(f"a function of {len(body.inputs)} values gets {len(values)}")
        known = dict(zip(body.inputs, values))
        for op in body.ops:
            if (op.name, 0) in known:
                continue
            for i, v in enumerate(self.results(op, known, depth)):
                known[op.name, i] = v
        missing = [name for name, i in body.outputs if (name, i) not in known]
        if missing:
            raise Unsupported(f"nothing gives the result {missing[0]}")
        return [known[k] for k in body.outputs]

    def results(self, op, known, depth):
        translate = OPS.get(op.type)
        if translate is None:
            raise Unsupported(f"the operation {op.type} ({op.name}) has no equivalent here")
        try:
            inputs = [known[_key(t)] for t in op.inputs]
        except KeyError as e:
            raise Unsupported(f"{op.type}: its input {e.args[0][0]} is not computed before it") from None
        out = translate(At(self, op, depth), *inputs)
        return out if isinstance(out, list) else [out]


def _first_line(e):
    return (str(e).splitlines() or [repr(e)])[0]


def captured(tensor):
    """A captured tensor as a value: an array, a scalar, bytes, or a Resource."""
    if tensor.dtype.name in ("resource", "variant"):
        return Resource(tensor)
    return plain_array(tensor.numpy())


def plain_array(v):
    a = np.asarray(v, dtype=object if isinstance(v, (bytes, str)) else None)
    return a if a.ndim else a[()]


def program_of(concrete):
    """(Program, body, captured values) of a concrete function."""
    program = Program(concrete.graph.as_graph_def().library.function, concrete.graph)
    body = program.add(concrete.graph)
    return program, body, [captured(t) for t in concrete.captured_inputs]


def call_of(concrete):
    """function(*values) of a concrete function: its flat results, a list."""
    program, body, more = program_of(concrete)
    return lambda *values: program.run(body, [*values, *more])
