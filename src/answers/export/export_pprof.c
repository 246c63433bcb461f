// SPDX-License-Identifier: Apache-2.0
// pprof's profile.proto (https://github.com/google/pprof/blob/main/proto/profile.proto): two values
// per sample, the time of the thread and that of devices, and the row as label "thread". Locations
// and functions have the frames' numbers. In the table of texts, 0 is empty; then come the frames'
// texts by number (empty if the function's name is further down), then all others. One mapping says
// that names are known: otherwise pprof would look for the programs, and some readers need a
// mapping for each location.
#include <stdio.h>

#include "answers/export/export_stacks.h"

// Fields, by message.
#define PROFILE_SAMPLE_TYPE 1
#define PROFILE_SAMPLE 2
#define PROFILE_MAPPING 3
#define PROFILE_LOCATION 4
#define PROFILE_FUNCTION 5
#define PROFILE_STRING 6
#define PROFILE_TIME_NS 9
#define PROFILE_DURATION_NS 10
#define PROFILE_COMMENT 13
#define PROFILE_DEFAULT_TYPE 14
#define TYPE_TYPE 1
#define TYPE_UNIT 2
#define SAMPLE_LOCATIONS 1
#define SAMPLE_VALUES 2
#define SAMPLE_LABEL 3
#define LABEL_KEY 1
#define LABEL_TEXT 2
#define MAPPING_ID 1
#define MAPPING_HAS_FUNCTIONS 7
#define MAPPING_HAS_FILES 8
#define MAPPING_HAS_LINES 9
#define LOCATION_ID 1
#define LOCATION_MAPPING 2
#define LOCATION_LINE 4
#define LINE_FUNCTION 1
#define LINE_LINE 2
#define FUNCTION_ID 1
#define FUNCTION_NAME 2
#define FUNCTION_SYSTEM_NAME 3
#define FUNCTION_FILE 4
#define FUNCTION_LINE 5

struct pprof {
    struct stk_export *x;
    const struct stk_stacks *stacks;
    struct stk_export_out *out;
    struct stk_strpool texts; // those after the frames'
    struct stk_stack_path path;
    bool failed; // no memory
};

static uint64_t text_of(struct pprof *w, struct stk_str text)
{
    uint32_t id = stk_strpool_intern(&w->texts, text.p, text.n);
    w->failed |= id == STK_STRPOOL_FAILED;
    return id ? (uint64_t)w->stacks->frames.count - 1 + id : 0;
}

static void put_type(struct pprof *w, const char *type)
{
    size_t at = stk_pbw_begin(w->out, PROFILE_SAMPLE_TYPE);
    stk_pbw_u64(w->out, TYPE_TYPE, text_of(w, stk_str_from(type)));
    stk_pbw_u64(w->out, TYPE_UNIT, text_of(w, STK_STR("nanoseconds")));
    stk_pbw_end(w->out, at);
}

// Writes one item of a packed list of varints.
static void put_item(struct pprof *w, uint64_t v)
{
    uint8_t *p = stk_ex_capacity(w->out, STK_VARINT_MAX);
    if (p) {
        w->out->used += (size_t)(stk_varint_put(p, v) - p);
    }
}

// Is the frame's text missing at its own place in the table, because it is split?
static bool stands_elsewhere(const struct pprof *w, uint32_t frame)
{
    return stk_stack_source_of(w->stacks, frame).line != 0;
}

static void put_samples(struct pprof *w)
{
    const struct stk_stack *s = w->stacks->stacks;
    uint64_t key = text_of(w, STK_STR("thread")), row = 0;
    for (uint32_t i = 0; i < w->stacks->count && !w->out->failed; i++) {
        const uint32_t *at;
        uint32_t n = stk_stack_path_next(&w->path, w->stacks, i, &at);
        if (s[i].depth == 0) {
            row = stands_elsewhere(w, s[i].frame)
                      ? text_of(w, stk_strpool_get(&w->stacks->frames, s[i].frame))
                      : s[i].frame;
        }
        if (s[i].host_ns == 0 && s[i].device_ns == 0) {
            continue;
        }
        size_t sample = stk_pbw_begin(w->out, PROFILE_SAMPLE);
        size_t list = stk_pbw_begin(w->out, SAMPLE_LOCATIONS);
        while (n-- > 0) { // innermost first
            put_item(w, s[at[n]].frame);
        }
        stk_pbw_end(w->out, list);
        list = stk_pbw_begin(w->out, SAMPLE_VALUES);
        put_item(w, (uint64_t)s[i].host_ns);
        put_item(w, (uint64_t)s[i].device_ns);
        stk_pbw_end(w->out, list);
        size_t label = stk_pbw_begin(w->out, SAMPLE_LABEL);
        stk_pbw_u64(w->out, LABEL_KEY, key);
        stk_pbw_u64(w->out, LABEL_TEXT, row);
        stk_pbw_end(w->out, label);
        stk_pbw_end(w->out, sample);
        stk_ex_record(w->out);
    }
}

// A location and a function for each frame.
static void put_frames(struct pprof *w)
{
    size_t mapping = stk_pbw_begin(w->out, PROFILE_MAPPING);
    stk_pbw_u64(w->out, MAPPING_ID, 1);
    stk_pbw_u64(w->out, MAPPING_HAS_FUNCTIONS, true);
    stk_pbw_u64(w->out, MAPPING_HAS_FILES, true);
    stk_pbw_u64(w->out, MAPPING_HAS_LINES, true);
    stk_pbw_end(w->out, mapping);
    for (uint32_t i = 1; i < w->stacks->frames.count && !w->out->failed && !w->failed; i++) {
        struct stk_stack_source source = stk_stack_source_of(w->stacks, i);
        uint64_t name = source.line ? text_of(w, source.name) : i;
        size_t at = stk_pbw_begin(w->out, PROFILE_LOCATION);
        stk_pbw_u64(w->out, LOCATION_ID, i);
        stk_pbw_u64(w->out, LOCATION_MAPPING, 1);
        size_t line = stk_pbw_begin(w->out, LOCATION_LINE);
        stk_pbw_u64(w->out, LINE_FUNCTION, i);
        stk_pbw_u64(w->out, LINE_LINE, (uint64_t)source.line);
        stk_pbw_end(w->out, line);
        stk_pbw_end(w->out, at);
        at = stk_pbw_begin(w->out, PROFILE_FUNCTION);
        stk_pbw_u64(w->out, FUNCTION_ID, i);
        stk_pbw_u64(w->out, FUNCTION_NAME, name);
        stk_pbw_u64(w->out, FUNCTION_SYSTEM_NAME, name);
        if (source.line) {
            stk_pbw_u64(w->out, FUNCTION_FILE, text_of(w, source.file));
            stk_pbw_u64(w->out, FUNCTION_LINE, (uint64_t)source.line);
        }
        stk_pbw_end(w->out, at);
        stk_ex_record(w->out);
    }
}

static void put_comment(struct pprof *w, const char *text)
{
    stk_pbw_u64(w->out, PROFILE_COMMENT, text_of(w, stk_str_from(text)));
}

static void put_rest(struct pprof *w)
{
    const struct stk_stacks *s = w->stacks;
    char program[64];
    if (s->first_ns <= s->last_ns) {
        if (w->x->base_ns > 0) {
            stk_pbw_u64(w->out, PROFILE_TIME_NS, (uint64_t)(w->x->base_ns + s->first_ns));
        }
        stk_pbw_u64(w->out, PROFILE_DURATION_NS, (uint64_t)(s->last_ns - s->first_ns));
    }
    snprintf(program, sizeof program, "written by stoker %s", w->x->version);
    put_comment(w, program);
    put_comment(w, w->x->report->verdict.sentence);
    for (size_t i = 0; i < w->x->selection_count; i++) {
        put_comment(w, w->x->selection[i]);
    }
    stk_pbw_u64(w->out, PROFILE_DEFAULT_TYPE,
                text_of(w, s->host_ns > 0 ? STK_STR("host") : STK_STR("device")));
}

static void put_text(struct pprof *w, struct stk_str text)
{
    stk_pbw_text(w->out, PROFILE_STRING, text);
    stk_ex_record(w->out);
}

static void put_texts(struct pprof *w)
{
    const struct stk_strpool *frames = &w->stacks->frames;
    for (uint32_t i = 0; i < frames->count && !w->out->failed; i++) {
        put_text(w, stands_elsewhere(w, i) ? STK_STR("") : stk_strpool_get(frames, i));
    }
    for (uint32_t i = 1; i < w->texts.count && !w->out->failed; i++) {
        put_text(w, stk_strpool_get(&w->texts, i));
    }
}

static enum stoker_status write_pprof(struct stk_export *x, struct stk_export_out *out,
                                      struct stoker_err *err)
{
    struct stk_stacks stacks;
    struct pprof w = {.x = x, .stacks = &stacks, .out = out};
    enum stoker_status status = stk_stacks_make(x, &stacks, err);
    if (status == STOKER_OK && stk_strpool_init(&w.texts, 0) != 0) {
        status = stk_err_nomem(err);
    }
    if (status == STOKER_OK) {
        put_type(&w, "host");
        put_type(&w, "device");
        put_samples(&w);
        put_frames(&w);
        put_rest(&w);
        put_texts(&w);
        status = w.failed ? stk_err_nomem(err) : STOKER_OK;
    }
    stk_strpool_deinit(&w.texts);
    stk_stacks_deinit(&stacks);
    return status;
}

const struct stk_exporter stk_exporter_pprof = {
    .name = "pprof",
    .extension = ".pb.gz",
    .summary = "Time by stack as profile.proto, for pprof and compatible tools",
    .opens_with = "go tool pprof, https://www.speedscope.app, flameshow",
    .keeps = "stacks, as above, with two values in ns: host (the thread's own time, shown first) "
             "and device; name, file and line of Python functions; the thread or stream as label "
             "thread (pprof -tagroot thread); the verdict's sentence and the selection as "
             "comments; when the profile began and how long it took",
    .drops = "events, and when a stack ran; addresses, which such stacks don't have. "
             "It is always compressed, as the format requires",
    .wants_gzip = true,
    .has_stacks = true,
    .write = write_pprof,
};
