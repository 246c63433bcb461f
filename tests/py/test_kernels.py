# SPDX-License-Identifier: Apache-2.0
"""The kernels of to_device without a device: their PTX, as the module holds it, run instruction by
instruction for every thread of a launch. Addresses, bounds and alignment are checked; floats are only
moved. That ptxas takes the text is tests/gpu/assemble.py's to say, and that a driver does and a device
computes the same tests/gpu/staging.py's.
"""

import re

import numpy as np

import checks as c
import stoker.data as sd

BLOCK = 256
SIZES = {"u8": 1, "u32": 4, "u64": 8, "f32": 4}


def kernels():
    """{name: (types of its parameters by name, statements, {label: where})}."""
    with open(sd._engine.__file__, "rb") as f:
        data = f.read()
    at = data.index(b".version 6.0\n.target sm_50")
    text, out = data[at : data.index(b"\0", at)].decode(), {}
    for name, head, body in re.findall(r"\.entry (\w+)\((.*?)\)\s*\{(.*?)\n\}", text, re.S):
        types = {n: t for t, n in re.findall(r"\.param \.(\w+) (\w+)", head)}
        code, labels = [], {}
        for line in body.split("\n"):
            line = line.strip().rstrip(";")
            if line.endswith(":"):
                labels[line[:-1]] = len(code)
            elif line and not line.startswith(".reg"):
                code.append(line)
        out[name] = (types, code, labels)
    return out


class Memory:
    """Pieces at addresses of their own; anything between them is out of bounds."""

    def __init__(self):
        self.pieces, self.next, self.written = [], 0x7F0000000000, set()

    def add(self, array):
        at = self.next
        self.pieces.append((at, np.ascontiguousarray(array).view(np.uint8).reshape(-1)))
        self.next += (self.pieces[-1][1].size + 4095) // 4096 * 4096 + 4096
        return at

    def find(self, address, size, grain):
        assert address % grain == 0, f"{address:#x} is not aligned to {grain}"
        for at, values in self.pieces:
            if at <= address and address + size <= at + values.size:
                return values[address - at : address - at + size]
        raise AssertionError(f"{size} bytes at {address:#x} are out of bounds")

    def load(self, address, kind, many):
        size = SIZES[kind]
        values = self.find(address, size * many, size * many)
        assert address not in self.written, "the read-only path reads what is written"
        return [int.from_bytes(values[i * size : (i + 1) * size].tobytes(), "little") for i in range(many)]

    def store(self, address, kind, values):
        size = SIZES[kind]
        to = self.find(address, size * len(values), size * len(values))
        for i, v in enumerate(values):
            assert address + i * size not in self.written, "written twice"
            self.written.add(address + i * size)
            to[i * size : (i + 1) * size] = np.frombuffer(v.to_bytes(size, "little"), np.uint8)


def run_thread(kernel, args, special, memory):
    types, code, labels = kernel
    registers, at, steps = dict(special), 0, 0

    def value(word):
        return registers[word] if word.startswith("%") else int(word)

    while at < len(code):
        steps += 1
        assert steps < 100_000, "it does not end"
        line, at = code[at], at + 1
        guard = re.match(r"@(%\w+) (.*)", line)
        if guard:
            if not registers[guard[1]]:
                continue
            line = guard[2]
        op, _, rest = line.partition(" ")
        groups = re.findall(r"\{[^}]*\}|\[[^]]*\]|[^,\s]+", rest)
        *name, kind = op.split(".")
        mask = 2 ** (8 * SIZES.get(kind.replace("b", "u"), 8)) - 1
        if op == "ret":
            return
        if op == "bra":
            at = labels[groups[0]]
            continue
        to, words = groups[0], groups[1:]
        if name[0] == "ld" and name[1] == "param":
            assert types[words[0][1:-1]] == kind, f"{line}: the parameter is {types[words[0][1:-1]]}"
            registers[to] = args[words[0][1:-1]]
        elif name[0] == "ld":
            names = re.findall(r"%\w+", to)
            assert len(names) == (4 if "v4" in name else 1) and "nc" in name
            for r, v in zip(names, memory.load(value(words[0][1:-1]), kind, len(names))):
                registers[r] = v
        elif name[0] == "st":
            names = re.findall(r"%\w+", words[0])
            assert len(names) == (4 if "v4" in name else 1)
            memory.store(value(to[1:-1]), kind, [value(r) for r in names])
        else:
            v = [value(w) for w in words]
            if name[0] == "setp":
                a, b = v
                result = {"ge": a >= b, "lt": a < b, "eq": a == b, "ne": a != b}[name[1]]
            elif name == ["mul", "wide"]:
                result, mask = v[0] * v[1], 2**64 - 1
            else:
                result = {
                    "mov": lambda: v[0],
                    "cvta": lambda: v[0],
                    "cvt": lambda: v[0],
                    "add": lambda: v[0] + v[1],
                    "sub": lambda: v[0] - v[1],
                    "rem": lambda: v[0] % v[1],
                    "shl": lambda: v[0] << v[1],
                    "mul": lambda: v[0] * v[1],
                    "mad": lambda: v[0] * v[1] + v[2],
                    "selp": lambda: v[0] if v[2] else v[1],
                }[name[0]]()
            if name[0] == "cvt":
                mask = 2**64 - 1
            registers[to] = bool(result) if name[0] == "setp" else int(result) & mask


def launch(kernel, columns, rows, args, memory):
    for y in range(rows):
        for x in range(columns):
            for t in range(BLOCK):
                special = {"%ctaid.x": x, "%ctaid.y": y, "%ntid.x": BLOCK, "%tid.x": t}
                run_thread(kernel, args, special, memory)


KERNELS = kernels()
RNG = np.random.default_rng(1)


def test_names():
    c.same(sorted(KERNELS), ["stoker_bytes_to_floats", "stoker_bytes_to_planes"])


def test_floats():
    """In the same places: numbers of values around a thread's four and a block's."""
    for n, channels in ((1, 1), (3, 1), (4, 1), (5, 5), (9, 3), (1023, 3), (1024, 4), (1029, 7), (2100, 3)):
        memory, table = Memory(), RNG.random((channels, 256), np.float32)
        x, y = RNG.integers(0, 256, n, np.uint8), np.zeros(n, np.float32)
        args = {"p_n": n, "p_channels": channels, "p_table": memory.add(table)}
        args.update(p_from=memory.add(x), p_to=memory.add(y))
        threads = (n + 3) // 4
        launch(KERNELS["stoker_bytes_to_floats"], (threads + BLOCK - 1) // BLOCK, 1, args, memory)
        got = memory.pieces[-1][1].view(np.float32)
        c.true(np.array_equal(got, table[np.arange(n) % channels, x]), f"{n} values, {channels} channels")


def test_planes():
    for images, pixels, channels, is_one in (
        (1, 1, 1, False),
        (2, 7, 3, False),
        (3, 255, 3, False),
        (2, 257, 4, False),
        (2, 60, 3, True),
        (1, 5, 40, False),
    ):
        memory, table = Memory(), RNG.random((1 if is_one else channels, 256), np.float32)
        x = RNG.integers(0, 256, (images, pixels, channels), np.uint8)
        y = np.zeros((images, channels, pixels), np.float32)
        args = {"p_pixels": pixels, "p_channels": channels, "p_table": memory.add(table)}
        args.update(p_from=memory.add(x), p_to=memory.add(y), p_table_bytes=0 if is_one else 1024)
        launch(KERNELS["stoker_bytes_to_planes"], (pixels + BLOCK - 1) // BLOCK, images, args, memory)
        got = memory.pieces[-1][1].view(np.float32).reshape(y.shape)
        at = np.zeros(channels, int) if is_one else np.arange(channels)
        c.true(np.array_equal(got, np.moveaxis(table[at, x], -1, 1)), f"{(images, pixels, channels, is_one)}")


c.main(globals())
