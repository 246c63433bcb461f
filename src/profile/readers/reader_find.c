// SPDX-License-Identifier: Apache-2.0
// Finds a file's reader by content, never by name. A well-known file that isn't a profile (a
// git-lfs pointer, a web page saved under the profile's name, files that the readers' rows refuse,
// such as a report that needs an export) gets an error that says what it is and what to do instead.
#include "base/assert.h"
#include "profile/readers/reader.h"

#include <string.h>

struct stranger {
    const char *magic;
    size_t size;
    const char *text; // after "PATH: "
};
#define STRANGER(magic, text) {magic, sizeof magic - 1, text}

static const struct stranger strangers[] = {
    STRANGER("version https://git-lfs.github.com/",
             "this is a git-lfs pointer, not the file itself. Fetch it with: git lfs pull"),
    STRANGER("\x00\x05\x16\x07", "this is macOS metadata (AppleDouble, a \"._\" file), not a "
                                 "profile. Give the file with the "
                                 "same name without \"._\""),
    STRANGER("PK\x03\x04", "this is a zip archive. Unpack it and give the profile inside"),
    STRANGER("\x7f"
             "ELF",
             "this is a program, not a profile"),
    STRANGER("BZh", "bzip2 is not supported. Decompress it first, or use gzip or zstd"),
    STRANGER("\xfd"
             "7zXZ",
             "xz is not supported. Decompress it first, or use gzip or zstd"),
};

static bool is_html(struct stk_str s)
{
    while (s.n && (*s.p == ' ' || *s.p == '\n' || *s.p == '\r' || *s.p == '\t')) {
        s = (struct stk_str){s.p + 1, s.n - 1};
    }
    return stk_str_starts_nocase(s, STK_STR("<!doctype html")) ||
           stk_str_starts_nocase(s, STK_STR("<html"));
}

// Python's pickle, protocols 2 to 5: a PROTO opcode and an early frame, empty dictionary or list.
static bool is_pickle(const uint8_t *p, size_t n)
{
    return n >= 3 && p[0] == 0x80 && p[1] >= 2 && p[1] <= 5 &&
           (p[2] == 0x95 || p[2] == '}' || p[2] == ']' || p[2] == '(' || p[2] == 'c');
}

// A tar archive: what a .tar.gz of profiles looks like once decompressed.
static bool is_tar(const uint8_t *p, size_t n)
{
    return n >= 263 && memcmp(p + 257, "ustar", 5) == 0;
}

static bool is_zero(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (p[i]) {
            return false;
        }
    }
    return true;
}

// The reason why a reader's row refuses these first bytes; NULL: none.
static const char *refused_magic(struct stk_str head)
{
    for (int i = 0; i < stk_reader_count; i++) {
        const struct stk_reader_stranger *s = stk_readers[i]->refuses;
        for (; s && s->text; s++) {
            if (s->magic && stk_str_starts(head, (struct stk_str){s->magic, s->magic_size})) {
                return s->text;
            }
        }
    }
    return NULL;
}

// The description of content that is known but can't be read; NULL: not known.
static const char *known_stranger(const uint8_t *p, size_t n)
{
    struct stk_str head = {(const char *)p, n};
    const char *refused = refused_magic(head);
    if (refused) {
        return refused;
    }
    for (size_t i = 0; i < sizeof strangers / sizeof strangers[0]; i++) {
        if (stk_str_starts(head, (struct stk_str){strangers[i].magic, strangers[i].size})) {
            return strangers[i].text;
        }
    }
    if (is_html(head)) {
        return "this is a web page, not a profile; a download probably saved an error or a log-in "
               "page";
    }
    if (is_pickle(p, n)) {
        return "this is a Python pickle, such as a PyTorch memory snapshot, not a profile of "
               "events; "
               "give the trace that export_chrome_trace() or tensorboard_trace_handler() wrote";
    }
    if (is_tar(p, n)) {
        return "this is a tar archive. Unpack it and give the profiles inside";
    }
    if (is_zero(p, n)) {
        return "the file holds only zeros, like an interrupted export or copy. Export or copy it "
               "again";
    }
    return NULL;
}

// An empty file, or a compressed one that yields no bytes: it was cut, or contains an empty file.
static void describe_empty(const struct stk_stream *s, struct stoker_err *err)
{
    const char *damage = stk_stream_damage(s);
    if (damage) {
        stk_err_set(err, STOKER_EINPUT,
                    "%s: nothing could be decompressed (%s). It was cut off when written or "
                    "copied. Copy or record it again",
                    stk_stream_path(s), damage);
        return;
    }
    // The same message for a plain and a compressed file.
    stk_err_set(err, STOKER_EINPUT,
                "%s: the file is empty: the profiler didn't finish writing it. TensorFlow and JAX "
                "can't write profiles above 2 GB: record fewer steps",
                stk_stream_path(s));
}

// n: bytes at p, above 0.
static void describe_stranger(const uint8_t *p, size_t n, const char *path, const char *why_not,
                              struct stoker_err *err)
{
    STK_ASSERT(p || n == 0);
    const char *known = known_stranger(p, n);
    const char *slash = strrchr(path, '/');
    const struct stk_reader_stranger *named = stk_reader_stranger_of(slash ? slash + 1 : path);
    if (known || why_not) {
        stk_err_set(err, STOKER_EINPUT, "%s: %s", path, known ? known : why_not);
    } else if (named && named->export_command) {
        stk_err_set(err, STOKER_EINPUT, "%s: %s: %s %s", path, named->text, named->export_command,
                    path);
    } else if (named) {
        stk_err_set(err, STOKER_EINPUT, "%s: %s", path, named->text);
    } else {
        char files[STK_READER_TEXT_MAX];
        stk_reader_list_files(files, sizeof files);
        stk_err_set(err, STOKER_EINPUT,
                    "%s: not a profile that stoker knows. It reads %s, plain or compressed as "
                    ".gz or .zst",
                    path, files);
    }
}

const struct stk_reader *stk_reader_find(struct stk_stream *s, struct stoker_err *err)
{
    const uint8_t *head;
    size_t n = stk_stream_peek(s, &head);
    const struct stk_reader *best = NULL;
    const char *why_not = NULL;
    int best_score = 0;
    if (!n || !known_stranger(head, n)) {
        for (int i = 0; n && i < stk_reader_count && best_score < 2; i++) {
            const char *why = NULL;
            int score = stk_readers[i]->sniff(head, n, &why);
            if (score > best_score) {
                best = stk_readers[i];
                best_score = score;
            }
            if (why && !why_not) {
                why_not = why;
            }
        }
    }
    if (!n) {
        describe_empty(s, err);
    } else if (!best) {
        describe_stranger(head, n, stk_stream_path(s), why_not, err);
    }
    return best;
}

enum stoker_status stk_reader_read_path(const char *path, int threads,
                                        const struct stk_progress *progress, struct stk_trace **out,
                                        struct stoker_err *err)
{
    struct stk_read_ctx ctx = {.path = path, .threads = threads, .progress = progress};
    return stk_reader_read(&ctx, out, err);
}

enum stoker_status stk_reader_read(const struct stk_read_ctx *asked, struct stk_trace **out,
                                   struct stoker_err *err)
{
    STK_ASSERT(asked->path && out);
    struct stk_stream *stream = asked->stream;
    struct stk_read_ctx ctx = *asked;
    const char *path = asked->path;
    struct stoker_err own;
    *out = NULL;
    ctx.stream = NULL;
    err = err ? err : &own;
    enum stoker_status status =
        stream ? STOKER_OK
               : stk_stream_open(&stream, path, &(struct stk_stream_opts){.is_bounded = 1}, err);
    if (status != STOKER_OK) {
        return status;
    }
    bool is_stdin = asked->stream || strcmp(path, "-") == 0;
    const struct stk_reader *reader = stk_reader_find(stream, err);
    if (!reader) {
        status = err->code;
    } else if (reader->opens_path && (is_stdin || stk_stream_codec(stream) != STK_CODEC_PLAIN)) {
        status =
            stk_err_set(err, STOKER_EINPUT, "%s: a database (%s) must be a plain file, not %s",
                        path, reader->name, is_stdin ? "standard input or a pipe" : "compressed");
    } else if (reader->opens_path) {
        stk_stream_close(stream);
        stream = NULL;
        status = reader->read(&ctx, out, err);
    } else {
        ctx.stream = stream;
        status = reader->read(&ctx, out, err);
    }
    stk_stream_close(stream);
    return status;
}
