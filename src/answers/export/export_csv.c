// SPDX-License-Identifier: Apache-2.0
// CSV (RFC 4180): a row per event, lines end in CR LF. Column names are those of stoker query; with
// arguments, a last column has them as one JSON object.
#include <inttypes.h>

#include "base/text.h"
#include "answers/export/export.h"

struct csv {
    struct stk_export *x;
    struct stk_export_out *out;
    const struct stk_export_file *f;
    uint32_t file;
    struct stk_export_out args; // of the current event
    struct stoker_err *err;
    enum stoker_status status;
};

static void csv_put_number(struct stk_export_out *o, bool known, int64_t value)
{
    stk_ex_literal(o, ",");
    if (known) {
        stk_ex_i64(o, value);
    }
}

static void put_word(struct stk_export_out *o, const char *word)
{
    stk_ex_literal(o, ",");
    if (word) {
        stk_ex_bytes(o, word, strlen(word));
    }
}

// The columns after the id, C(name, put): each puts a comma and its value. These are the same for
// all events of a track.
#define OF_TRACK(C)                                                                                \
    C(rank, csv_put_number(w->out, p->rank >= 0, p->rank))                                         \
    C(process, csv_put_number(w->out, true, w->f->t->processes[k->process].pid))                   \
    C(device,                                                                                      \
      csv_put_number(w->out, on_device, on_device ? w->f->t->devices[k->device].ordinal : 0))      \
    C(stream, csv_put_number(w->out, k->kind == STK_TRACK_STREAM, k->id))                          \
    C(thread, csv_put_number(w->out, k->kind == STK_TRACK_THREAD, k->id))                          \
    C(track, put_name(w, (struct stk_str){name, n}))
#define OF_EVENT(C)                                                                                \
    C(kind, put_word(o, stk_kind_key((enum stk_kind)t->kind[event])))                              \
    C(name, put_name(w, stk_export_text(w->f, t->name[event])))                                    \
    C(start_ns, csv_put_number(o, true, t->start_ns[event] + w->f->shift_ns))                      \
    C(dur_ns, csv_put_number(o, true, stk_dur_ns(t, event)))                                       \
    C(depth, csv_put_number(o, true, t->depth[event]))                                             \
    C(value, put_value(w, event))                                                                  \
    C(launch, csv_put_number(o, e && e->link != STK_NONE, e ? file | e->link : 0))                 \
    C(direction, put_word(o, e ? stk_dir_key(e->dir) : NULL))                                      \
    C(source, put_word(o, e ? stk_mem_key(e->src_mem) : NULL))                                     \
    C(target, put_word(o, e ? stk_mem_key(e->dst_mem) : NULL))
#define HEAD(name, put) "," #name
#define PUT(name, put) put;

static void put_name(struct csv *w, struct stk_str name)
{
    stk_ex_literal(w->out, ",");
    stk_ex_csv(w->out, name, !w->x->csv_raw);
}

static void put_track(struct csv *w, uint32_t index)
{
    const struct stk_track *k = &w->f->t->tracks[index];
    const struct stk_export_process *p = &w->f->processes[k->process];
    char name[300];
    size_t n = stk_export_track_name(w->f, index, name, sizeof name);
    bool on_device = k->device != STK_NONE;
    OF_TRACK(PUT)
}

// Bytes, a step's number, or a counter's first value.
static void put_value(struct csv *w, uint32_t event)
{
    const struct stk_ext *e = stk_ext_of(w->f->t, event);
    struct stk_export_sample sample;
    uint32_t count, at = 0;
    const struct stk_detail *d = stk_details_of(w->f->t, event, &count);
    if (!stk_export_next_sample(d, count, &at, &sample)) {
        csv_put_number(w->out, e && e->flags & STK_EXT_VALUE, e ? e->value : 0);
        return;
    }
    stk_ex_literal(w->out, ",");
    if (sample.value - sample.value == 0) { // NaN and infinity stay empty
        stk_ex_real(w->out, sample.value);
    }
}

static void csv_put_arg(void *arg, struct stk_str key, struct stk_str value)
{
    struct csv *w = arg;
    int64_t whole;
    double real;
    stk_ex_bytes(&w->args, w->args.used ? "," : "{", 1);
    stk_ex_json(&w->args, key);
    stk_ex_literal(&w->args, ":");
    if (stk_export_number(value, &whole, &real) != STK_EXPORT_NO_NUMBER) {
        stk_ex_str(&w->args, value);
    } else {
        stk_ex_json(&w->args, value);
    }
}

static void put_args(struct csv *w, uint32_t event)
{
    w->args.used = 0;
    w->status = w->x->args(w->x->args_arg, w->file, event, csv_put_arg, w, w->err);
    if (w->args.used) {
        stk_ex_literal(&w->args, "}");
    }
    if (w->args.failed && w->status == STOKER_OK) {
        w->status = stk_err_nomem(w->err);
    }
    stk_ex_literal(w->out, ",");
    if (w->status == STOKER_OK) {
        stk_ex_csv(w->out, (struct stk_str){(const char *)w->args.p, w->args.used}, false);
    }
}

static void csv_put_event(struct csv *w, struct stk_str track, uint32_t event)
{
    const struct stk_trace *t = w->f->t;
    const struct stk_ext *e = stk_ext_of(t, event);
    struct stk_export_out *o = w->out;
    int64_t file = (int64_t)w->file << 32;
    stk_ex_i64(o, file | event);
    stk_ex_str(o, track);
    OF_EVENT(PUT)
    if (w->x->with_args) {
        put_args(w, event);
    }
    stk_ex_literal(o, STK_TEXT_CSV_END);
    stk_ex_record(o);
}

static void put_file(struct csv *w)
{
    const struct stk_trace *t = w->f->t;
    struct stk_export_out prefix;
    struct stk_export_counts *c = &w->x->counts;
    for (uint32_t k = 0; k < t->track_count && w->status == STOKER_OK && !w->out->failed; k++) {
        const struct stk_track *track = &t->tracks[k];
        const struct stk_export_process *p = &w->f->processes[track->process];
        if (!stk_export_takes_track(w->x, w->f, track)) {
            c->unselected += track->count;
            continue;
        }
        stk_ex_init(&prefix, NULL, NULL);
        struct csv to_prefix = {.x = w->x, .out = &prefix, .f = w->f, .file = w->file};
        put_track(&to_prefix, k);
        if (prefix.failed) {
            w->status = stk_err_nomem(w->err);
        }
        struct stk_str text = {(const char *)prefix.p, prefix.used};
        for (uint32_t e = track->first;
             e < track->first + track->count && w->status == STOKER_OK && !w->out->failed; e++) {
            bool takes = stk_export_takes(t, p, e);
            c->events += takes;
            c->unselected += !takes;
            c->overlaps += takes && track->parent != STK_NONE;
            if (takes) {
                csv_put_event(w, text, e);
            }
        }
        stk_ex_deinit(&prefix);
    }
}

static enum stoker_status write_csv(struct stk_export *x, struct stk_export_out *out,
                                    struct stoker_err *err)
{
    struct csv w = {.x = x, .out = out, .err = err, .status = STOKER_OK};
    stk_ex_init(&w.args, NULL, NULL);
    stk_ex_literal(out, "id" OF_TRACK(HEAD) OF_EVENT(HEAD));
    if (x->with_args) {
        stk_ex_literal(out, ",args");
    }
    stk_ex_literal(out, STK_TEXT_CSV_END);
    for (w.file = 0; w.file < x->file_count && w.status == STOKER_OK && !out->failed; w.file++) {
        w.f = &x->files[w.file];
        put_file(&w);
    }
    stk_ex_deinit(&w.args);
    return w.status;
}

const struct stk_exporter stk_exporter_csv = {
    .name = "csv",
    .extension = ".csv",
    .summary = "One row per event, for spreadsheets and scripts",
    .opens_with = "pandas, DuckDB, spreadsheets, shell tools",
    .keeps =
        "every event with its times to the nanosecond since the run's first event, kind, "
        "track, nesting, launch call, direction and memory of copies; column value holds "
        "bytes, or the step number. Names are as recorded, byte for byte, and quoted if they "
        "contain commas, quotes or line ends. A name that a spreadsheet would run as a formula "
        "gets a ' first (--csv-raw: without it). Column args (--args) holds the arguments as one "
        "JSON object",
    .drops =
        "details, and all but the first value of a counter; everything that isn't an event: "
        "steps, parts, findings (stoker stats --csv and stoker why --json have them), properties "
        "of devices, the clock's offset, and the selection, which is only printed on standard "
        "error",
    .is_text = true,
    .takes_args = true,
    .write = write_csv,
};
