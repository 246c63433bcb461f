// SPDX-License-Identifier: Apache-2.0
// A reader turns one file into a trace. To add one: a file readers/<name>/<name>.c that ends in its
// descriptor `const struct stk_reader stk_reader_<name>`, and one line X(<name>) in readers.def,
// whose order is the order of sniffing (magic before heuristic).
//
// Readers pull: they ask the stream for bytes, since the fast ones scan several blocks at once.
// Anything wrong in the data becomes an issue (profile/store/issues.def). An error means that
// nothing could be read.
#pragma once

#include "base/stream.h"
#include "profile/store/build.h"

// Called regularly from the reading thread; return non-zero to interrupt (STOKER_EINTR).
struct stk_progress {
    int (*update)(void *arg, uint64_t done_bytes, uint64_t total_bytes); // may be NULL
    void *arg;
};

struct stk_read_ctx {
    const char *path; // as given; "-" for standard input
    // At its start; NULL for readers that open the path themselves. For stk_reader_read: NULL, or
    // an already opened stream, which it closes.
    struct stk_stream *stream;
    int threads;                         // upper bound for workers
    const struct stk_progress *progress; // may be NULL
    uint32_t wants;                      // bits STK_WANT_...: details of events to keep
};

// Suffixes of this format's files, packed or not: ".gz" and ".zst" may follow if the reader takes a
// stream. A file that the user names is recognized only by its content. In a folder, its name is
// checked first.
struct stk_reader_suffix {
    const char *text; // ".xplane.pb"; ASCII case is ignored
    bool suffices;    // the name is enough in a folder; else `sniff` must be certain
};

// A file next to profiles of this format, or one that looks similar, that can't be read. It is
// recognized by suffix, part or magic; magic may be combined with a suffix.
struct stk_reader_stranger {
    const char *suffix, *part; // its name ends with, or contains, this; ASCII case is ignored
    const char *magic;         // its first bytes
    size_t magic_size;
    const char *text; // what it is and what to do instead
    // If it can be converted to a profile: that profile's suffix (such a file in the same folder is
    // used instead), and the command that makes it, followed by the path; else NULL.
    const char *export_suffix, *export_command;
};

struct stk_reader {
    const char *name;                          // "xplane"
    const char *summary;                       // one line for --help and docs
    const char *files;                         // for sentences: "*.xplane.pb (TensorFlow, JAX)"
    const struct stk_reader_suffix *suffixes;  // ends with a row of NULL
    const struct stk_reader_stranger *refuses; // ends with a row without text; may be NULL
    const char *mistaken; // about a file whose name fits but whose content doesn't
    int folder_rank;      // of several formats in a folder the lowest is used; equal: table order
    const char *same_run_as; // another reader's name: a profile next to one of that format is the
                             // same run with less in it; may be NULL
    const char *made_of_folder; // a file of this name was made from the other profiles in its
                                // folder: next to those it isn't mentioned; may be NULL
    bool goes_along;   // a program's own record: used together with profiles of other formats
    bool is_per_host;  // files of a run are one per host, and their order is the ranks'
    bool is_eventless; // has no events: read refuses it with STOKER_EUSAGE
    bool opens_path;   // needs a real file (SQLite); standard input is refused
    // How sure, from the first decompressed bytes: 0 no, 1 possible, 2 certain. `why_not` may be
    // set (static text) if the content is known but can't be read, with what to do.
    int (*sniff)(const uint8_t *head, size_t n, const char **why_not);
    // Read everything into a new trace.
    STK_MUST_CHECK enum stoker_status (*read)(const struct stk_read_ctx *ctx,
                                              struct stk_trace **out, struct stoker_err *err);
    // Arguments of one event, on demand: calls `emit` for every key and value in file order
    // (nested keys joined by '.'). `stream` is a seekable one on the same input. NULL: use
    // args_open and so on, or the format has none.
    STK_MUST_CHECK enum stoker_status (*args)(struct stk_stream *stream, const char *path,
                                              const struct stk_trace *t, uint32_t event,
                                              stk_emit_fn *emit, void *arg, struct stoker_err *err);
    // The same with state kept between events; NULL if that doesn't help. The caller keeps `stream`
    // and `path` until the state is closed.
    STK_MUST_CHECK enum stoker_status (*args_open)(struct stk_stream *stream, const char *path,
                                                   void **state, struct stoker_err *err);
    STK_MUST_CHECK enum stoker_status (*args_next)(void *state, const struct stk_trace *t,
                                                   uint32_t event, stk_emit_fn *emit, void *arg,
                                                   struct stoker_err *err);
    void (*args_close)(void *state); // takes NULL
};

#define X(name) extern const struct stk_reader stk_reader_##name;
#include "profile/readers/readers.def"
#undef X
extern const struct stk_reader *const stk_readers[];
extern const int stk_reader_count;

// Does the name fit one of the reader's suffixes? Returns it, or NULL.
const struct stk_reader_suffix *stk_reader_suffix_of(const struct stk_reader *r, const char *name);
// What kind of other file it is by its name, or NULL.
const struct stk_reader_stranger *stk_reader_stranger_of(const char *name);
bool stk_reader_name_ends(const char *name, const char *suffix); // ASCII case ignored
struct stk_str stk_reader_unpacked_name(const char *name);       // without ".gz" or ".zst"
// Texts made of the rows, cut to `size`: the files of all readers for a sentence ("a, b and c"),
// and the suffixes of one ("*.sqlite, *.db") without those that end in another of them.
#define STK_READER_TEXT_MAX 512
void stk_reader_list_files(char *text, size_t size);
void stk_reader_list_suffixes(const struct stk_reader *r, char *text, size_t size);

// Reader for the stream's content, or NULL with a clear text in err (STOKER_EINPUT).
const struct stk_reader *stk_reader_find(struct stk_stream *s, struct stoker_err *err);
// Open, sniff and read one file. ctx->stream is not used.
STK_MUST_CHECK enum stoker_status stk_reader_read(const struct stk_read_ctx *ctx,
                                                  struct stk_trace **out, struct stoker_err *err);
STK_MUST_CHECK enum stoker_status stk_reader_read_path(const char *path, int threads,
                                                       const struct stk_progress *progress,
                                                       struct stk_trace **out,
                                                       struct stoker_err *err);
