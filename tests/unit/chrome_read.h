// SPDX-License-Identifier: Apache-2.0
// For tests of the Chrome reader: read a file, or a text by way of a temporary file.
#ifndef STK_TESTS_CHROME_READ_H
#define STK_TESTS_CHROME_READ_H

#include <unistd.h>

#include "base/alloc.h"
#include "check.h"
#include "readers/chrome_run.h"
#include "readers/reader.h"

static inline struct stk_trace *chrome_read_file(const char *path, int threads, struct stk_err *err)
{
    struct stk_stream *stream = NULL;
    struct stk_stream_opts opts = {0};
    struct stk_trace *t = NULL;
    stk_err_init(err);
    if (stk_stream_open(&stream, path, &opts, err) != STK_OK)
        return NULL;
    struct stk_read_ctx ctx = {.path = path, .stream = stream, .threads = threads};
    if (stk_reader_chrome.read(&ctx, &t, err) != STK_OK)
        t = NULL;
    stk_stream_close(stream);
    return t;
}

static inline const char *chrome_text_path(void)
{
    static char path[64];
    snprintf(path, sizeof path, "/tmp/stk_chrome_%ld.json", (long)getpid());
    return path;
}

static inline struct stk_trace *chrome_read_bytes(const char *text, size_t n, int threads,
                                                  struct stk_err *err)
{
    FILE *f = fopen(chrome_text_path(), "wb");
    if (!f || fwrite(text, 1, n, f) != n || fclose(f) != 0)
        abort();
    struct stk_trace *t = chrome_read_file(chrome_text_path(), threads, err);
    unlink(chrome_text_path());
    return t;
}

static inline struct stk_trace *chrome_read_text(const char *text, struct stk_err *err)
{
    return chrome_read_bytes(text, strlen(text), 1, err);
}

#endif
