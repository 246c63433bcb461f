// SPDX-License-Identifier: Apache-2.0
// What a maintainer needs to reproduce a wrong answer, in one file of limited size: the profile as
// Chrome JSON with its names replaced, which stoker reads again, and after its events the report of
// everything that was read.
//
// Most profiles exceed the limit. Then whole steps are kept, as many as fit, around the middle step
// of the report: of all ranks, else of the first. If not even one step fits, it is cut. How many
// fit is found by writing, because compression can't be predicted. A try ends at the limit, so none
// costs more than a full one.
//
// Limits: samples of the machine and arguments of events are left out.
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "api/api.h"
#include "api/export_run.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/gzip_write.h"
#include "base/sort.h"
#include "base/vec.h"
#include "results/bundle.h"
#include "results/print/document.h"
#include "stoker/version.h"

#define REPORT_MAX_BYTES ((size_t)64 << 20)
enum { LIBRARIES = 16 };

// What a try includes: of the first `ranks`, the steps numbers[first, first + count); if count is
// 0, the trace's time [from_ns, to_ns); if that is empty, the whole selection.
struct piece {
    uint32_t ranks;
    size_t first, count;
    int64_t from_ns, to_ns;
};

struct bundle {
    struct stoker_export *e;
    struct stk_vec report;  // its JSON
    struct stk_vec file;    // the last try
    bool is_full;           // it reached the limit
    const int64_t *numbers; // numbers of the report's steps, ascending, unique
    size_t step_count;
    struct piece piece;
};

static int keep(struct stk_vec *to, const char *bytes, size_t n)
{
    char *at = to->max_count - to->count >= n ? stk_vec_push_n(to, n) : NULL;
    if (at) {
        memcpy(at, bytes, n);
    }
    return at ? 0 : -1;
}

static int keep_report(void *arg, const char *bytes, size_t n)
{
    return keep(arg, bytes, n);
}

static int keep_file(void *arg, const char *bytes, size_t n)
{
    struct bundle *b = arg;
    b->is_full |= b->file.max_count - b->file.count < n;
    return keep(&b->file, bytes, n);
}

// ---- after the events ----

// Without the machine's name and kernel version, which may contain a person's name.
static struct stk_bundle_doc_system system_of(struct utsname *name)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    bool is_known = uname(name) == 0;
    return (struct stk_bundle_doc_system){.name = is_known ? name->sysname : "",
                                          .machine = is_known ? name->machine : "",
                                          .processors = processors > 0 ? (uint64_t)processors : 0};
}

static struct stk_bundle_doc_holds holds_of(const struct bundle *b)
{
    const struct stk_export_counts *c = &b->e->x.counts;
    const struct piece *p = &b->piece;
    bool is_cut = p->count == 0 && p->from_ns < p->to_ns;
    return (struct stk_bundle_doc_holds){.what = p->count   ? "steps"
                                                 : is_cut   ? "time"
                                                 : p->ranks ? "all"
                                                            : "report",
                                         .ranks = p->ranks,
                                         .of_ranks = b->e->run.rank_count,
                                         .events = c->events,
                                         .of_events = c->events + c->unselected,
                                         .has_steps = p->count > 0,
                                         .steps = p->count,
                                         .of_steps = b->step_count};
}

static int put_bytes(void *arg, const char *bytes, size_t n)
{
    stk_ex_bytes(arg, bytes, n);
    return 0;
}

static void put_tail(void *arg, struct stk_export_out *out)
{
    const struct bundle *b = arg;
    const char *libraries[LIBRARIES];
    struct utsname name;
    struct stk_sink sink;
    struct stoker_err ignored; // a failure shows in `out`
    struct stk_bundle_doc doc = {.schema = STK_BUNDLE_SCHEMA,
                                 .version = stoker_version(),
                                 .libraries = {.items = libraries},
                                 .system = system_of(&name),
                                 .holds = holds_of(b)};
    while (doc.libraries.count < LIBRARIES && stoker_library((int)doc.libraries.count)) {
        libraries[doc.libraries.count] = stoker_library((int)doc.libraries.count);
        doc.libraries.count++;
    }
    stk_sink_init(&sink, put_bytes, out);
    stk_sink_text(&sink, ",\n\"stoker_bundle\":");
    stk_json_document(&stk_bundle_doc_info, &doc, true, &sink);
    stk_sink_text(&sink, ",\"stoker_report\":");
    stk_sink_put(&sink, b->report.items, b->report.count);
    if (stk_sink_finish(&sink, &ignored) != STOKER_OK) {
        out->failed = STOKER_EOUTPUT;
    }
}

// ---- one try ----

static void choose(struct stoker_export *e, const struct bundle *b)
{
    const struct piece *p = &b->piece;
    struct stk_select select = e->run.in.select;
    STK_ASSERT(p->first + p->count <= b->step_count && p->ranks <= e->run.rank_count);
    for (uint32_t i = 0; i < e->x.file_count; i++) {
        struct stk_export_file *f = &e->x.files[i];
        for (uint32_t k = 0; k < f->t->process_count; k++) {
            f->processes[k].taken = false;
        }
    }
    if (p->count) {
        select.has_steps = true;
        select.step_first = b->numbers[p->first];
        select.step_last = b->numbers[p->first + p->count - 1];
    } else if (p->from_ns < p->to_ns) {
        select.has_from = select.has_to = true;
        select.from_ns = p->from_ns;
        select.to_ns = p->to_ns;
    }
    e->x.rank_count = p->ranks;
    for (uint32_t i = 0; i < p->ranks; i++) {
        stk_export_run_select(&select, &e->run.ranks[i], &e->x.files[e->x.ranks[i].file]);
    }
}

// Did it fit? See b->is_full.
static enum stoker_status try_piece(struct bundle *b, struct piece piece, struct stoker_err *err)
{
    struct stk_gzip_write *w = stk_gzip_write_open(STK_GZIP_SMALL, keep_file, b);
    if (!w) {
        return stk_err_nomem(err);
    }
    b->piece = piece;
    b->file.count = 0;
    b->is_full = false;
    choose(b->e, b);
    enum stoker_status status =
        stk_export_run_write(b->e, stk_exporter_find("chrome"), NULL, stk_gzip_write_bytes, w, err);
    if (status == STOKER_OK && stk_gzip_write_finish(w) != 0 && !b->is_full) {
        status = stk_err_nomem(err);
    }
    stk_gzip_write_close(w);
    return b->is_full ? STOKER_OK : status;
}

// ---- the search ----

static int by_number(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static struct piece steps_around_middle(const struct bundle *b, uint32_t ranks, size_t count)
{
    size_t middle = b->step_count / 2, first = middle > count / 2 ? middle - count / 2 : 0;
    first = first + count > b->step_count ? b->step_count - count : first;
    return (struct piece){.ranks = ranks, .first = first, .count = count};
}

// Finds the most steps that fit, and writes them; none: b->is_full.
static enum stoker_status try_steps(struct bundle *b, uint32_t ranks, struct stoker_err *err)
{
    size_t fits = 0, too_many = b->step_count + 1;
    enum stoker_status status = STOKER_OK;
    while (status == STOKER_OK && too_many - fits > 1) {
        size_t count = fits + (too_many - fits) / 2;
        status = try_piece(b, steps_around_middle(b, ranks, count), err);
        *(b->is_full ? &too_many : &fits) = count;
    }
    if (status == STOKER_OK && fits > 0 && (b->is_full || b->piece.count != fits)) {
        status = try_piece(b, steps_around_middle(b, ranks, fits), err);
    }
    return status;
}

// Sorted start times in the first rank's middle step, or in its whole trace without steps. In the
// arena; NULL: no memory.
static int64_t *order_starts(struct bundle *b, size_t *count)
{
    const struct stk_open_rank *rank = &b->e->run.ranks[0];
    const struct stk_trace *t = rank->trace;
    int64_t from_ns = INT64_MIN, to_ns = INT64_MAX;
    int64_t *starts = stk_arena_array(&b->e->arena, (size_t)t->count + 1, sizeof *starts);
    for (uint32_t i = 0; b->step_count && i < rank->sum->step_count; i++) {
        const struct stk_step *s = &rank->sum->steps[i];
        if (s->number == b->numbers[b->step_count / 2]) {
            from_ns = s->start_ns - rank->shift_ns;
            to_ns = from_ns + s->dur_ns;
        }
    }
    *count = 0;
    for (uint32_t i = 0; starts && i < t->count; i++) {
        if (t->start_ns[i] >= from_ns && t->start_ns[i] < to_ns) {
            starts[(*count)++] = t->start_ns[i];
        }
    }
    if (starts) {
        stk_sort(starts, *count, sizeof *starts, by_number);
    }
    return starts;
}

// Halves the time around the middle event until it fits.
static enum stoker_status try_times(struct bundle *b, struct stoker_err *err)
{
    size_t count;
    const int64_t *starts = order_starts(b, &count);
    enum stoker_status status = starts ? STOKER_OK : stk_err_nomem(err);
    for (size_t n = count / 2; status == STOKER_OK && b->is_full && n > 0; n /= 2) {
        int64_t from_ns = starts[(count - n) / 2], to_ns = starts[(count - n) / 2 + n];
        if (from_ns < to_ns) {
            status =
                try_piece(b, (struct piece){.ranks = 1, .from_ns = from_ns, .to_ns = to_ns}, err);
        }
    }
    return status;
}

static enum stoker_status search(struct bundle *b, struct stoker_err *err)
{
    uint32_t ranks = b->e->run.rank_count;
    enum stoker_status status = try_piece(b, (struct piece){.ranks = ranks}, err);
    if (status == STOKER_OK && b->is_full) {
        status = try_steps(b, ranks, err);
    }
    if (status == STOKER_OK && b->is_full && ranks > 1) {
        status = try_steps(b, 1, err);
    }
    if (status == STOKER_OK && b->is_full && ranks > 0) {
        status = try_times(b, err);
    }
    if (status == STOKER_OK && b->is_full) {
        status = try_piece(b, (struct piece){0}, err);
    }
    if (status == STOKER_OK && b->is_full) {
        status = stk_err_set(err, STOKER_ELIMIT,
                             "the report of %u ranks alone is larger than %zu bytes: choose a "
                             "rank with --rank N",
                             (unsigned)ranks, b->file.max_count);
    }
    return status;
}

// ---- what is written ----

// Steps of the first rank; those that the report leaves out only if it leaves out all.
static bool number_steps(struct bundle *b)
{
    const struct stk_rank_sum *sum = b->e->run.rank_count ? b->e->run.ranks[0].sum : NULL;
    size_t n = sum ? sum->step_count : 0, used = 0;
    int64_t *numbers = stk_arena_array(&b->e->arena, n + 1, sizeof *numbers);
    for (size_t i = 0; numbers && i < n; i++) {
        used += sum->steps[i].excluded == NULL;
    }
    for (size_t i = 0; numbers && i < n; i++) {
        if (!sum->steps[i].excluded || used == 0) {
            numbers[b->step_count++] = sum->steps[i].number;
        }
    }
    if (numbers) {
        stk_sort(numbers, b->step_count, sizeof *numbers, by_number);
        n = b->step_count;
        b->step_count = 0;
        for (size_t i = 0; i < n; i++) {
            if (b->step_count == 0 || numbers[i] != numbers[b->step_count - 1]) {
                numbers[b->step_count++] = numbers[i];
            }
        }
    }
    b->numbers = numbers;
    return numbers != NULL;
}

static void fill_result(const struct bundle *b, struct stoker_bundle *result)
{
    const struct stk_export_counts *c = &b->e->x.counts;
    *result = (struct stoker_bundle){.bytes = b->file.count,
                                     .events = c->events,
                                     .of_events = c->events + c->unselected,
                                     .ranks = b->piece.ranks,
                                     .of_ranks = b->e->run.rank_count,
                                     .steps = b->piece.count,
                                     .of_steps = b->step_count};
}

static enum stoker_status write_bundle(struct bundle *b, stoker_write_fn write, void *arg,
                                       struct stoker_err *err)
{
    struct stoker_export *e = b->e;
    e->x.base_ns = 0; // hide when it ran
    e->report.profile.base_ns = 0;
    e->x.lane_count = 0; // the bundle's reader computes them
    e->x.with_args = false;
    e->x.tail = put_tail;
    e->x.tail_arg = b;
    enum stoker_status status =
        stk_api_report_write(&e->report, "json", NULL, keep_report, &b->report, err);
    if (status == STOKER_OK && !number_steps(b)) {
        status = stk_err_nomem(err);
    }
    if (status == STOKER_OK) {
        status = search(b, err);
    }
    if (status == STOKER_OK && write(arg, b->file.items, b->file.count) != 0) {
        status = stk_err_set(err, STOKER_EOUTPUT, "the output could not be written");
    }
    return status;
}

enum stoker_status stoker_bundle_write(const char *const *paths, size_t count,
                                       const struct stoker_why_options *options, size_t max_bytes,
                                       stoker_write_fn write, void *arg,
                                       struct stoker_bundle *result, struct stoker_err *err)
{
    struct stoker_why_options redacted;
    struct bundle b = {0};
    stoker_why_options_default(&redacted);
    redacted = options ? *options : redacted;
    redacted.redact = 1;
    if (!write) {
        return stk_err_misuse(err, "stoker_bundle_write needs a callback");
    }
    enum stoker_status status = stoker_export_open(paths, count, &redacted, &b.e, err);
    if (status != STOKER_OK) {
        return status;
    }
    err = stk_err_begin(err, &(struct stoker_err){0});
    stk_vec_init(&b.report, 1, REPORT_MAX_BYTES);
    stk_vec_init(&b.file, 1, max_bytes ? max_bytes : STOKER_BUNDLE_BYTES);
    status = write_bundle(&b, write, arg, err);
    if (status == STOKER_OK && result) {
        fill_result(&b, result);
    }
    stk_vec_deinit(&b.report);
    stk_vec_deinit(&b.file);
    stoker_export_free(b.e);
    return stk_err_end(err, status);
}
