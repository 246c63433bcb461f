// SPDX-License-Identifier: Apache-2.0
// A reader turns one file into a trace. To add one: a file readers/<name>/<name>.c that ends in its
// descriptor `const struct stk_reader stk_reader_<name>`, and one line X(<name>) in readers.def,
// whose order is the order of sniffing (magic before heuristic).
//
// Readers pull: they ask the stream for bytes, since the fast ones scan several blocks at once.
// Whatever is wrong in the data becomes an issue (store/issues.def); an error means that nothing at
// all could be read.
#ifndef STK_READERS_READER_H
#define STK_READERS_READER_H

#include "base/stream.h"
#include "store/build.h"

// Called now and then from the reading thread; return non-zero to interrupt (STK_EINTR).
struct stk_progress {
    int (*update)(void *arg, uint64_t done_bytes, uint64_t total_bytes); // may be NULL
    void *arg;
};

struct stk_read_ctx {
    const char *path;          // as given; "-" for standard input
    struct stk_stream *stream; // at its start; NULL for readers that open the path themselves
    int threads;               // upper bound for workers
    const struct stk_progress *progress; // may be NULL
    uint32_t wants;                      // bits STK_WANT_...: details of events to keep
};

struct stk_reader {
    const char *name;       // "xplane"
    const char *summary;    // one line for --help and docs
    const char *extensions; // "*.xplane.pb", for docs only: recognition is by content
    bool opens_path;        // needs a real file (SQLite); standard input is refused
    // How sure, from the first decompressed bytes: 0 no, 1 possible, 2 certain. `why_not` may be
    // set (static text) where the content is known and not readable, with what to do.
    int (*sniff)(const uint8_t *head, size_t n, const char **why_not);
    // Read everything into a new trace.
    STK_MUST_CHECK enum stk_status (*read)(const struct stk_read_ctx *ctx, struct stk_trace **out,
                                           struct stk_err *err);
    // Arguments of one event, on demand: calls `emit` for every key and value in file order
    // (nested keys joined by '.'). `stream` is a seekable one on the same input.
    STK_MUST_CHECK enum stk_status (*args)(struct stk_stream *stream, const char *path,
                                           const struct stk_trace *t, uint32_t event,
                                           void (*emit)(void *arg, struct stk_str key,
                                                        struct stk_str value),
                                           void *arg, struct stk_err *err);
    // The same for many events, where keeping what the last one needed helps; NULL where it does
    // not. `stream` and `path` stay with the caller until the state is closed.
    STK_MUST_CHECK enum stk_status (*args_open)(struct stk_stream *stream, const char *path,
                                                void **state, struct stk_err *err);
    STK_MUST_CHECK enum stk_status (*args_next)(void *state, const struct stk_trace *t,
                                                uint32_t event,
                                                void (*emit)(void *arg, struct stk_str key,
                                                             struct stk_str value),
                                                void *arg, struct stk_err *err);
    void (*args_close)(void *state); // takes NULL
};

#define X(name) extern const struct stk_reader stk_reader_##name;
#include "readers/readers.def"
#undef X
extern const struct stk_reader *const stk_readers[];
extern const int stk_reader_count;

// Reader for the stream's content, or NULL with a clear text in err (STK_EINPUT).
const struct stk_reader *stk_reader_find(struct stk_stream *s, struct stk_err *err);
// Open, sniff and read one file. ctx->stream is not used.
STK_MUST_CHECK enum stk_status stk_reader_read(const struct stk_read_ctx *ctx,
                                               struct stk_trace **out, struct stk_err *err);
STK_MUST_CHECK enum stk_status stk_reader_read_path(const char *path, int threads,
                                                    const struct stk_progress *progress,
                                                    struct stk_trace **out, struct stk_err *err);

#endif
