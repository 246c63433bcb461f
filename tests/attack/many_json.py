# SPDX-License-Identifier: Apache-2.0
"""Chrome and Kineto traces with many different things of one kind. MAKERS: name -> writes about `size` bytes.

Each is as short as its kind allows, to separate the cost of one more thing from the cost of its text."""

HEAD = '{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA A100-SXM4-40GB","numSms":108}],"traceEvents":[\n'
STEP_US = 10_000


def op(name, ts, dur=4, pid=7, tid=7, cat="cpu_op", args=""):
    return f'{{"ph":"X","cat":"{cat}","name":"{name}","pid":{pid},"tid":{tid},"ts":{ts},"dur":{dur}{args}}}'


def launch(k, ts, tid=7):
    return op("cudaLaunchKernel", ts, 2, tid=tid, cat="cuda_runtime", args=f',"args":{{"correlation":{k}}}')


def kernel(k, ts, name="gemm", device=0, stream=7, dur=8, more="", pid=0):
    args = f',"args":{{"device":{device},"stream":{stream},"correlation":{k}{more}}}'
    return op(name, ts, dur, pid, stream, "kernel", args)


def step(number, ts, dur=STEP_US - 10):
    return op(f"ProfilerStep#{number}", ts, dur, cat="user_annotation")


def in_steps(event, every=500):
    """Steps of `every` events of 20 us each around what `event` gives."""
    def make(k):
        ts = 1_000_000 + k * 20
        marker = step(k // every, ts, every * 20 - 10) + "," if k % every == 0 else ""
        return marker + event(k, ts)
    return make


def nested_in_steps(work_at, every=20_000):
    """Steps that begin with `every` functions inside of one another, whose names say nothing; the step's work is at `work_at`."""
    def make(k):
        number, depth = divmod(k, every)
        begin = 1_000_000 + number * 100_000
        frame = op(f"job.py({depth}): zork{depth % 50}", begin + 1 + depth, 80_000 - 2 * depth, cat="python_function",
                   args=f',"args":{{"Python id":{k}}}')
        first = step(number, begin, 99_000) + "," + op("aten::mm", begin + work_at, 500, cat="cpu_op") + "," if depth == 0 else ""
        return first + frame
    return make


def work(k, ts, **kernel_words):
    return launch(k, ts) + "," + kernel(k, ts + 5, **kernel_words)


def collective(k, ts, group, name="all_reduce", ranks=""):
    more = (f',"Collective name":"{name}","In msg nelems":{k + 1},"Group size":{k % 64 + 2},'
            f'"Process Group Name":"{group}","dtype":"Float"{ranks}')
    return kernel(k, ts, f"ncclDevKernel_{name}", more=more)


def counter(k, name, series):
    return f'{{"ph":"C","name":"{name}","ts":{k},"args":{{"{series}":{k}}}}}'


def memory(k, ts, address, device=0):
    size = 512 if k % 2 else -512
    return (f'{{"ph":"i","s":"t","cat":"cpu_instant_event","name":"[memory]","pid":7,"tid":7,"ts":{ts},"args":'
            f'{{"Total Allocated":{k * 512},"Device Type":1,"Device Id":{device},"Addr":{address},"Bytes":{size}}}}}')


KINDS = {
    # Who did it.
    "pids": lambda k: f'{{"ph":"X","pid":{k},"ts":{k},"dur":1}}',
    "pids-text": lambda k: f'{{"ph":"X","pid":"p{k}","ts":{k},"dur":1}}',
    "pids-work": in_steps(lambda k, ts: op("aten::mm", ts, pid=k + 10) + "," + work(k, ts + 1)),
    "tids": lambda k: f'{{"ph":"X","tid":{k},"ts":{k},"dur":1}}',
    "tids-text": lambda k: f'{{"ph":"X","tid":"t{k}","ts":{k},"dur":1}}',
    "tids-launch": in_steps(lambda k, ts: launch(k, ts, tid=k) + "," + kernel(k, ts + 5)),
    "pids-device": lambda k: f'{{"ph":"M","name":"process_name","pid":{k},"args":{{"name":"/device:GPU:{k}"}}}},'
                             f'{{"ph":"X","pid":{k},"tid":1,"name":"a","ts":{k},"dur":1}}',
    "ranks": in_steps(lambda k, ts: kernel(k, ts, more=f',"rank":{k},"raw_pid":7', pid=k)),
    "thread-names": lambda k: f'{{"ph":"M","name":"thread_name","pid":{k},"tid":{k},"args":{{"name":"t{k}"}}}}',
    "process-names": lambda k: f'{{"ph":"M","name":"process_name","pid":{k},"args":{{"name":"p{k}"}}}},'
                               f'{{"ph":"X","pid":{k},"ts":{k},"dur":1}}',
    "streams": in_steps(lambda k, ts: work(k, ts, stream=k)),
    "streams-only": lambda k: kernel(k, k * 9, stream=k),
    "devices": in_steps(lambda k, ts: work(k, ts, device=k)),
    "devices-no-steps": lambda k: work(k, k * 20, device=k),
    "devices-each-step": in_steps(lambda k, ts: work(k, ts, device=k % 5000), every=5000),
    "device-properties": None,
    # What it is called.
    "names": lambda k: f'{{"ph":"X","name":"n{k}","ts":{k},"dur":1}}',
    "names-op": in_steps(lambda k, ts: op(f"aten::op_{k}", ts) + "," + work(k, ts + 1)),
    "names-kernel": in_steps(lambda k, ts: work(k, ts, name=f"kernel_{k}")),
    "names-runtime": in_steps(lambda k, ts: op(f"cudaCall{k}", ts, cat="cuda_runtime")),
    "names-nested": lambda k: op(f"n{k}", 1000 + k, 100_000_000 - 2 * k),
    "categories": lambda k: op("a", k, cat=f"c{k}"),
    "arg-names": lambda k: f'{{"ph":"X","name":"a","ts":{k},"dur":1,"args":{{"k{k}":{k}}}}}',
    "arg-names-one": lambda k: op("a", k, args=',"args":{' + ",".join(f'"k{i}":{i}' for i in range(20_000)) + "}"),
    "python": lambda k: op(f"a.py({k}): f{k}", k * 20, 19, cat="python_function", args=f',"args":{{"Python id":{k}}}'),
    "python-deep": lambda k: op(f"a.py({k % 9}): f", 1000 + k, 100_000_000 - 2 * k, cat="python_function",
                                args=f',"args":{{"Python id":{k},"Python parent id":{max(0, k - 1)}}}'),
    "python-leading": nested_in_steps(90_000),
    "python-around": nested_in_steps(30_000),
    "modules": in_steps(lambda k, ts: op(f"nn.Module: Linear_{k}", ts, 18, cat="python_function") + "," + work(k, ts + 1)),
    "stacks": in_steps(lambda k, ts: op(f"outer{k}", ts, 19) + "," + op(f"inner{k}", ts + 1, 18) + "," + work(k, ts + 2)),
    "stages": in_steps(lambda k, ts: op(f"Iterator::Root::Map[{k}]", ts, 9)),
    "fetches-under": in_steps(lambda k, ts: op("enumerate(DataLoader)#_S.__next__", ts + 1, 5) + "," + op("aten::mm", ts + 8, 5) + "," +
                              op("aten::mm", 1, 1_000_000_000, tid=100 + k)),  # on a thread each, as long as all fetches
    "fetches": in_steps(lambda k, ts: op(f"enumerate(DataLoader)#Loader{k}.__next__", ts, 9, cat="user_annotation") + "," + work(k, ts + 9)),
    "optimizers": in_steps(lambda k, ts: op(f"Optimizer.step#Adam{k}.step", ts, 9, cat="user_annotation") + "," + work(k, ts + 9)),
    "jitted": lambda k: op(f"PjitFunction(f{k})", k * 20, 9),
    "syncs": in_steps(lambda k, ts: op("cudaDeviceSynchronize", ts, 15, cat="cuda_runtime") + "," + work(k, ts + 16)),
    # Counts and sizes.
    "counters": lambda k: counter(k, f"c{k}", f"v{k}"),
    "counters-short": lambda k: f'{{"ph":"C","name":"c{k}","ts":1}}',
    "counter-series": lambda k: counter(k, "c", f"v{k}"),
    "counter-series-one": lambda k: f'{{"ph":"C","name":"c","ts":{k},"args":{{' + ",".join(f'"v{k * 5000 + i}":1' for i in range(5000)) + "}}",
    "configs": in_steps(lambda k, ts: work(k, ts, more=f',"grid":[{k + 1},1,1],"block":[128,1,1],"registers per thread":40')),
    "addresses": lambda k: memory(k, 1000 + k, 4096 * k),
    "memory-devices": lambda k: memory(k, 1000 + k, 4096, device=k),
    "shapes": lambda k: op("aten::mm", k * 9, args=f',"args":{{"Input Dims":[[{k},{k}],[{k},8]]}}'),
    # Steps, links, groups.
    "steps": lambda k: step(k, k * 20, 19) + "," + work(k, k * 20 + 1),
    "steps-only": lambda k: step(k, k * 20, 19),
    "steps-nested": lambda k: step(k, 1000 + k, 100_000_000 - 2 * k) + "," + work(k, 1000 + k),
    "correlations": lambda k: launch(2 * k, k * 9) + "," + kernel(2 * k + 1, k * 9),
    "correlation-one": in_steps(lambda k, ts: launch(1, ts) + "," + kernel(1, ts + 5)),
    "flows": lambda k: f'{{"ph":"s","id":{k},"ts":{k},"cat":"ac2g"}}',
    "async": lambda k: f'{{"ph":"b","cat":"x","id":{k},"name":"a{k}","ts":{k}}}',
    "begins": lambda k: f'{{"ph":"B","name":"b{k}","ts":{k}}}',
    "groups": in_steps(lambda k, ts: collective(k, ts, k)),
    "groups-ranks": in_steps(lambda k, ts: collective(k, ts, k, ranks=f',"Process Group Ranks":"[{k}, {k + 1}]"')),
    "collective-names": in_steps(lambda k, ts: collective(k, ts, 0, name=f"all_reduce_{k}")),
    "collectives-host": in_steps(lambda k, ts: op(f"gloo:all_reduce_{k}", ts, 9, cat="user_annotation")),
    # Times.
    "overlapping": lambda k: op("aten::mm", 1000 + k, 50_000_000),
    "overlapping-kernels": lambda k: kernel(k, 1000 + k, dur=50_000_000),
    "same-time": lambda k: op("aten::mm", 1000) + "," + kernel(k, 1000),
    "backwards": lambda k: op("aten::mm", 10**12 - 20 * k) + "," + kernel(k, 10**12 - 20 * k),
    "gaps": in_steps(lambda k, ts: work(k, ts, dur=1, name=f"k{k}")),
    # Beside the events.
    "metadata": lambda k: f'{{"ph":"M","name":"m{k}","pid":{k}}}',
    "instants": lambda k: f'{{"ph":"i","name":"i{k}","ts":{k}}}',
    "keys": None,
    "empty-events": lambda k: "{}",
}


def trace(event):
    def make(path, size):
        with open(path, "w", encoding="ascii") as f:
            f.write(HEAD)
            written, k = 0, 0
            while written < size:
                texts = [event(i) for i in range(k, k + 1000 if k else 1)]
                k += len(texts)
                text = ",\n".join(texts)
                written += f.write((",\n" if written else "") + text)
            f.write("]}")
    return make


def top_keys(path, size):
    with open(path, "w", encoding="ascii") as f:
        f.write('{"traceEvents":[' + op("a", 1) + "]")
        written, k = 0, 0
        while written < size:
            written += f.write(f',"key{k}":{k}')
            k += 1
        f.write("}")


def device_properties(path, size):
    """As many devices as a value that is kept holds, and rows of as many."""
    with open(path, "w", encoding="ascii") as f:
        rows = ",".join(f'{{"id":{k}}}' for k in range(4096))
        f.write(f'{{"deviceProperties":[{rows}],"traceEvents":[' + kernel(0, 1))
        written, k = 0, 0
        while written < size:
            k += 1
            written += f.write("," + kernel(k, k, device=4095 - k % 4096, stream=k))
        f.write("]}")


MAKERS = {f"json-{kind}": trace(event) for kind, event in KINDS.items() if event}
MAKERS["json-keys"] = top_keys
MAKERS["json-device-properties"] = device_properties
