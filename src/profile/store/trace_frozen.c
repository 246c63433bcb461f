// SPDX-License-Identifier: Apache-2.0
// The trace's own struct as it is, then its arrays in the order below. Strings are interned again
// when thawing: the lookup table depends on the process's hash, and strings are few compared with
// events.
#include "profile/store/trace_frozen.h"

#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"

// Column, how many.
#define COLUMNS(X)                                                                                 \
    X(start_ns, t->count)                                                                          \
    X(dur_low, t->count)                                                                           \
    X(name, t->count)                                                                              \
    X(ref, t->count)                                                                               \
    X(pos_low, t->count)                                                                           \
    X(pos_high, t->count)                                                                          \
    X(kind, t->count)                                                                              \
    X(depth, t->count)                                                                             \
    X(ext, t->ext_count)                                                                           \
    X(details, t->detail_count)                                                                    \
    X(detail_first, (t->detail_first ? (size_t)t->ext_count + 1 : 0))                              \
    X(configs, t->config_count)                                                                    \
    X(long_durs, t->long_dur_count)                                                                \
    X(processes, t->process_count)                                                                 \
    X(devices, t->device_count)                                                                    \
    X(tracks, t->track_count)                                                                      \
    X(programs, t->program_count)                                                                  \
    X(arguments, t->argument_count)

void stk_text_freeze(struct stk_frost *f, const char *text)
{
    stk_frost_put(f, text ? text : "", text ? strlen(text) + 1 : 1, 1);
}

const char *stk_text_thaw(struct stk_thaw *thaw)
{
    size_t n;
    const char *text = stk_thaw_take(thaw, 1, &n);
    if (n == 0 || text[n - 1]) {
        thaw->failed = true;
        return "";
    }
    return text;
}

// All texts, concatenated, and their lengths.
static void freeze_strings(const struct stk_strpool *p, struct stk_frost *f)
{
    struct stk_vec bytes;
    stk_vec_init(&bytes, 1, PTRDIFF_MAX);
    for (uint32_t i = 0; i < p->count && !f->failed; i++) {
        char *to = stk_vec_push_n(&bytes, (size_t)p->lengths[i] + 1);
        f->failed |= !to;
        if (to) {
            memcpy(to, p->strings[i], (size_t)p->lengths[i] + 1);
        }
    }
    stk_frost_put(f, p->lengths, p->count, sizeof *p->lengths);
    stk_frost_put(f, bytes.items, bytes.count, 1);
    stk_vec_deinit(&bytes);
}

// Each gets its old id.
static bool thaw_strings(struct stk_strpool *p, struct stk_thaw *thaw)
{
    size_t count, n, at = 0;
    const uint32_t *lengths = stk_thaw_take(thaw, sizeof *lengths, &count);
    const char *bytes = stk_thaw_take(thaw, 1, &n);
    if (stk_strpool_init(p, 0) != 0) {
        return false;
    }
    for (size_t i = 0; i < count && !thaw->failed; i++) {
        thaw->failed =
            n - at < (size_t)lengths[i] + 1 || stk_strpool_intern(p, bytes + at, lengths[i]) != i;
        at += thaw->failed ? 0 : (size_t)lengths[i] + 1;
    }
    return !thaw->failed;
}

void stk_trace_freeze(const struct stk_trace *t, struct stk_frost *f)
{
    stk_frost_put(f, t, 1, sizeof *t);
    stk_text_freeze(f, t->format);
    freeze_strings(&t->strings, f);
#define X(column, n) stk_frost_put(f, t->column, n, sizeof *t->column);
    COLUMNS(X)
#undef X
}

struct stk_trace *stk_trace_thaw(struct stk_thaw *thaw)
{
    const struct stk_trace *frozen = stk_thaw_array(thaw, sizeof *frozen, 1);
    struct stk_trace *t = thaw->failed ? NULL : stk_alloc(sizeof *t);
    if (!t) {
        return NULL;
    }
    *t = *frozen;
    t->is_frozen = true;
    t->track_at = NULL;
    t->strings = (struct stk_strpool){.count = 0};
    t->format = stk_text_thaw(thaw);
    bool has_first = t->detail_first != NULL; // as it was when it was frozen
    bool ok = thaw_strings(&t->strings, thaw);
#define X(column, n) t->column = stk_thaw_array(thaw, sizeof *t->column, n);
    COLUMNS(X)
#undef X
    t->detail_first = has_first ? t->detail_first : NULL;
    if (!ok || thaw->failed) {
        stk_trace_free(t);
        return NULL;
    }
    return t;
}
