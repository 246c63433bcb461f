// SPDX-License-Identifier: Apache-2.0
// Small inputs of every format for the torture tests: the fuzz seeds, as bytes and as files in
// memory.
#ifndef STK_TESTS_TORTURE_INPUTS_H
#define STK_TESTS_TORTURE_INPUTS_H

#include <dirent.h>

#include "check.h"
#include "fuzz/fuzz.h"
#include "stoker/report.h"

struct torture_input {
    char path[512];
    uint8_t *bytes;
    size_t size;
};

// A file in memory that is rewritten, under a path that every reader can open.
static inline const char *torture_write(const uint8_t *bytes, size_t size)
{
    return fuzz_put(FUZZ_LINKED, bytes, size);
}

static inline void torture_add(struct torture_input **list, size_t *count, const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f) {
        return;
    }
    *list = realloc(*list, (*count + 1) * sizeof **list);
    struct torture_input *in = &(*list)[*count];
    snprintf(in->path, sizeof in->path, "%s", path);
    in->bytes = malloc(1 << 22);
    in->size = fread(in->bytes, 1, 1 << 22, f);
    fclose(f);
    (*count)++;
}

// All seeds of tests/fuzz/seeds/<reader>/; the test runs in the root of the tree.
static inline struct torture_input *torture_inputs(size_t *count)
{
    static const char *const readers[] = {
#define X(name) #name,
#include "profile/readers/readers.def"
#undef X
    };
    struct torture_input *list = NULL;
    *count = 0;
    for (size_t r = 0; r < sizeof readers / sizeof *readers; r++) {
        char dir[256];
        snprintf(dir, sizeof dir, "tests/fuzz/seeds/%s", readers[r]);
        DIR *d = opendir(dir);
        size_t before = *count;
        for (struct dirent *e; d && (e = readdir(d));) {
            char path[512];
            snprintf(path, sizeof path, "%s/%.200s", dir, e->d_name);
            if (e->d_name[0] != '.') {
                torture_add(&list, count, path);
            }
        }
        if (d) {
            closedir(d);
        }
        CHECK(*count > before); // every reader has a seed
    }
    return list;
}

// Diagnose one file; the status is the library's.
static inline enum stoker_status torture_why(const char *path, struct stoker_err *err)
{
    struct stoker_why_options options;
    struct stoker_result *result = NULL;
    stoker_why_options_default(&options);
    options.threads = 1;
    enum stoker_status status = stoker_why(&path, 1, &options, &result, err);
    if (status == STOKER_OK) {
        CHECK(result && stoker_result_verdict(result));
    } else {
        CHECK(!result && err->message[0]);
    }
    stoker_result_free(result);
    return status;
}

#endif
