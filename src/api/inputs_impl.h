// SPDX-License-Identifier: Apache-2.0
// Shared by the files that expand inputs: inputs.c (given paths), inputs_scan.c (contents of a
// directory), inputs_choose.c (which files are one run), inputs_names.c (meaning of names).
#pragma once

#include "api/inputs.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "profile/readers/reader.h"

// The kind of a file, by its name and first bytes.
enum stk_input_is {
    STK_INPUT_IS_PROFILE,
    STK_INPUT_IS_EXPORTABLE, // can't be read, but can be exported to a readable file
    STK_INPUT_IS_OTHER
};

struct stk_input_file {
    const char *path, *dir, *base; // arena; dir is the folder's path, base the file's name
    enum stk_input_is is;
    const struct stk_reader *reader;            // for a profile found in a directory; else NULL
    const struct stk_reader_stranger *stranger; // for an exportable file; else NULL
    const char *why;                            // why it is left out; NULL: chosen so far
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
    struct stk_vec files; // struct stk_input_file, over all given paths
    struct stk_map seen;  // (device, inode) of directories entered and files found
    uint64_t scanned, unlisted;
    const char *note;
    bool limit_reached;
};

// inputs_names.c
struct stk_str stk_input_base(const char *path);
// Compares names, with numbers compared as numbers.
int stk_input_compare(const char *a, const char *b);
// Rank from the file's name, else from its folder's; -1: none.
int32_t stk_input_rank(const struct stk_input_file *f);
// Why an exportable file isn't read, and what to do; in the arena. NULL: no memory.
const char *stk_input_export_text(struct stk_arena *arena, const struct stk_reader_stranger *s);
// "*.pt.trace.json", the name of PyTorch's own traces: not another profiler's by-product.
bool stk_input_is_torch(const char *base);
// "worker.1694128201545.pt.trace.json" -> length of "worker", and the number; 0: another form.
size_t stk_input_worker(const char *base, int64_t *recorded);

// inputs_scan.c: appends all files below a directory to s->files.
STK_MUST_CHECK enum stoker_status stk_input_scan_dir(struct stk_input_scan *s, const char *path,
                                                     struct stoker_err *err);
// Appends a file. NULL: no memory, or too many.
struct stk_input_file *stk_input_add(struct stk_input_scan *s, const char *dir, const char *base,
                                     const char *path);

// inputs_choose.c: of the files from index `first` on, keeps those of one run.
STK_MUST_CHECK enum stoker_status stk_input_choose(struct stk_input_scan *s, const char *root,
                                                   size_t first, struct stoker_err *err);
