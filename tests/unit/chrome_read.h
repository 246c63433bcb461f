// SPDX-License-Identifier: Apache-2.0
// For tests of the Chrome reader: read a file, or a text by way of a temporary file.
#ifndef STK_TESTS_CHROME_READ_H
#define STK_TESTS_CHROME_READ_H

#include <unistd.h>

#include "base/alloc.h"
#include "check.h"
#include "profile/readers/chrome/chrome_run.h"
#include "profile/readers/reader.h"

static inline struct stk_trace *chrome_read_file(const char *path, int threads,
                                                 struct stoker_err *err)
{
    struct stk_stream *stream = NULL;
    struct stk_stream_opts opts = {0};
    struct stk_trace *t = NULL;
    stk_err_init(err);
    if (stk_stream_open(&stream, path, &opts, err) != STOKER_OK) {
        return NULL;
    }
    struct stk_read_ctx ctx = {.path = path, .stream = stream, .threads = threads};
    if (stk_reader_chrome.read(&ctx, &t, err) != STOKER_OK) {
        t = NULL;
    }
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
                                                  struct stoker_err *err)
{
    FILE *f = fopen(chrome_text_path(), "wb");
    if (!f || fwrite(text, 1, n, f) != n || fclose(f) != 0) {
        abort();
    }
    struct stk_trace *t = chrome_read_file(chrome_text_path(), threads, err);
    unlink(chrome_text_path());
    return t;
}

static inline struct stk_trace *chrome_read_text(const char *text, struct stoker_err *err)
{
    return chrome_read_bytes(text, strlen(text), 1, err);
}

static inline void chrome_mix(uint64_t *h, uint64_t x)
{
    *h = (*h ^ x) * 0x9e3779b97f4a7c15u;
    *h ^= *h >> 29;
}

static inline void chrome_mix_string(uint64_t *h, const struct stk_trace *t, uint32_t id)
{
    struct stk_str s = stk_strpool_get(&t->strings, id);
    chrome_mix(h, s.n);
    for (size_t i = 0; i < s.n; i++) {
        chrome_mix(h, (unsigned char)s.p[i]);
    }
}

// All that a trace says, string ids by their text.
static inline uint64_t chrome_digest(const struct stk_trace *t)
{
    uint64_t h = t->count;
    for (uint32_t k = 0; k < t->track_count; k++) {
        const struct stk_track *track = &t->tracks[k];
        chrome_mix(&h, track->kind);
        chrome_mix(&h, (uint64_t)t->processes[track->process].pid);
        chrome_mix(&h, track->device == STK_NONE ? 0 : (uint64_t)t->devices[track->device].ordinal);
        chrome_mix(&h, (uint64_t)track->id);
        chrome_mix_string(&h, t, track->name);
        chrome_mix(&h, track->count);
    }
    for (uint32_t i = 0; i < t->count; i++) {
        const struct stk_ext *ext = stk_ext_of(t, i);
        chrome_mix(&h, (uint64_t)t->start_ns[i]);
        chrome_mix(&h, (uint64_t)stk_dur_ns(t, i));
        chrome_mix(&h, stk_pos(t, i) << 16 | (uint64_t)t->kind[i] << 8 | t->depth[i]);
        chrome_mix(&h, t->name[i]);
        chrome_mix(&h, stk_link_of(t, i));
        if (ext) {
            chrome_mix(&h, (uint64_t)ext->value ^ (uint64_t)ext->flags << 56 ^
                               (uint64_t)ext->dir << 48 ^ (uint64_t)ext->src_mem << 40);
        }
    }
    for (uint32_t i = 0; i < t->strings.count; i++) {
        chrome_mix_string(&h, t, i);
    }
    for (int i = 0; i < STK_ISSUE_COUNT; i++) {
        chrome_mix(&h, t->issues[i].count);
        chrome_mix(&h, t->issues[i].events_lost);
        chrome_mix(&h, (uint64_t)t->issues[i].first_offset);
        chrome_mix_string(&h, t, t->issues[i].note);
    }
    for (int i = 0; i < STK_KIND_COUNT; i++) {
        chrome_mix(&h, t->by_kind[i]);
    }
    chrome_mix(&h, t->read);
    chrome_mix(&h, t->dropped);
    chrome_mix(&h, (uint64_t)t->base_ns);
    chrome_mix_string(&h, t, t->producer);
    return h;
}

#endif
