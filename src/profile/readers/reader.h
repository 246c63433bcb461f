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

// Called now and then from the reading thread; return non-zero to interrupt (STOKER_EINTR).
struct stk_progress {
    int (*update)(void *arg, uint64_t done_bytes, uint64_t total_bytes); // may be NULL
    void *arg;
};

struct stk_read_ctx {
    const char *path; // as given; "-" for standard input
    // At its start; NULL for readers that open the path themselves. For stk_reader_read: NULL, or
    // what was opened already, which it closes.
    struct stk_stream *stream;
    int threads;                         // upper bound for workers
    const struct stk_progress *progress; // may be NULL
    uint32_t wants;                      // bits STK_WANT_...: details of events to keep
};

// How names of this format's files end, packed or not: ".gz" and ".zst" may follow where the reader
// takes a stream. A file that is named to stoker is recognized by its content alone; in a folder
// its name is looked at first.
struct stk_reader_suffix {
    const char *text; // ".xplane.pb"; ASCII case is ignored
    bool suffices;    // taken from a folder by its name alone; else `sniff` must be certain
};

// A file that is found next to profiles of this format, or looks like one, and can't be read.
// One of suffix, part and magic says which it is; magic may come with a suffix.
struct stk_reader_stranger {
    const char *suffix, *part; // its name ends so, or holds this; ASCII case is ignored
    const char *magic;         // its first bytes
    size_t magic_size;
    const char *text; // what it is and what to do instead
    // If it can be turned into a profile: that profile's suffix (a file with it in the same folder
    // is taken instead), and the command that makes it, to be followed by the path; else NULL.
    const char *export_suffix, *export_command;
};

struct stk_reader {
    const char *name;                          // "xplane"
    const char *summary;                       // one line for --help and docs
    const char *files;                         // in sentences: "*.xplane.pb (TensorFlow, JAX)"
    const struct stk_reader_suffix *suffixes;  // ends with a row of NULL
    const struct stk_reader_stranger *refuses; // ends with a row without text; may be NULL
    const char *mistaken; // of a file whose name fits and whose content does not
    int folder_rank;      // of several formats in a folder the lowest is taken; equal: table order
    const char *same_run_as;    // another reader's name: a profile beside one of that format is the
                                // same run with less in it; may be NULL
    const char *made_of_folder; // a file of this name is made of the other profiles of its folder:
                                // beside those it is nothing to mention; may be NULL
    bool goes_along;   // what a program recorded of itself: taken beside profiles of other formats
    bool is_per_host;  // files of a run are one per host, and their order is the ranks'
    bool is_eventless; // has no events: read refuses it with STOKER_EUSAGE
    bool opens_path;   // needs a real file (SQLite); standard input is refused
    // How sure, from the first decompressed bytes: 0 no, 1 possible, 2 certain. `why_not` may be
    // set (static text) where the content is known and not readable, with what to do.
    int (*sniff)(const uint8_t *head, size_t n, const char **why_not);
    // Read everything into a new trace.
    STK_MUST_CHECK enum stoker_status (*read)(const struct stk_read_ctx *ctx,
                                              struct stk_trace **out, struct stoker_err *err);
    // Arguments of one event, on demand: calls `emit` for every key and value in file order
    // (nested keys joined by '.'). `stream` is a seekable one on the same input. NULL: args_open
    // and so on, or the format records none.
    STK_MUST_CHECK enum stoker_status (*args)(struct stk_stream *stream, const char *path,
                                              const struct stk_trace *t, uint32_t event,
                                              stk_emit_fn *emit, void *arg, struct stoker_err *err);
    // The same where keeping what the last event needed helps; NULL where it does not. `stream` and
    // `path` stay with the caller until the state is closed.
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
// What the name says the file is instead of a profile, or NULL.
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
