// SPDX-License-Identifier: Apache-2.0
// Fetches arguments. A compressed file is read through once to set marks; after that each event
// costs decompressing at most a few MB.
#include "api/query_args.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/public_name.h"
#include "base/alloc.h"
#include "base/remove.h"
#include "profile/readers/reader.h"

#define BUFFER_BYTES (1 << 20)

static enum stoker_status read_through(struct stk_stream *s, struct stoker_err *err)
{
    size_t got = 1;
    enum stoker_status status = STOKER_OK;
    void *buffer = stk_alloc(BUFFER_BYTES);
    if (!buffer) {
        return stk_err_nomem(err);
    }
    while (status == STOKER_OK && got) {
        status = stk_stream_read(s, buffer, BUFFER_BYTES, &got, err);
    }
    stk_free(buffer);
    return status;
}

// A temporary file without a name, in $TMPDIR.
static FILE *open_spool(void)
{
    char path[512];
    const char *dir = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/stoker-args-XXXXXX", dir && *dir ? dir : "/tmp");
    int fd = mkstemp(path);
    FILE *f = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (fd >= 0) {
        (void)stk_remove_file(AT_FDCWD, path);
    }
    if (fd >= 0 && !f) {
        close(fd);
    }
    return f;
}

// Unpacks the whole stream, which then becomes one of that file.
static enum stoker_status spool(struct stk_query_args *a, const struct stk_stream_opts *opts,
                                struct stoker_err *err)
{
    char path[64];
    size_t got = 1;
    enum stoker_status status = STOKER_OK;
    FILE *f = open_spool();
    void *buffer = stk_alloc(BUFFER_BYTES);
    if (!buffer) {
        status = stk_err_nomem(err);
    } else if (!f) {
        status = stk_err_set(err, STOKER_EOUTPUT,
                             "can't create a temporary file to unpack the profile (set TMPDIR): %s",
                             strerror(errno));
    }
    while (status == STOKER_OK && got) {
        status = stk_stream_read(a->stream, buffer, BUFFER_BYTES, &got, err);
        if (status == STOKER_OK && fwrite(buffer, 1, got, f) != got) {
            status = stk_err_set(err, STOKER_EOUTPUT, "can't unpack the profile (set TMPDIR): %s",
                                 strerror(errno));
        }
    }
    stk_free(buffer);
    if (status == STOKER_OK && fflush(f) != 0) {
        status = stk_err_set(err, STOKER_EOUTPUT, "can't unpack the profile (set TMPDIR): %s",
                             strerror(errno));
    }
    if (status == STOKER_OK) {
        stk_stream_close(a->stream);
        a->stream = NULL;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(f));
        status = stk_stream_open(&a->stream, path, opts, err);
    }
    if (f) {
        fclose(f);
    }
    return status;
}

static enum stoker_status open_file(struct stk_query_args *a, const char *path,
                                    struct stoker_err *err)
{
    struct stk_stream_opts opts = {.seekable = 1};
    stk_query_args_free(a);
    if (strcmp(path, "-") == 0) {
        return stk_err_set(
            err, STOKER_EUSAGE,
            "arguments need to read the profile twice, which standard input can't: give the file");
    }
    enum stoker_status status = stk_stream_open(&a->stream, path, &opts, err);
    if (status != STOKER_OK) {
        return status;
    }
    a->reader = stk_reader_find(a->stream, err);
    if (!a->reader) {
        status = err->code;
    } else if (a->reader->opens_path) {
        stk_stream_close(a->stream);
        a->stream = NULL;
    } else if (stk_stream_codec(a->stream) != STK_CODEC_PLAIN) {
        status = a->spools ? spool(a, &opts, err) : read_through(a->stream, err);
    }
    if (status == STOKER_OK && a->reader->args_open) {
        status = a->reader->args_open(a->stream, path, &a->state, err);
    }
    a->path = path;
    if (status != STOKER_OK) {
        stk_query_args_free(a);
    }
    return status;
}

struct redacting {
    stk_emit_fn *emit;
    void *arg;
    unsigned keys; // keys of the event that were replaced
};

static void emit_redacted(void *arg, struct stk_str key, struct stk_str value)
{
    struct redacting *r = arg;
    char number[32];
    bool plain = true;
    for (size_t i = 0; i < value.n; i++) {
        plain &= strchr("0123456789+-.eE,[] ", value.p[i]) != NULL && value.p[i];
    }
    if (!stk_public_key(key.p, key.n)) {
        snprintf(number, sizeof number, "key-%u", ++r->keys);
        key = stk_str_from(number);
    }
    r->emit(r->arg, key, plain ? value : STK_STR("redacted"));
}

enum stoker_status stk_query_args_fetch(struct stk_query_args *a, const char *path,
                                        const struct stk_trace *t, uint32_t event,
                                        stk_emit_fn *emit, void *arg, struct stoker_err *err)
{
    struct redacting redacting = {.emit = emit, .arg = arg};
    if (a->path != path) {
        enum stoker_status status = open_file(a, path, err);
        if (status != STOKER_OK) {
            return status;
        }
    }
    stk_emit_fn *told = a->redact ? emit_redacted : emit;
    void *to = a->redact ? &redacting : arg;
    if (a->state) {
        return a->reader->args_next(a->state, t, event, told, to, err);
    }
    return a->reader->args ? a->reader->args(a->stream, path, t, event, told, to, err) : STOKER_OK;
}

void stk_query_args_free(struct stk_query_args *a)
{
    if (a->state) {
        a->reader->args_close(a->state);
    }
    a->state = NULL;
    stk_stream_close(a->stream);
    a->stream = NULL;
    a->reader = NULL;
    a->path = NULL;
}
