// SPDX-License-Identifier: Apache-2.0
// What a file's name says about its format, by the readers' rows: which reader's suffix it has, and
// which known other file it is. Names only matter in folders: a file that the user names is
// recognized by its content (reader_find.c).
#include <stdio.h>

#include "base/assert.h"
#include "profile/readers/reader.h"

static bool ends(struct stk_str name, const char *suffix)
{
    size_t k = strlen(suffix);
    return name.n >= k &&
           stk_str_eq_nocase((struct stk_str){name.p + name.n - k, k}, stk_str_from(suffix));
}

bool stk_reader_name_ends(const char *name, const char *suffix)
{
    return ends(stk_str_from(name), suffix);
}

static const char *const packed[] = {".gz", ".zst"}; // as stk_stream_open unpacks them

struct stk_str stk_reader_unpacked_name(const char *name)
{
    struct stk_str s = stk_str_from(name);
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        if (ends(s, packed[i])) {
            return (struct stk_str){s.p, s.n - strlen(packed[i])};
        }
    }
    return s;
}

const struct stk_reader_suffix *stk_reader_suffix_of(const struct stk_reader *r, const char *name)
{
    STK_ASSERT(r->suffixes && name);
    struct stk_str own = r->opens_path ? stk_str_from(name) : stk_reader_unpacked_name(name);
    for (const struct stk_reader_suffix *s = r->suffixes; s->text; s++) {
        if (ends(own, s->text)) {
            return s;
        }
    }
    return NULL;
}

static bool is_stranger(const struct stk_reader_stranger *s, const char *name)
{
    return s->suffix ? stk_reader_name_ends(name, s->suffix)
           : s->part ? stk_str_contains_nocase(stk_str_from(name), stk_str_from(s->part))
                     : false;
}

const struct stk_reader_stranger *stk_reader_stranger_of(const char *name)
{
    for (int i = 0; i < stk_reader_count; i++) {
        const struct stk_reader_stranger *s = stk_readers[i]->refuses;
        for (; s && s->text; s++) {
            if (is_stranger(s, name)) {
                return s;
            }
        }
    }
    return NULL;
}

static void append(char *text, size_t size, const char *before, const char *what)
{
    STK_ASSERT(size > 0);
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", before, what);
}

void stk_reader_list_files(char *text, size_t size)
{
    STK_ASSERT(size > 0);
    *text = 0;
    for (int i = 0; i < stk_reader_count; i++) {
        const char *before = i == 0 ? "" : i + 1 < stk_reader_count ? ", " : " and ";
        append(text, size, before, stk_readers[i]->files);
    }
}

void stk_reader_list_suffixes(const struct stk_reader *r, char *text, size_t size)
{
    STK_ASSERT(r && size > 0);
    *text = 0;
    for (const struct stk_reader_suffix *s = r->suffixes; s->text; s++) {
        bool is_covered = false;
        for (const struct stk_reader_suffix *o = r->suffixes; o->text; o++) {
            is_covered |= o != s && stk_reader_name_ends(s->text, o->text);
        }
        if (!is_covered) {
            append(text, size, *text ? ", *" : "*", s->text);
        }
    }
    if (!r->opens_path) {
        for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
            append(text, size, i ? ", " : " (", packed[i]);
        }
        append(text, size, ")", "");
    }
}
