# SPDX-License-Identifier: Apache-2.0
"""gdb speaks stoker: (gdb) source tools/gdb/stoker.py

`help stk` lists the commands. They read the program's memory and call nothing in it, so that they work on
a core file too; `stk check` alone calls a function of the program. Each takes an expression for what it
shows; without one it takes the first variable of that type in the frames around. The program must have
been built with -g (the preset `debug`). Lists are cut after `ROWS` rows, what is left out is counted.
"""

import gdb

ROWS = 40
NONE = 0xFFFFFFFF


class StkError(gdb.GdbError):
    """A mistake of the user, printed without a traceback."""


def constants(enum):
    """Names of an enumeration's values, without their common beginning."""
    try:
        kind = gdb.lookup_type(enum)
    except gdb.error as e:
        raise StkError(f"no {enum}: was the program built with -g? ({e})") from e
    return {f.enumval: f.name for f in kind.fields()}


def word(value, enum, start):
    name = constants(enum).get(int(value))
    return name[len(start):].lower() if name else f"?{int(value)}"


def variable_of(struct):
    """The first variable in the frames from here outwards that is a `struct` or a pointer to one."""
    frame = gdb.selected_frame()
    while frame is not None:
        try:
            block = frame.block()
        except RuntimeError:
            block = None  # no debugging information there
        while block is not None and not (block.is_global or block.is_static):
            for symbol in block:
                if not (symbol.is_variable or symbol.is_argument):
                    continue
                value = symbol.value(frame)
                target = value.type.strip_typedefs()
                is_pointer = target.code == gdb.TYPE_CODE_PTR
                base = (target.target() if is_pointer else target).unqualified().strip_typedefs()
                if base.code == gdb.TYPE_CODE_STRUCT and base.tag == struct:
                    if not is_pointer:
                        return value
                    if int(value) != 0:
                        return value.dereference()
            block = block.superblock
        frame = frame.older()
    raise StkError(f"no struct {struct} in the frames from here on: give an expression")


def evaluate(expression):
    try:
        return gdb.parse_and_eval(expression)
    except gdb.error as e:
        raise StkError(str(e)) from e


def thing(struct, expression):
    if not expression:
        return variable_of(struct)
    value = evaluate(expression)
    if value.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
        value = value.dereference()
    return value


def text_of(pointer, size=None):
    if int(pointer) == 0:
        return "(null)"
    if size is None:
        return pointer.string("utf-8", "replace")
    return pointer.string("utf-8", "replace", length=min(int(size), 120))


def name_of(trace, index):
    strings = trace["strings"]
    index = int(index)
    if index >= int(strings["count"]):
        return f"(no string {index})"
    return text_of(strings["strings"][index], strings["lengths"][index])


def rows(count):
    count = int(count)
    yield from range(min(count, ROWS))
    if count > ROWS:
        print(f"  ... and {count - ROWS} more")


def duration(trace, event):
    low = int(trace["dur_low"][event])
    for i in range(int(trace["long_dur_count"])) if low == NONE else ():
        if int(trace["long_durs"][i]["event"]) == event:
            return int(trace["long_durs"][i]["dur_ns"])
    return low


def print_event(trace, event):
    kind = word(trace["kind"][event], "enum stk_kind", "STK_KIND_")
    indent = "  " * min(int(trace["depth"][event]), 30)
    print(f"{event:>10} {int(trace['start_ns'][event]):>14} ns + {duration(trace, event):>12} ns "
          f"{indent}{kind} \"{name_of(trace, trace['name'][event])}\"")


def track_of(trace, event):
    for i in range(int(trace["track_count"])):
        track = trace["tracks"][i]
        if int(track["first"]) <= event < int(track["first"]) + int(track["count"]):
            return i
    return None


def print_parts(parts):
    names = constants("enum stk_part")
    count = next(v for v, n in names.items() if n == "STK_PART_COUNT")
    values = [int(parts[p]) for p in range(count)]
    for p, ns in enumerate(values):
        if ns:
            share = 100 * ns / sum(values) if sum(values) else 0
            print(f"  {names[p][len('STK_PART_'):].lower():<24} {ns:>14} ns {share:5.1f} %")
    print(f"  {'sum':<24} {sum(values):>14} ns")


def print_steps(steps, count):
    print(f"{int(count)} rows of steps")
    for i in rows(count):
        s = steps[i]
        device = "host" if int(s["device"]) == NONE else f"device {int(s['device'])}"
        names = constants("enum stk_part")
        parts = [int(s["parts"][p]) for p in range(len(names) - 1)]
        most = names[parts.index(max(parts))][len("STK_PART_"):].lower()
        unused = f"; not used: {text_of(s['excluded'])}" if int(s["excluded"]) else ""
        print(f"  {i}: step {int(s['number'])}, rank {int(s['rank'])}, {device}: "
              f"{int(s['start_ns'])} ns + {int(s['dur_ns'])} ns, mostly {most}{unused}")


def split(argument, numbers):
    """Leading numbers, as many as there are, then an expression."""
    words = gdb.string_to_argv(argument)
    values = []
    while words and len(values) < numbers and words[0].isdigit():
        values.append(int(words.pop(0)))
    return values, " ".join(words)


class Stk(gdb.Command):
    """What stoker holds in memory: trace, track, event, run, steps, parts, spans, block, check."""

    def __init__(self):
        super().__init__("stk", gdb.COMMAND_DATA, prefix=True)


class Trace(gdb.Command):
    """stk trace [TRACE]: processes, devices, tracks and issues of a struct stk_trace."""

    def __init__(self):
        super().__init__("stk trace", gdb.COMMAND_DATA)

    def invoke(self, argument, _from_tty):
        t = thing("stk_trace", argument)
        print(f"trace: {text_of(t['format'])} by \"{name_of(t, t['producer'])}\", {int(t['count'])} events "
              f"({int(t['read'])} records read, {int(t['dropped'])} dropped), rank {int(t['rank'])}")
        for i in rows(t["process_count"]):
            p = t["processes"][i]
            print(f"  process {i}: pid {int(p['pid'])}, rank {int(p['rank'])}, \"{name_of(t, p['name'])}\"")
        for i in rows(t["device_count"]):
            d = t["devices"][i]
            print(f"  device {i}: number {int(d['ordinal'])} of process {int(d['process'])}, "
                  f"\"{name_of(t, d['name'])}\"")
        for i in rows(t["track_count"]):
            k = t["tracks"][i]
            kind = word(k["kind"], "enum stk_track_kind", "STK_TRACK_")
            sub = "" if int(k["parent"]) == NONE else f", sub-row of {int(k['parent'])}"
            print(f"  track {i}: {kind} {int(k['id'])} \"{name_of(t, k['name'])}\"{sub}: "
                  f"events [{int(k['first'])}, {int(k['first']) + int(k['count'])})")
        issues = constants("enum stk_issue_id")
        for i in range(len(issues) - 1):
            if int(t["issues"][i]["count"]):
                print(f"  issue {issues[i][len('STK_ISSUE_'):].lower()}: {int(t['issues'][i]['count'])}, "
                      f"\"{name_of(t, t['issues'][i]['note'])}\"")


class Track(gdb.Command):
    """stk track N [FROM] [TRACK's TRACE]: events of track N, from its FROM-th on."""

    def __init__(self):
        super().__init__("stk track", gdb.COMMAND_DATA)

    def invoke(self, argument, _from_tty):
        numbers, expression = split(argument, 2)
        t = thing("stk_trace", expression)
        if not numbers or numbers[0] >= int(t["track_count"]):
            raise StkError(f"which track? The trace has {int(t['track_count'])}")
        track, first = t["tracks"][numbers[0]], numbers[1] if len(numbers) > 1 else 0
        for i in rows(int(track["count"]) - first):
            print_event(t, int(track["first"]) + first + i)


class Event(gdb.Command):
    """stk event N [TRACE]: one event, its values, and what launched it or what it launched."""

    def __init__(self):
        super().__init__("stk event", gdb.COMMAND_DATA)

    def invoke(self, argument, _from_tty):
        numbers, expression = split(argument, 1)
        t = thing("stk_trace", expression)
        if not numbers or numbers[0] >= int(t["count"]):
            raise StkError(f"which event? The trace has {int(t['count'])}")
        event = numbers[0]
        print_event(t, event)
        position = int(t["pos_low"][event]) | int(t["pos_high"][event]) << 32
        print(f"  on track {track_of(t, event)}, byte {position} of the input")
        ref, is_call = int(t["ref"][event]), word(t["kind"][event], "enum stk_kind", "STK_KIND_") == "runtime"
        while is_call and ref != NONE:
            print("  launched")
            print_event(t, ref)
            ref = int(t["ext"][int(t["ref"][ref])]["next"])
        if not is_call and ref != NONE:
            x = t["ext"][ref]
            print(f"  values {ref}: flags {int(x['flags']):#x}, value {int(x['value'])}, "
                  f"direction {int(x['dir'])}, memories {int(x['src_mem'])} to {int(x['dst_mem'])}")
            if int(x["link"]) != NONE:
                print("  launched by")
                print_event(t, int(x["link"]))


class Run(gdb.Command):
    """stk run [RUN]: parts, devices and steps of a struct stk_run_sum."""

    def __init__(self):
        super().__init__("stk run", gdb.COMMAND_DATA)

    def invoke(self, argument, _from_tty):
        run = thing("stk_run_sum", argument)
        print(f"run: {int(run['rank_count'])} ranks, scope {word(run['scope'], 'enum stk_scope', 'STK_SCOPE_')}, "
              f"{int(run['steps_used'])} steps used, median {int(run['step_median_ns'])} ns, "
              f"wall {int(run['wall_ns'])} ns")
        print_parts(run["parts"])
        for i in rows(run["device_count"]):
            d = run["devices"][i]
            print(f"  device {i} {text_of(d['id'])} \"{text_of(d['name'])}\": span {int(d['span_ns'])} ns, "
                  f"busy {int(d['busy_ns'])} ns, {'analysed' if d['analysed'] else text_of(d['left_out'])}")
        print_steps(run["steps"], run["step_count"])


class Steps(gdb.Command):
    """stk steps [RUN]: the rows of steps of a struct stk_run_sum or stk_rank_sum."""

    def __init__(self):
        super().__init__("stk steps", gdb.COMMAND_DATA)

    def invoke(self, argument, _from_tty):
        run = thing("stk_run_sum", argument)
        print_steps(run["steps"], run["step_count"])


class Parts(gdb.Command):
    """stk parts [ARRAY]: an array of STK_PART_COUNT times, such as run->steps[3].parts."""

    def __init__(self):
        super().__init__("stk parts", gdb.COMMAND_DATA)

    def invoke(self, argument, _from_tty):
        print_parts(evaluate(argument) if argument else variable_of("stk_run_sum")["parts"])


class Spans(gdb.Command):
    """stk spans [SPANS]: the intervals of a struct stk_spans."""

    def __init__(self):
        super().__init__("stk spans", gdb.COMMAND_DATA)

    def invoke(self, argument, _from_tty):
        s = thing("stk_spans", argument)
        print(f"{int(s['count'])} intervals")
        for i in rows(s["count"]):
            start, end = int(s["v"][i]["start_ns"]), int(s["v"][i]["end_ns"])
            print(f"  [{start}, {end}) {end - start} ns")


def shape_text(shape):
    rank = int(shape["rank"])
    return "(" + ", ".join(str(int(shape["dim"][i])) for i in range(rank)) + ")" if rank >= 0 else "(unknown)"


class Block(gdb.Command):
    """stk block [BLOCK]: the columns of a struct stk_block: type, shape, first values."""

    def __init__(self):
        super().__init__("stk block", gdb.COMMAND_DATA)

    def invoke(self, argument, _from_tty):
        b = thing("stk_block", argument)
        print(f"block: {int(b['n'])} elements of {int(b['count'])} columns")
        for i in rows(b["count"]):
            c = b["cols"][i]
            dtype = constants("enum stk_dtype").get(int(c["dtype"]), f"?{int(c['dtype'])}")
            shape = "varied shapes" if c["is_varied"] else f"shape {shape_text(c['shape'])}"
            head = " ".join(f"{int(c['data'][k]):02x}" for k in range(8)) if int(c["data"]) else "none"
            print(f"  {i}: {int(c['n'])} of {dtype}, {shape}, stride {int(c['stride'])}, data {head} ...")


class Check(gdb.Command):
    """stk check [TRACE]: what stk_trace_check says, which needs a living process."""

    def __init__(self):
        super().__init__("stk check", gdb.COMMAND_DATA)

    def invoke(self, argument, _from_tty):
        t = thing("stk_trace", argument)
        try:
            call = gdb.parse_and_eval("(const char *(*)(const void *))stk_trace_check")
            said = call(t.address)
        except gdb.error as e:
            raise StkError(f"stk_trace_check cannot be called here: {e}") from e
        print("sound" if int(said) == 0 else text_of(said))


class Printer:
    def __init__(self, show, value):
        self.show, self.value = show, value

    def to_string(self):
        return self.show(self.value)


PRINTERS = {
    "stk_str": lambda v: '"' + text_of(v["p"], v["n"]) + '"' if int(v["n"]) else '""',
    "stk_span": lambda v: f"[{int(v['start_ns'])}, {int(v['end_ns'])}) {int(v['end_ns']) - int(v['start_ns'])} ns",
    "stk_spans": lambda v: f"{int(v['count'])} intervals (stk spans shows them)",
    "stk_shape": shape_text,
    "stoker_err": lambda v: f"{v['code']}: {v['message'].string('utf-8', 'replace')}",
    "stk_verdict": lambda v: f"{v['kind']}: {text_of(v['sentence'])}",
}


def printer_of(value):
    kind = value.type.strip_typedefs().unqualified()
    show = PRINTERS.get(kind.tag) if kind.code == gdb.TYPE_CODE_STRUCT else None
    return Printer(show, value) if show else None


gdb.pretty_printers.append(printer_of)
for command in (Stk, Trace, Track, Event, Run, Steps, Parts, Spans, Block, Check):
    command()
