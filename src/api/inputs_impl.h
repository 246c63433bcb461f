// SPDX-License-Identifier: Apache-2.0
// Shared by the files that expand inputs: inputs.c (what was given), inputs_scan.c (what a
// directory holds), inputs_choose.c (which of it belongs to one run), inputs_names.c (what names
// say).
#pragma once

#include "api/inputs.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "profile/readers/reader.h"

// What a file is, by its name and first bytes.
enum stk_input_is {
    STK_INPUT_IS_PROFILE,
    STK_INPUT_IS_EXPORTABLE, // cannot be read, what can be made of it can
    STK_INPUT_IS_OTHER
};

struct stk_input_file {
    const char *path, *dir, *base; // arena; dir is the folder's path, base the file's name
    enum stk_input_is is;
    const struct stk_reader *reader;            // of a profile found in a directory; else NULL
    const struct stk_reader_stranger *stranger; // of what can be exported; else NULL
    const char *why;                            // NULL: taken so far
    const char *remark;
    int64_t mtime_s;
    int32_t rank;
    bool is_numbered, is_other_format; // as in struct stk_input
};

static inline bool stk_input_is_taken(const struct stk_input_file *f)
{
    return f->is == STK_INPUT_IS_PROFILE && !f->why;
}

struct stk_input_scan {
    struct stk_arena *arena;
    struct stk_vec files; // struct stk_input_file, of all given paths
    struct stk_map seen;  // (device, inode) of directories entered and files met
    uint64_t scanned, unlisted;
    const char *note;
    bool limit_reached;
};

// inputs_names.c
struct stk_str stk_input_base(const char *path);
// Order of names with numbers compared as numbers.
int stk_input_compare(const char *a, const char *b);
// Rank by file name, else by the name of its folder; -1 none.
int32_t stk_input_rank(const struct stk_input_file *f);
// Text in the arena, why a file that can be exported is not read: what to do. NULL: no memory.
const char *stk_input_export_text(struct stk_arena *arena, const struct stk_reader_stranger *s);
// "*.pt.trace.json", as PyTorch's own traces are named: no other profiler's by-product.
bool stk_input_is_torch(const char *base);
// "worker.1694128201545.pt.trace.json" -> length of "worker", and the number; 0 if not like that.
size_t stk_input_worker(const char *base, int64_t *recorded);

// inputs_scan.c: all files below a directory, appended to s->files.
STK_MUST_CHECK enum stoker_status stk_input_scan_dir(struct stk_input_scan *s, const char *path,
                                                     struct stoker_err *err);
// Append one file. NULL: no memory, or too many.
struct stk_input_file *stk_input_add(struct stk_input_scan *s, const char *dir, const char *base,
                                     const char *path);

// inputs_choose.c: of the files from index `first` on, those of one run stay.
STK_MUST_CHECK enum stoker_status stk_input_choose(struct stk_input_scan *s, const char *root,
                                                   size_t first, struct stoker_err *err);
