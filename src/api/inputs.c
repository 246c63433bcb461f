// SPDX-License-Identifier: Apache-2.0
// Expands the given paths, and settles the ranks of the files that were read.
#include "api/inputs.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/sort.h"
#include "api/inputs_impl.h"

const char *stk_input_export_text(struct stk_arena *arena, const struct stk_reader_stranger *s)
{
    return stk_arena_printf(arena, "%s: %s", s->text, s->export_command);
}

// An export next to a report: report1.nsys-rep -> report1.sqlite. *export is NULL if no such file
// exists.
static enum stoker_status export_of(struct stk_arena *arena, const char *path,
                                    const struct stk_reader_stranger *s, const char **export,
                                    struct stoker_err *err)
{
    struct stat info;
    size_t stem = strlen(path) - strlen(s->suffix);
    *export = stk_arena_printf(arena, "%.*s%s", (int)stem, path, s->export_suffix);
    if (!*export) {
        return stk_err_nomem(err);
    }
    if (stat(*export, &info) || !S_ISREG(info.st_mode)) {
        *export = NULL;
    }
    return STOKER_OK;
}

static enum stoker_status add_given_file(struct stk_input_scan *s, const char *path,
                                         const struct stat *info, struct stoker_err *err)
{
    struct stk_input_file *f = stk_input_add(s, "", stk_input_base(path).p, path);
    if (!f) {
        return stk_err_nomem(err);
    }
    f->is = STK_INPUT_IS_PROFILE; // its contents decide when it is read
    f->rank = stk_inputs_rank_of_name(f->base);
    const struct stk_reader_stranger *stranger = stk_reader_stranger_of(f->base);
    if (stranger && stranger->export_command) {
        const char *export;
        enum stoker_status status = export_of(s->arena, path, stranger, &export, err);
        if (status != STOKER_OK) {
            return status;
        }
        if (export) {
            f->path = export;
            f->remark = "the export next to the given report";
        } else {
            f->is = STK_INPUT_IS_EXPORTABLE;
            f->why = stk_input_export_text(s->arena, stranger);
            if (!f->why) {
                return stk_err_nomem(err);
            }
        }
    }
    int created = 1;
    if (S_ISREG(info->st_mode) &&
        !stk_map_put(&s->seen, (uint64_t)info->st_dev, (uint64_t)info->st_ino, 0, &created)) {
        return stk_err_nomem(err);
    }
    if (!created) {
        f->why = "given twice";
    }
    return STOKER_OK;
}

static enum stoker_status add_given(struct stk_input_scan *s, const char *given, bool *has_stdin,
                                    struct stoker_err *err)
{
    struct stat info;
    const char *path = stk_arena_strdup(s->arena, given);
    if (!path) {
        return stk_err_nomem(err);
    }
    if (strcmp(path, "-") == 0) {
        if (*has_stdin) {
            return stk_err_set(err, STOKER_EUSAGE, "standard input (-) was given twice");
        }
        *has_stdin = true;
        struct stk_input_file *f = stk_input_add(s, "", path, path);
        if (!f) {
            return stk_err_nomem(err);
        }
        f->is = STK_INPUT_IS_PROFILE;
        return STOKER_OK;
    }
    if (stat(path, &info)) {
        const char *why = stk_arena_strdup(s->arena, strerror(errno));
        struct stk_input_file *f = stk_input_add(s, "", path, path);
        if (!f || !why) {
            return stk_err_nomem(err);
        }
        f->why = why;
        return STOKER_OK;
    }
    if (!S_ISDIR(info.st_mode)) {
        return add_given_file(s, path, &info, err);
    }
    size_t first = s->files.count;
    enum stoker_status status = stk_input_scan_dir(s, path, err);
    return status == STOKER_OK ? stk_input_choose(s, path, first, err) : status;
}

// Chosen files first, by rank if known, then by name; those left out as found.
static int by_rank_and_name(const void *pa, const void *pb)
{
    const struct stk_input_file *a = pa, *b = pb;
    if (stk_input_is_taken(a) != stk_input_is_taken(b)) {
        return stk_input_is_taken(a) ? -1 : 1;
    }
    if (stk_input_is_taken(a) && a->rank != b->rank) {
        return (uint32_t)a->rank < (uint32_t)b->rank ? -1 : 1;
    }
    return stk_input_compare(a->path, b->path);
}

static enum stoker_status nothing_taken(const struct stk_input_scan *s, const char *first,
                                        struct stoker_err *err)
{
    const struct stk_input_file *f = s->files.count ? stk_vec_at(&s->files, 0) : NULL;
    for (size_t i = 0; i < s->files.count; i++) { // a report is the most informative
        const struct stk_input_file *r = stk_vec_at(&s->files, i);
        if (r->is == STK_INPUT_IS_EXPORTABLE) {
            f = r;
            break;
        }
    }
    if (f && (s->files.count == 1 || f->is == STK_INPUT_IS_EXPORTABLE)) {
        return stk_err_set(err, STOKER_EINPUT, "%s: %s", f->path,
                           f->why ? f->why : "not a profile");
    }
    char files[STK_READER_TEXT_MAX];
    stk_reader_list_files(files, sizeof files);
    if (f) {
        return stk_err_set(err, STOKER_EINPUT,
                           "%s: no profile found; %s: %s. Readable profiles: %s", first, f->path,
                           f->why ? f->why : "not a profile", files);
    }
    return stk_err_set(err, STOKER_EINPUT, "%s: no profile found. Readable profiles: %s", first,
                       files);
}

static enum stoker_status deliver(struct stk_input_scan *s, struct stk_inputs *out,
                                  struct stoker_err *err)
{
    size_t n = s->files.count;
    stk_sort(s->files.items, n, sizeof(struct stk_input_file), by_rank_and_name);
    out->entries = stk_arena_array(s->arena, n ? n : 1, sizeof *out->entries);
    if (!out->entries) {
        return stk_err_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        const struct stk_input_file *f = stk_vec_at(&s->files, i);
        bool taken = stk_input_is_taken(f);
        if (!taken && out->count - out->taken >= STK_INPUTS_LISTED_MAX) {
            s->unlisted++;
            continue;
        }
        out->entries[out->count++] = (struct stk_input){.path = f->path,
                                                        .rank_hint = f->rank,
                                                        .is_numbered = f->is_numbered,
                                                        .is_other_format = f->is_other_format,
                                                        .taken = taken,
                                                        .why = taken ? f->remark : f->why};
        out->taken += taken;
    }
    out->left_out = out->count - out->taken + s->unlisted;
    out->note = s->note;
    if (s->limit_reached) {
        out->note =
            stk_arena_printf(s->arena, "%s%sonly the first %d directory entries were searched",
                             s->note ? s->note : "", s->note ? "; " : "", STK_INPUTS_SCANNED_MAX);
    }
    if (out->taken > STK_INPUTS_FILES_MAX) {
        return stk_err_set(err, STOKER_ELIMIT, "%u profiles: stoker reads at most %d at a time",
                           out->taken, STK_INPUTS_FILES_MAX);
    }
    return STOKER_OK;
}

enum stoker_status stk_inputs_expand(const char *const *paths, size_t n, struct stk_arena *arena,
                                     struct stk_inputs *out, struct stoker_err *err)
{
    *out = (struct stk_inputs){0};
    if (n == 0) {
        return stk_err_set(err, STOKER_EUSAGE, "no profile given");
    }
    struct stk_input_scan s = {.arena = arena};
    bool has_stdin = false;
    enum stoker_status status = STOKER_OK;
    stk_vec_init(&s.files, sizeof(struct stk_input_file),
                 STK_INPUTS_SCANNED_MAX + STK_INPUTS_LISTED_MAX);
    stk_map_init(&s.seen, STK_INPUTS_SCANNED_MAX + STK_INPUTS_LISTED_MAX);
    for (size_t i = 0; i < n && status == STOKER_OK; i++) {
        status = add_given(&s, paths[i], &has_stdin, err);
    }
    bool any = false;
    for (size_t i = 0; i < s.files.count; i++) {
        any |= stk_input_is_taken(stk_vec_at(&s.files, i));
    }
    if (status == STOKER_OK && !any) {
        status = nothing_taken(&s, paths[0], err);
    }
    if (status == STOKER_OK) {
        status = deliver(&s, out, err);
    }
    stk_vec_deinit(&s.files);
    stk_map_deinit(&s.seen);
    return status;
}

static int by_path(const void *a, const void *b)
{
    return stk_input_compare((*(struct stk_input_rank *const *)a)->path,
                             (*(struct stk_input_rank *const *)b)->path);
}

static enum stoker_status twice(const struct stk_input_rank *a, const struct stk_input_rank *b,
                                struct stoker_err *err)
{
    return stk_err_set(
        err, STOKER_EUSAGE,
        "%s and %s both belong to rank %d, so they are not one run. Compare them with "
        "stoker diff %s %s",
        a->path, b->path, (int)a->rank, a->path, b->path);
}

// Settles ranks known by content or else by name, into `ranks_seen` (rank -> index + 1).
static enum stoker_status settle_known(struct stk_input_rank **sorted, size_t n,
                                       struct stk_map *seen, size_t *unknown,
                                       struct stoker_err *err)
{
    for (int pass = 0; pass < 2; pass++) { // content first: a hint never overrides it
        for (size_t i = 0; i < n; i++) {
            struct stk_input_rank *r = sorted[i];
            int32_t rank = pass == 0 ? r->rank : r->rank_hint;
            if (rank < 0 || (pass == 1 && r->rank >= 0)) {
                continue;
            }
            if (pass == 1 && stk_map_get(seen, (uint64_t)rank, 0)) {
                continue; // taken by content: the name is wrong
            }
            int created;
            uint32_t *slot = stk_map_put(seen, (uint64_t)rank, 0, (uint32_t)i, &created);
            if (!slot) {
                return stk_err_nomem(err);
            }
            if (!created) {
                return twice(sorted[*slot], r, err);
            }
            r->rank = rank;
        }
    }
    for (size_t i = 0; i < n; i++) {
        *unknown += sorted[i]->rank < 0;
    }
    return STOKER_OK;
}

// Two files whose names claim one rank, with no rank in either content: rejected like two contents.
static enum stoker_status check_hints(struct stk_input_rank **sorted, size_t n,
                                      struct stoker_err *err)
{
    struct stk_map hints;
    enum stoker_status status = STOKER_OK;
    stk_map_init(&hints, n);
    for (size_t i = 0; i < n && status == STOKER_OK; i++) {
        struct stk_input_rank *r = sorted[i];
        int created;
        if (r->rank >= 0 || r->rank_hint < 0) {
            continue;
        }
        uint32_t *slot = stk_map_put(&hints, (uint64_t)r->rank_hint, 0, (uint32_t)i, &created);
        if (!slot) {
            status = stk_err_nomem(err);
        } else if (!created) {
            struct stk_input_rank a = *sorted[*slot];
            a.rank = r->rank_hint;
            status = twice(&a, r, err);
        }
    }
    stk_map_deinit(&hints);
    return status;
}

enum stoker_status stk_inputs_check_ranks(struct stk_input_rank *ranks, size_t n,
                                          struct stk_arena *arena, const char **note,
                                          struct stoker_err *err)
{
    *note = NULL;
    if (n < 2) {
        return STOKER_OK;
    }
    struct stk_input_rank **sorted = stk_arena_array(arena, n, sizeof *sorted);
    if (!sorted) {
        return stk_err_nomem(err);
    }
    for (size_t i = 0; i < n; i++) {
        sorted[i] = &ranks[i];
    }
    stk_sort(sorted, n, sizeof *sorted, by_path);
    struct stk_map seen;
    size_t unknown = 0;
    stk_map_init(&seen, n);
    enum stoker_status status = check_hints(sorted, n, err);
    if (status == STOKER_OK) {
        status = settle_known(sorted, n, &seen, &unknown, err);
    }
    int32_t next = 0;
    for (size_t i = 0; i < n && status == STOKER_OK; i++) {
        if (sorted[i]->rank >= 0) {
            continue;
        }
        while (stk_map_get(&seen, (uint64_t)next, 0)) {
            next++;
        }
        sorted[i]->rank = next++;
    }
    stk_map_deinit(&seen);
    if (status == STOKER_OK && unknown) {
        *note = stk_arena_printf(arena, "%zu of %zu files don't have a rank: numbered by name",
                                 unknown, n);
        if (!*note) {
            status = stk_err_nomem(err);
        }
    }
    return status;
}
