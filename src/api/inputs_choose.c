// SPDX-License-Identifier: Apache-2.0
// Chooses the files of a directory that are one run. In this order: one format, by the readers'
// priority; of a report and its export, the export; of several recordings by one torch worker, the
// newest; of several runs (folders), the newest, unless the folders' names are ranks. A run's age
// is its name if that is a timestamp (2024_05_01_12_30_00), else the time of its newest file. Only
// folders and reports, which are few, are compared in quadratic time.
#include "api/inputs_impl.h"

#include <stdlib.h>

static struct stk_input_file *file_at(const struct stk_input_scan *s, size_t i)
{
    return stk_vec_at(&s->files, i);
}

// The format chosen for a directory; NULL if it has no profile.
static const struct stk_reader *best_format(const struct stk_input_scan *s, size_t first)
{
    const struct stk_reader *best = NULL;
    for (int i = 0; i < stk_reader_count; i++) {
        const struct stk_reader *r = stk_readers[i];
        for (size_t k = first; k < s->files.count; k++) {
            const struct stk_input_file *f = file_at(s, k);
            if (stk_input_is_taken(f) && f->reader == r &&
                (!best || r->folder_rank < best->folder_rank)) {
                best = r;
            }
        }
    }
    return best;
}

// A recording next to profiles of another format: not a run or rank by itself. Its times will show
// which of them it belongs to (runs.c).
static bool goes_along(const struct stk_input_scan *s, size_t first, const struct stk_input_file *f)
{
    return f->reader->goes_along && f->reader != best_format(s, first);
}

static bool is_made_of(const struct stk_input_scan *s, size_t first, const struct stk_input_file *f,
                       const struct stk_reader *best)
{
    if (!f->reader || f->reader == best || !f->reader->made_of_folder ||
        strcmp(f->base, f->reader->made_of_folder) != 0) {
        return false;
    }
    for (size_t i = first; i < s->files.count; i++) {
        const struct stk_input_file *other = file_at(s, i);
        if (other->reader == best && strcmp(other->dir, f->dir) == 0) {
            return true;
        }
    }
    return false;
}

// Drops files that were made from readable profiles next to them.
static void drop_made(struct stk_input_scan *s, size_t first, const struct stk_reader *best)
{
    size_t kept = first;
    for (size_t i = first; i < s->files.count; i++) {
        if (!is_made_of(s, first, file_at(s, i), best)) {
            struct stk_input_file f = *file_at(s, i); // the loop above needs the previous ones
            *file_at(s, i) = *file_at(s, kept);
            *file_at(s, kept++) = f;
        }
    }
    s->files.count = kept;
}

static enum stoker_status one_format(struct stk_input_scan *s, size_t first, struct stoker_err *err)
{
    const struct stk_reader *best = best_format(s, first);
    drop_made(s, first, best);
    for (size_t i = first; i < s->files.count; i++) {
        struct stk_input_file *f = file_at(s, i);
        if (!stk_input_is_taken(f) || f->reader == best || f->reader->goes_along) {
            continue;
        }
        const char *same = f->reader->same_run_as;
        f->is_other_format = !same || strcmp(same, best->name) != 0 || stk_input_is_torch(f->base);
        f->why = f->is_other_format
                     ? stk_arena_printf(s->arena, "other profiles were chosen: %s", best->files)
                     : stk_arena_printf(s->arena, "the same run as the files %s, with less data",
                                        best->files);
        if (!f->why) {
            return stk_err_nomem(err);
        }
    }
    return STOKER_OK;
}

static void reports_with_exports(struct stk_input_scan *s, size_t first)
{
    for (size_t i = first; i < s->files.count; i++) {
        struct stk_input_file *f = file_at(s, i);
        if (f->is != STK_INPUT_IS_EXPORTABLE) {
            continue;
        }
        size_t stem = strlen(f->base) - strlen(f->stranger->suffix);
        for (size_t k = first; k < s->files.count; k++) {
            const struct stk_input_file *e = file_at(s, k);
            if (e->reader && stk_reader_suffix_of(e->reader, f->stranger->export_suffix) &&
                strcmp(e->dir, f->dir) == 0 && strncmp(e->base, f->base, stem) == 0 &&
                e->base[stem] == '.') {
                f->why = "its export is next to it";
            }
        }
    }
}

// Within a folder, a worker's files are adjacent: names are sorted.
static void newest_of_worker(struct stk_input_scan *s, size_t first)
{
    struct stk_input_file *newest = NULL;
    size_t newest_n = 0;
    int64_t newest_ms = 0;
    for (size_t i = first; i < s->files.count; i++) {
        struct stk_input_file *f = file_at(s, i);
        int64_t ms = 0;
        size_t n = stk_input_is_taken(f) ? stk_input_worker(f->base, &ms) : 0;
        if (n == 0) {
            continue;
        }
        if (!newest || n != newest_n || strncmp(newest->base, f->base, n) != 0 ||
            strcmp(newest->dir, f->dir) != 0) {
            newest = f;
            newest_n = n;
            newest_ms = ms;
            continue;
        }
        struct stk_input_file *older = ms < newest_ms ? f : newest;
        older->why = ms == newest_ms ? "the same recording in another file"
                                     : "an older recording of the same worker";
        newest = older == f ? newest : f;
        newest_ms = ms < newest_ms ? newest_ms : ms;
    }
}

struct run {
    const char *dir;
    int64_t mtime_s;
};

static bool is_time_stamp(struct stk_str s)
{
    size_t digits = 0;
    for (size_t i = 0; i < s.n; i++) {
        digits += s.p[i] >= '0' && s.p[i] <= '9';
    }
    return s.n >= 15 && digits >= 14 && s.p[0] == '2';
}

static bool is_newer(const struct run *a, const struct run *b)
{
    struct stk_str na = stk_input_base(a->dir), nb = stk_input_base(b->dir);
    if (is_time_stamp(na) && is_time_stamp(nb) && strcmp(na.p, nb.p) != 0) {
        return stk_input_compare(na.p, nb.p) > 0;
    }
    if (a->mtime_s != b->mtime_s) {
        return a->mtime_s > b->mtime_s;
    }
    return stk_input_compare(a->dir, b->dir) > 0;
}

static enum stoker_status list_runs(const struct stk_input_scan *s, size_t first,
                                    struct stk_vec *runs, bool *ranks_differ,
                                    struct stoker_err *err)
{
    struct stk_map ranks;
    stk_map_init(&ranks, STK_INPUTS_SCANNED_MAX);
    enum stoker_status status = STOKER_OK;
    *ranks_differ = true;
    for (size_t i = first; i < s->files.count && status == STOKER_OK; i++) {
        const struct stk_input_file *f = file_at(s, i);
        if (!stk_input_is_taken(f) || goes_along(s, first, f)) {
            continue;
        }
        int created = 1;
        if (f->rank >= 0 && !stk_map_put(&ranks, (uint64_t)f->rank, 0, 0, &created)) {
            status = stk_err_nomem(err);
        }
        *ranks_differ &= f->rank >= 0 && created;
        struct run *r = runs->count ? stk_vec_at(runs, runs->count - 1) : NULL;
        for (size_t k = 0; r && k < runs->count && strcmp(r->dir, f->dir) != 0; k++) {
            r = stk_vec_at(runs, k);
        }
        if (!r || strcmp(r->dir, f->dir) != 0) {
            r = stk_vec_push(runs);
            if (!r) {
                status = stk_err_nomem(err);
                break;
            }
            *r = (struct run){f->dir, f->mtime_s};
        }
        if (f->mtime_s > r->mtime_s) {
            r->mtime_s = f->mtime_s;
        }
    }
    stk_map_deinit(&ranks);
    return status;
}

static const char *join_note(struct stk_arena *arena, const char *before, const char *more)
{
    return before ? stk_arena_printf(arena, "%s; %s", before, more) : more;
}

static enum stoker_status note_runs(struct stk_input_scan *s, const struct stk_vec *runs,
                                    const struct run *newest, struct stoker_err *err)
{
    enum { NAMED_MAX = 4 };
    const char *others = "";
    size_t named = 0;
    for (size_t i = 0; i < runs->count && others; i++) {
        const struct run *r = stk_vec_at(runs, i);
        if (r != newest && named++ < NAMED_MAX) {
            others = stk_arena_printf(s->arena, "%s%s%s", others, *others ? ", " : "",
                                      stk_input_base(r->dir).p);
        }
    }
    if (others && named > NAMED_MAX) {
        others = stk_arena_printf(s->arena, "%s and %zu more", others, named - NAMED_MAX);
    }
    const char *text = others ? stk_arena_printf(s->arena, "newest of %zu runs: %s (left out: %s)",
                                                 runs->count, stk_input_base(newest->dir).p, others)
                              : NULL;
    s->note = text ? join_note(s->arena, s->note, text) : NULL;
    return s->note ? STOKER_OK : stk_err_nomem(err);
}

static enum stoker_status newest_run(struct stk_input_scan *s, size_t first, struct stoker_err *err)
{
    struct stk_vec runs;
    bool ranks_differ;
    stk_vec_init(&runs, sizeof(struct run), STK_INPUTS_SCANNED_MAX);
    enum stoker_status status = list_runs(s, first, &runs, &ranks_differ, err);
    if (status != STOKER_OK || runs.count < 2 || ranks_differ) {
        goto done;
    }
    const struct run *newest = stk_vec_at(&runs, 0);
    for (size_t i = 1; i < runs.count; i++) {
        const struct run *r = stk_vec_at(&runs, i);
        if (is_newer(r, newest)) {
            newest = r;
        }
    }
    for (size_t i = first; i < s->files.count; i++) {
        struct stk_input_file *f = file_at(s, i);
        if (stk_input_is_taken(f) && !goes_along(s, first, f) && strcmp(f->dir, newest->dir) != 0) {
            f->why = "from an older run: give its folder to read it";
        }
    }
    status = note_runs(s, &runs, newest, err);
done:
    stk_vec_deinit(&runs);
    return status;
}

// Hosts of one run (TensorFlow, JAX): ranks in the order of their names.
static void number_hosts(struct stk_input_scan *s, size_t first)
{
    int32_t hosts = 0;
    for (size_t i = first; i < s->files.count; i++) {
        const struct stk_input_file *f = file_at(s, i);
        if (stk_input_is_taken(f) && !goes_along(s, first, f)) {
            if (!f->reader->is_per_host || stk_inputs_rank_of_name(f->base) >= 0) {
                return;
            }
            hosts++;
        }
    }
    int32_t next = 0;
    for (size_t i = first; i < s->files.count; i++) {
        if (stk_input_is_taken(file_at(s, i)) && !goes_along(s, first, file_at(s, i))) {
            file_at(s, i)->rank = hosts > 1 ? next++ : -1;
            file_at(s, i)->is_numbered = hosts > 1;
        }
    }
}

enum stoker_status stk_input_choose(struct stk_input_scan *s, const char *root, size_t first,
                                    struct stoker_err *err)
{
    (void)root;
    reports_with_exports(s, first);
    enum stoker_status status = one_format(s, first, err);
    newest_of_worker(s, first);
    if (status == STOKER_OK) {
        status = newest_run(s, first, err);
    }
    if (status == STOKER_OK) {
        number_hosts(s, first);
    }
    return status;
}
