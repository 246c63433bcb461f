# SPDX-License-Identifier: Apache-2.0
"""The fifteen workloads of the guard: commands, on profiles made here from those in the repository.

A row is a name, the words of the command, and its inputs from INPUTS. Inputs are made once per folder, with the tools
of the tree under test, so both programs read the same bytes.
"""
import gzip
import shutil
import struct
import subprocess

PROFILES = "examples/profiles"
# name: the profile, its size if repeated (stoker_grow), and its packing
INPUTS = {
    "kineto.json": (f"{PROFILES}/gpu_torch_eager.pt.trace.json.gz", "12M"),
    "kineto-cpu.json": (f"{PROFILES}/torch_cpu_input.pt.trace.json.gz", "8M"),
    "xplane.pb": (f"{PROFILES}/gpu_jax_fixed.xplane.pb.gz", "6M"),
    "keras.pb": (f"{PROFILES}/keras_input.xplane.pb.gz", "6M"),
    "nsys.sqlite": ("tests/fuzz/seeds/nsys/small.sqlite", "0.4M"),
}
SMALL = f"{PROFILES}/gpu_torch_graph.pt.trace.json.gz"
SQL = "select name, count(*), sum(dur_ns) from kernels group by name order by 3 desc limit 10"
WORKLOADS = {
    "why, Kineto JSON": ["why", "kineto.json"],
    "why, Kineto JSON in gzip": ["why", "kineto.json.gz"],
    "why, Kineto without a device": ["why", "kineto-cpu.json"],
    "why, XPlane of a GPU": ["why", "xplane.pb"],
    "why, XPlane of Keras": ["why", "keras.pb"],
    "why, nsys": ["why", "nsys.sqlite"],
    "why, Perfetto": ["why", "perfetto.pftrace"],
    "why, a small profile": ["why", SMALL],
    "stats all, Kineto": ["stats", "all", "kineto-cpu.json"],
    "stats all, XPlane": ["stats", "all", "xplane.pb"],
    "whatif, Kineto": ["whatif", SMALL],
    "query, Kineto": ["query", "kineto.json", SQL],
    "export csv, XPlane": ["export", "csv", "xplane.pb", "-o", "-"],
    "diff, Kineto": ["diff", f"{PROFILES}/gpu_torch_input.pt.trace.json.gz", f"{PROFILES}/gpu_torch_fixed.pt.trace.json.gz"],
    "data convert": ["data", "convert", "records.tfrecord", "-o", "OUTPUT"],
}


def write_records(path, count=4000, size=900):
    """A TFRecord file without valid checksums: zlib has no CRC32C, so stoker's own table is built here."""
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
        table.append(n)

    def masked(data):
        crc = 0xFFFFFFFF
        for byte in data:
            crc = table[(crc ^ byte) & 255] ^ crc >> 8
        crc ^= 0xFFFFFFFF
        return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    record = bytes(range(256)) * (size // 256 + 1)
    length = struct.pack("<Q", size)
    whole = length + masked(length) + record[:size] + masked(record[:size])
    path.write_bytes(whole * count)


def make_inputs(root, folder, grow, program):
    """Writes all inputs to the folder; keeps existing ones."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (source, size) in INPUTS.items():
        if not (folder / name).exists():
            part = folder / (name + ".part")
            subprocess.run([grow, root / source, part, size], check=True, stdout=subprocess.DEVNULL)
            part.rename(folder / name)
    packed = folder / "kineto.json.gz"
    if not packed.exists():
        with open(folder / "kineto.json", "rb") as plain, gzip.GzipFile(packed, "wb", 6, mtime=0) as out:
            shutil.copyfileobj(plain, out)
    if not (folder / "perfetto.pftrace").exists():
        source = root / f"{PROFILES}/gpu_torch_eager.pt.trace.json.gz"
        subprocess.run([program, "export", "perfetto", source, "-o", folder / "perfetto.pftrace"], check=True,
                       capture_output=True)
    if not (folder / "records.tfrecord").exists():
        write_records(folder / "records.tfrecord")


def command(root, folder, program, words, output):
    """The command line of a workload, on one thread."""
    out = [program]
    for word in words:
        made = folder / word
        given = root / word
        is_made = word in INPUTS or word in ("kineto.json.gz", "perfetto.pftrace", "records.tfrecord")
        out.append(made if is_made else output if word == "OUTPUT" else given if word.startswith(PROFILES) else word)
    return [*out, "--threads", "1"]
