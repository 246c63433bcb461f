// SPDX-License-Identifier: Apache-2.0
// Collapsed stacks, as Brendan Gregg's FlameGraph reads them
// (https://github.com/brendangregg/FlameGraph): "outermost;...;innermost N" a line, N the time in
// ns of that stack alone. Each stack begins with "host" or "device", and the row.
#include "base/alloc.h"
#include "base/text.h"
#include "answers/export/export_stacks.h"

struct collapsed {
    const struct stk_stacks *stacks;
    struct stk_export_out names; // of all frames, as shown
    size_t *ends;                // where each ends
    struct stk_export_out path;  // of the current stack, each frame after a ";"
    size_t path_ends[STK_STACK_DEPTH];
};

// Replaces characters that separate frames or lines, or control a terminal.
static bool show_names(struct collapsed *w)
{
    const struct stk_strpool *frames = &w->stacks->frames;
    w->ends = stk_alloc_array((size_t)frames->count + 1, sizeof *w->ends);
    for (uint32_t i = 0; w->ends && i < frames->count; i++) {
        struct stk_str text = stk_strpool_get(frames, i);
        struct stk_text_piece piece;
        for (; text.n; text.p += piece.taken, text.n -= piece.taken) {
            stk_text_shown(&piece, text, false);
            stk_ex_bytes(&w->names, *piece.text == ';' ? ":" : piece.text, piece.n);
        }
        w->ends[i] = w->names.used;
    }
    return w->ends && !w->names.failed;
}

static void put_line(struct collapsed *w, struct stk_export_out *out, const char *whose, int64_t ns)
{
    if (ns > 0) {
        stk_ex_bytes(out, whose, strlen(whose));
        stk_ex_bytes(out, w->path.p, w->path.used);
        stk_ex_literal(out, " ");
        stk_ex_i64(out, ns);
        stk_ex_literal(out, "\n");
        stk_ex_record(out);
    }
}

static void put_stacks(struct collapsed *w, struct stk_export_out *out)
{
    for (size_t i = 0; i < w->stacks->count && !out->failed && !w->path.failed; i++) {
        const struct stk_stack *s = &w->stacks->stacks[i];
        size_t from = w->ends[s->frame - 1]; // frame 0 is the empty text, which is unused
        w->path.used = s->depth ? w->path_ends[s->depth - 1] : 0;
        stk_ex_literal(&w->path, ";");
        stk_ex_bytes(&w->path, w->names.p + from, w->ends[s->frame] - from);
        w->path_ends[s->depth] = w->path.used;
        put_line(w, out, "host", s->host_ns);
        put_line(w, out, "device", s->device_ns);
    }
}

static enum stoker_status write_collapsed(struct stk_export *x, struct stk_export_out *out,
                                          struct stoker_err *err)
{
    struct stk_stacks stacks;
    struct collapsed w = {.stacks = &stacks};
    stk_ex_init(&w.names, NULL, NULL);
    stk_ex_init(&w.path, NULL, NULL);
    enum stoker_status status = stk_stacks_make(x, &stacks, err);
    if (status == STOKER_OK && !show_names(&w)) {
        status = stk_err_nomem(err);
    }
    if (status == STOKER_OK) {
        put_stacks(&w, out);
        status = w.path.failed ? stk_err_nomem(err) : STOKER_OK;
    }
    stk_ex_deinit(&w.names);
    stk_ex_deinit(&w.path);
    stk_free(w.ends);
    stk_stacks_deinit(&stacks);
    return status;
}

const struct stk_exporter stk_exporter_collapsed = {
    .name = "collapsed",
    .extension = ".folded",
    .summary = "Time by stack, one line each, for flame graphs",
    .opens_with = "flamegraph.pl, inferno-flamegraph, https://www.speedscope.app, flameshow, shell "
                  "tools",
    .keeps = "stacks, as above, one per line: the frames with a ; between them, a space, and the "
             "stack's own time in ns. The first frame is host or device, the second the thread or "
             "stream. grep '^host' keeps the time of threads, grep '^device' that of devices",
    .drops = "events, and when a stack ran; a ; in a name becomes a :, a line end or another "
             "control character a ?",
    .is_text = true,
    .has_stacks = true,
    .write = write_collapsed,
};
