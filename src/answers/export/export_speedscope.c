// SPDX-License-Identifier: Apache-2.0
// speedscope's own format (https://www.speedscope.app/file-format-schema.json): two profiles of
// samples per thread, one for its own time and one for the device work it launched; frames are
// shared. Each sample is a stack, weighted with the stack's total time, so equal stacks are one
// sample.
#include <stdio.h>

#include "answers/export/export_stacks.h"
#include "profile/model/intervals.h"

struct speedscope {
    const struct stk_stacks *stacks;
    struct stk_export_out *out;
    struct stk_stack_path path;
    uint32_t profiles;
};

static int64_t time_of(const struct stk_stack *s, bool on_device)
{
    return on_device ? s->device_ns : s->host_ns;
}

// Writes the row's stacks that have time, as samples, or their weights.
static void put_list(struct speedscope *w, uint32_t row, uint32_t end, bool on_device,
                     bool is_weights)
{
    const struct stk_stack *s = w->stacks->stacks;
    bool is_first = true;
    for (uint32_t i = row; i < end && !w->out->failed; i++) {
        const uint32_t *at;
        uint32_t n = stk_stack_path_next(&w->path, w->stacks, i, &at);
        if (time_of(&s[i], on_device) == 0) {
            continue;
        }
        stk_ex_bytes(w->out, ",", !is_first);
        is_first = false;
        if (is_weights) {
            stk_ex_i64(w->out, time_of(&s[i], on_device));
            continue;
        }
        for (uint32_t k = 0; k < n; k++) {
            stk_ex_bytes(w->out, k ? "," : "[", 1);
            stk_ex_i64(w->out, (int64_t)s[at[k]].frame - 1); // frame 0 is the empty text
        }
        stk_ex_literal(w->out, "]");
        stk_ex_record(w->out);
    }
}

// Writes the time of a row on the host or on devices; false: none.
static bool put_profile(struct speedscope *w, uint32_t row, uint32_t end, bool on_device)
{
    const struct stk_stack *s = w->stacks->stacks;
    struct stk_str name = stk_strpool_get(&w->stacks->frames, s[row].frame);
    char text[STK_STACK_ROW_BYTES + 16];
    int64_t total_ns = 0;
    for (uint32_t i = row; i < end; i++) {
        total_ns = stk_add_ns(total_ns, time_of(&s[i], on_device));
    }
    if (total_ns == 0) {
        return false;
    }
    snprintf(text, sizeof text, "%s: %s", on_device ? "device" : "host", name.p);
    stk_ex_bytes(w->out, ",", w->profiles++ > 0);
    stk_ex_literal(w->out, "\n{\"type\":\"sampled\",\"name\":");
    stk_ex_json(w->out, stk_str_from(text));
    stk_ex_literal(w->out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":");
    stk_ex_i64(w->out, total_ns);
    stk_ex_literal(w->out, ",\n\"samples\":[");
    put_list(w, row, end, on_device, false);
    stk_ex_literal(w->out, "],\n\"weights\":[");
    put_list(w, row, end, on_device, true);
    stk_ex_literal(w->out, "]}");
    return true;
}

// The thread with the most stacks, usually the training thread, is shown first.
static void put_profiles(struct speedscope *w)
{
    const struct stk_stacks *s = w->stacks;
    uint32_t shown = 0, most = 0;
    stk_ex_literal(w->out, "\"profiles\":[");
    for (uint32_t row = 0, end; row < s->count && !w->out->failed; row = end) {
        for (end = row + 1; end < s->count && s->stacks[end].depth > 0;) {
            end++;
        }
        uint32_t at = w->profiles;
        if (put_profile(w, row, end, false) && end - row > most) {
            most = end - row;
            shown = at;
        }
        put_profile(w, row, end, true);
    }
    stk_ex_literal(w->out, "],\n\"activeProfileIndex\":");
    stk_ex_i64(w->out, shown);
}

static void put_frames(struct speedscope *w)
{
    stk_ex_literal(w->out, ",\n\"shared\":{\"frames\":[");
    for (uint32_t i = 1; i < w->stacks->frames.count && !w->out->failed; i++) {
        struct stk_stack_source source = stk_stack_source_of(w->stacks, i);
        stk_ex_bytes(w->out, ",", i > 1);
        stk_ex_literal(w->out, "\n{\"name\":");
        stk_ex_json(w->out, source.name);
        if (source.line) {
            stk_ex_literal(w->out, ",\"file\":");
            stk_ex_json(w->out, source.file);
            stk_ex_literal(w->out, ",\"line\":");
            stk_ex_i64(w->out, source.line);
        }
        stk_ex_literal(w->out, "}");
        stk_ex_record(w->out);
    }
    stk_ex_literal(w->out, "]}");
}

static enum stoker_status write_speedscope(struct stk_export *x, struct stk_export_out *out,
                                           struct stoker_err *err)
{
    struct stk_stacks stacks;
    struct speedscope w = {.stacks = &stacks, .out = out};
    char exporter[64];
    enum stoker_status status = stk_stacks_make(x, &stacks, err);
    if (status == STOKER_OK) {
        snprintf(exporter, sizeof exporter, "stoker %s", x->version);
        stk_ex_literal(out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
                            "\"exporter\":");
        stk_ex_json(out, stk_str_from(exporter));
        stk_ex_literal(out, ",\n\"name\":");
        stk_ex_json(out, stk_str_from(x->report->verdict.sentence));
        stk_ex_literal(out, ",\n");
        put_profiles(&w);
        put_frames(&w);
        stk_ex_literal(out, "}\n");
    }
    stk_stacks_deinit(&stacks);
    return status;
}

const struct stk_exporter stk_exporter_speedscope = {
    .name = "speedscope",
    .extension = ".speedscope.json",
    .summary = "Time by stack for speedscope, a profile per thread and stream",
    .opens_with = "https://www.speedscope.app (the file stays in your browser)",
    .keeps = "stacks, as above: for each thread one profile of its own time (host: ...) and one of "
             "the device work that it launched (device: ...), a sample per stack, weighted with "
             "its time in ns; name, file and line of Python functions; the verdict's sentence as "
             "the file's name",
    .drops = "events, and when a stack ran: the view 'time order' is in the order in which stacks "
             "were first seen",
    .is_text = true,
    .has_stacks = true,
    .write = write_speedscope,
};
