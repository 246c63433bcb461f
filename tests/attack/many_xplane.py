# SPDX-License-Identifier: Apache-2.0
"""XSpace profiles with many different things of one kind. MAKERS: name -> writes about `size` bytes."""
import itertools
import random

LOCAL = b"/host:CPU"
GPU = b"/device:GPU:0"


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def block(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def name_of(i, name):
    """Entry of a plane's map of names, for events (4) or stats (5)."""
    return number(1, i) + block(2, number(1, i) + block(2, name))


def event(i, offset_ps, duration_ps, stats=b""):
    return number(1, i) + number(2, offset_ps) + number(3, duration_ps) + stats


def stat(i, value):
    return block(4, number(1, i) + number(3, value))


def line(i, name, events):
    return number(1, i) + block(2, name) + number(3, 1000) + events


def until(size, parts):
    """Parts one behind the other, until they are that long."""
    out = bytearray()
    for part in parts:
        out += part
        if len(out) >= size:
            return bytes(out)
    return bytes(out)


def plane(name, *contents):
    return block(1, block(2, name) + b"".join(contents))


def counting(make):
    return (make(k) for k in itertools.count(1))


def events_of(n, first=1, step_ps=20_000_000):
    return b"".join(block(4, event(first + k, k * step_ps, step_ps // 2)) for k in range(n))


def named_events(name, plane_name, line_name, ids=lambda k: k):
    """A name for every event; half the bytes are names, half events."""
    def make(size):
        names = until(size * 2 // 3, counting(lambda k: block(4, name_of(ids(k), name(k)))))
        events = until(size // 3, counting(lambda k: block(4, event(ids(k), k * 20_000_000, 9_000_000))))
        return plane(plane_name, names, block(3, line(1, line_name, events)))
    return make


def stats_of(size):
    """Kernels, each with a correlation of its own."""
    events = until(size, counting(lambda k: block(4, event(1, k * 20_000_000, 9_000_000, stat(1, k)))))
    return plane(GPU, block(4, name_of(1, b"gemm")), block(5, name_of(1, b"correlation_id")),
                 block(3, line(7, b"Stream #7(Compute)", events)))


def stat_names(size):
    names = until(size, counting(lambda k: block(5, name_of(k, b"s%d" % k))))
    return plane(LOCAL, names, block(4, name_of(1, b"a")), block(3, line(1, b"python", events_of(1))))


def stat_texts(size):
    """A detail string of its own for each copy."""
    events = until(size, counting(lambda k: block(4, event(1, k * 20_000_000, 9_000_000, block(
        4, number(1, 1) + block(5, b"kind_src:pinned kind_dst:device size:%d dest:0 async:1" % k))))))
    return plane(GPU, block(4, name_of(1, b"MemcpyH2D")), block(5, name_of(1, b"memcpy_details")),
                 block(3, line(7, b"Stream #7(MemcpyH2D)", events)))


def meta_stats(size):
    """Names that carry stats of their own."""
    metas = until(size, counting(lambda k: block(4, number(1, k) + block(2, number(1, k) + block(2, b"k%d" % k) + block(
        5, number(1, 1) + block(5, b"convolution"))))))
    return plane(GPU, metas, block(5, name_of(1, b"hlo_category")), block(3, line(7, b"Stream #7", events_of(1000))))


def lines(plane_name, name, each=1):
    def make(size):
        return plane(plane_name, block(4, name_of(1, b"a")), until(size, counting(
            lambda k: block(3, number(1, k) + block(2, name(k)) + block(4, event(1, k * 1000, 1000)) * each))))
    return make


def planes(name, content):
    def make(size):
        return until(size, counting(lambda k: plane(name(k), content(k))))
    return make


def one_kernel(k):
    return block(4, name_of(1, b"gemm")) + block(3, line(7, b"Stream #7", block(4, event(1, k * 20_000_000, 9_000_000))))


def devices_in_steps(size):
    steps = max(1, size // 25_000)
    marks = b"".join(block(4, event(1, k * 10_000_000_000, 9_900_000_000, stat(1, k))) for k in range(steps))
    host = plane(LOCAL, block(4, name_of(1, b"train")), block(5, name_of(1, b"step_num")), block(3, line(1, b"python", marks)))
    return host + until(size, counting(lambda k: plane(b"/device:GPU:%d" % k, one_kernel(k))))


def steps(size):
    marks = until(size, counting(lambda k: block(4, event(1, k * 20_000_000, 19_000_000, stat(1, k)))))
    return plane(LOCAL, block(4, name_of(1, b"train")), block(5, name_of(1, b"step_num")), block(3, line(1, b"python", marks)))


def steps_derived(size):
    """The line Steps of a TPU, a name for each step, and the work under them."""
    names = until(size // 2, counting(lambda k: block(4, name_of(k, b"%d" % k))))
    half = until(size // 4, counting(lambda k: block(4, event(k, k * 20_000_000, 19_000_000))))
    work = until(size // 4, counting(lambda k: block(4, event(1, k * 20_000_000, 9_000_000))))
    return plane(b"/device:TPU:0", names, block(3, line(1, b"Steps", half)), block(3, line(2, b"XLA Ops", work)))


def counters(size):
    """A name for each sample of the line of counters."""
    names = until(size // 2, counting(lambda k: block(4, name_of(k, b"c%d" % k))))
    samples = until(size // 2, counting(lambda k: block(4, event(k, k * 1000, 0, block(4, number(1, 1) + number(3, k))))))
    return plane(GPU, names, block(5, name_of(1, b"counter_value")), block(3, line(1, b"_counters_", samples)))


def texts(field):
    return lambda size: until(size, counting(lambda k: block(field, b"text %d was dropped" % k))) + plane(
        LOCAL, block(4, name_of(1, b"a")), block(3, line(1, b"python", events_of(1))))


def functions(size):
    """tf.data's stages, each a name of its own, and the numbers of the functions that they run."""
    names = until(size // 2, counting(lambda k: block(4, name_of(k, b"Iterator::Prefetch::Map%d" % k))))
    events = until(size // 2, counting(lambda k: block(4, event(k, k * 20_000_000, 9_000_000, stat(1, k)))))
    return plane(LOCAL, names, block(5, name_of(1, b"id")), block(3, line(1, b"tf_data_private_threadpool/1", events)))


random_ids = random.Random(3)
def stacks(size):
    """480 nested calls, and inside them groups of 30 more: almost each event ends a stack that was not there before."""
    rnd, names, outer, inner = random.Random(1), 200, 480, 30
    group_ps = 2 * inner * 1000
    groups = size // (inner * 14)
    nested = b"".join(block(4, event(1 + k % names, 0, groups * group_ps)) for k in range(outer))
    deeper = b"".join(block(4, event(1 + rnd.randrange(names), g * group_ps + k * 1000, group_ps - 2 * k * 1000))
                      for g in range(groups) for k in range(inner))
    return plane(LOCAL, b"".join(block(4, name_of(1 + k, b"%d" % k * 40)) for k in range(names)),
                 block(3, line(1, b"python", nested + deeper)))


KINDS = {
    "names": named_events(lambda k: b"n%d" % k, LOCAL, b"python"),
    "names-kernel": named_events(lambda k: b"k%d" % k, GPU, b"Stream #7(Compute)"),
    "names-sparse": named_events(lambda k: b"n%d" % k, LOCAL, b"python", ids=lambda k: k * 0x9E3779B97F4A7C15 & (1 << 63) - 1),
    "names-only": lambda size: plane(LOCAL, until(size, counting(lambda k: block(4, name_of(k, b"a"))))),
    "names-empty": lambda size: plane(LOCAL, block(4, b"") * (size // 2)),
    "names-one-id": lambda size: plane(LOCAL, until(size, counting(lambda k: block(4, block(2, block(2, b"a")))))),
    "stat-names": stat_names,
    "stat-names-empty": lambda size: plane(LOCAL, block(5, b"") * (size // 2)),
    "stat-texts": stat_texts,
    "meta-stats": meta_stats,
    "correlations": stats_of,
    "functions": functions,
    "events-empty": lambda size: plane(LOCAL, block(3, line(1, b"python", block(4, b"") * (size // 2)))),
    "events-short": lambda size: plane(LOCAL, block(3, line(1, b"python", block(4, number(1, 1)) * (size // 4)))),
    "overlapping": lambda size: plane(LOCAL, block(4, name_of(1, b"a")), block(3, line(1, b"python", until(size, counting(
        lambda k: block(4, event(1, k * 1000, 50_000_000_000))))))),
    "stacks": stacks,
    "lines": lines(LOCAL, lambda k: b""),
    "lines-named": lines(LOCAL, lambda k: b"thread %d" % k),
    "streams": lines(GPU, lambda k: b"Stream #%d" % k),
    "lines-empty": lambda size: plane(LOCAL, block(3, b"") * (size // 2)),
    "planes": planes(lambda k: b"/host:%d" % k, lambda k: b""),
    "planes-empty": lambda size: block(1, b"") * (size // 2),
    "planes-lines": planes(lambda k: b"p%d" % k, lambda k: block(3, block(4, event(1, k * 1000, 1000)))),
    "devices": planes(lambda k: b"/device:GPU:%d" % k, one_kernel),
    "devices-one-number": planes(lambda k: b"/device:GPU:0 %d" % k, one_kernel),
    "devices-unknown": planes(lambda k: b"/device:XPU:%d" % k, one_kernel),
    "devices-steps": devices_in_steps,
    "cores": planes(lambda k: b"/device:TPU:%d" % k, lambda k: block(4, name_of(1, b"fusion")) + block(
        3, line(2, b"XLA Ops", block(4, event(1, k * 20_000_000, 9_000_000))))),
    "steps": steps,
    "steps-derived": steps_derived,
    "counters": counters,
    "errors": texts(2),
    "warnings": texts(3),
    "hosts": texts(4),
    "plane-stats": lambda size: plane(LOCAL, until(size, counting(lambda k: block(6, number(1, k) + number(3, k))))),
    "fields-unknown": lambda size: until(size, counting(lambda k: number(1000 + k, k))),
}


def profile(content):
    def make(path, size):
        with open(path, "wb") as f:
            f.write(content(size))
    return make


MAKERS = {f"xplane-{kind}": profile(content) for kind, content in KINDS.items()}
