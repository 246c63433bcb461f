// SPDX-License-Identifier: Apache-2.0
// Files of partial results (partial.h). The head of an item is six numbers of four bytes, lowest
// first: the bytes of the packed item, their CRC-32C (with the path's), the rank of the file's
// name, the bytes of the path, those of the item before packing, and 0. The path follows, then the
// item: a gzip member.
#include "answers/partial/partial.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/crc32c.h"
#include "base/gzip_write.h"
#include "base/inflate.h"

#define LINE_MAX_BYTES 128

#define HEAD_NUMBERS 6
#define INPUT_BYTES                                                                                \
    65536 // read at a time: every profile is opened once to check whether it is a partial
#define PATH_MAX_BYTES 65536

struct stk_partial_file {
    struct stk_stream *stream;
    const char *path;
    const char *version; // of this stoker
    uint32_t items;
    bool ended; // the last file of those that are joined
    bool has_ahead;
    char ahead; // a byte that was read to see whether another file follows
};

static void put_number(unsigned char *to, uint32_t v)
{
    for (int i = 0; i < 4; i++) {
        to[i] = (unsigned char)(v >> 8 * i);
    }
}

static uint32_t get_number(const unsigned char *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t checksum(const struct stk_partial_packed *item, size_t path_size)
{
    return stk_crc32c(stk_crc32c(0, item->path, path_size), item->bytes, item->size);
}

void stk_partial_begin(struct stk_sink *sink, const char *version)
{
    stk_sink_printf(sink, STK_PARTIAL_MAGIC STK_PARTIAL_VERSION "\n%016" PRIx64 "\n%s\n",
                    stk_partial_layout(), version);
}

static void put_head(struct stk_sink *sink, const uint32_t numbers[HEAD_NUMBERS])
{
    unsigned char bytes[4 * HEAD_NUMBERS];
    for (int i = 0; i < HEAD_NUMBERS; i++) {
        put_number(bytes + 4 * i, numbers[i]);
    }
    stk_sink_put(sink, (const char *)bytes, sizeof bytes);
}

void stk_partial_put(struct stk_sink *sink, const struct stk_partial_packed *item)
{
    size_t n = strlen(item->path);
    put_head(sink, (const uint32_t[HEAD_NUMBERS]){item->size, checksum(item, n),
                                                  (uint32_t)item->rank_hint, (uint32_t)n,
                                                  item->whole_size, 0});
    stk_sink_put(sink, item->path, n);
    stk_sink_put(sink, (const char *)item->bytes, item->size);
}

void stk_partial_end(struct stk_sink *sink)
{
    put_head(sink, (const uint32_t[HEAD_NUMBERS]){0});
}

static int keep_bytes(void *arg, const char *bytes, size_t n)
{
    void *to = stk_vec_push_n(arg, n);
    if (to) {
        memcpy(to, bytes, n);
    }
    return to == NULL;
}

static bool pack(const struct stk_vec *whole, struct stk_vec *packed)
{
    struct stk_gzip_write *gzip = stk_gzip_write_open(STK_GZIP_FAST, keep_bytes, packed);
    bool ok = gzip && !stk_gzip_write_bytes(gzip, whole->items, whole->count) &&
              !stk_gzip_write_finish(gzip);
    stk_gzip_write_close(gzip);
    return ok;
}

enum stoker_status stk_partial_pack(const struct stk_partial_item *item, struct stk_arena *arena,
                                    struct stk_partial_packed *out, struct stoker_err *err)
{
    struct stk_vec whole, packed;
    stk_vec_init(&packed, 1, STK_PARTIAL_ITEM_MAX);
    bool ok = stk_partial_encode(item, &whole) && pack(&whole, &packed);
    uint8_t *bytes = ok ? stk_arena_alloc(arena, packed.count) : NULL;
    enum stoker_status status = STOKER_OK;
    if (!ok) {
        status = stk_err_set(
            err, STOKER_ELIMIT,
            "%s: its partial needs more than %zu MB, or has times of more than 104 days",
            item->path, STK_PARTIAL_ITEM_MAX >> 20);
    } else if (!bytes) {
        status = stk_err_nomem(err);
    } else {
        memcpy(bytes, packed.items, packed.count);
        *out = (struct stk_partial_packed){item->rank_hint, item->path, bytes,
                                           (uint32_t)packed.count, (uint32_t)whole.count};
    }
    stk_vec_deinit(&whole);
    stk_vec_deinit(&packed);
    return status;
}

static enum stoker_status damaged(const char *path, struct stoker_err *err)
{
    return stk_err_set(
        err, STOKER_EINPUT,
        "%s: the partial is damaged: stoker doesn't write such an item. Write it again", path);
}

// The member after a gzip header of ten bytes, as stk_gzip_write makes it.
static bool inflate(const struct stk_partial_packed *packed, uint8_t *whole)
{
    const size_t header = 10, trailer = 8;
    if (packed->size < header + trailer) {
        return false;
    }
    void *engine = STK_INFLATE_DEFAULT->open();
    struct stk_inflate_io io = {packed->bytes + header, packed->size - header - trailer, whole,
                                packed->whole_size};
    bool ok = engine && STK_INFLATE_DEFAULT->run(engine, &io) == STK_INFLATE_END && !io.out_len;
    STK_INFLATE_DEFAULT->close(engine);
    return ok;
}

enum stoker_status stk_partial_unpack(const struct stk_partial_packed *packed,
                                      struct stk_arena *arena, struct stk_partial_item *out,
                                      struct stoker_err *err)
{
    uint8_t *whole = stk_alloc((size_t)packed->whole_size + 1);
    if (!whole) {
        return stk_err_nomem(err);
    }
    bool ok = inflate(packed, whole) && stk_partial_decode(whole, packed->whole_size, arena, out);
    stk_free(whole);
    return ok ? STOKER_OK : damaged(packed->path, err);
}

// Reads n bytes. False: the file ends before, or can't be read (err).
static bool take(struct stk_partial_file *f, void *to, size_t n, struct stoker_err *err)
{
    size_t first = f->has_ahead && n > 0;
    if (first) {
        *(char *)to = f->ahead;
        f->has_ahead = false;
    }
    for (size_t at = first, got; at < n; at += got) {
        if (stk_stream_read(f->stream, (char *)to + at, n - at, &got, err) != STOKER_OK) {
            return false;
        }
        if (got == 0) {
            stk_err_set(
                err, STOKER_EINPUT,
                "%s: the partial is incomplete: it ends early or is damaged. Write it again",
                f->path);
            return false;
        }
    }
    return true;
}

static bool take_line(struct stk_partial_file *f, char line[LINE_MAX_BYTES], struct stoker_err *err)
{
    for (size_t n = 0; n < LINE_MAX_BYTES; n++) {
        if (!take(f, line + n, 1, err)) {
            return false;
        }
        if (line[n] == '\n') {
            line[n] = 0;
            return true;
        }
    }
    stk_err_set(err, STOKER_EINPUT, "%s: not a stoker partial: its header is too long", f->path);
    return false;
}

static enum stoker_status check_header(struct stk_partial_file *f, struct stoker_err *err)
{
    char magic[LINE_MAX_BYTES], layout[LINE_MAX_BYTES], writer[LINE_MAX_BYTES], own[32];
    if (!take_line(f, magic, err) || !take_line(f, layout, err) || !take_line(f, writer, err)) {
        return err->code;
    }
    snprintf(own, sizeof own, "%016" PRIx64, stk_partial_layout());
    for (char *p = writer; *p; p++) {
        *p = *p < ' ' || *p > '~' ? '?' : *p;
    }
    if (strcmp(magic, STK_PARTIAL_MAGIC STK_PARTIAL_VERSION) != 0 || strcmp(layout, own) != 0) {
        return stk_err_set(err, STOKER_EINPUT,
                           "%s: written by stoker %.60s, and this is stoker %s, which stores "
                           "partials in another layout. Use one stoker for all of them",
                           f->path, writer, f->version);
    }
    return STOKER_OK;
}

static bool is_partial(struct stk_stream *stream)
{
    const uint8_t *head;
    size_t n = stk_stream_peek(stream, &head), magic = sizeof STK_PARTIAL_MAGIC - 1;
    return n >= magic && memcmp(head, STK_PARTIAL_MAGIC, magic) == 0;
}

// Whether the stream can be opened again and then gives the same bytes.
static bool is_repeatable(struct stk_stream *stream)
{
    return strcmp(stk_stream_path(stream), "-") != 0 && stk_stream_size(stream) > 0;
}

enum stoker_status stk_partial_open(const char *path, const char *version,
                                    struct stk_partial_file **out, struct stk_stream **rest,
                                    struct stoker_err *err)
{
    const struct stk_stream_opts opts = {.is_bounded = 1, .input_bytes = INPUT_BYTES};
    struct stk_stream *stream = NULL;
    *out = NULL;
    *rest = NULL;
    enum stoker_status status = stk_stream_open(&stream, path, &opts, err);
    if (status == STOKER_EINPUT) {
        stk_err_init(err);
        return STOKER_OK; // not a partial: its own reader reports problems
    }
    if (status != STOKER_OK) {
        return status;
    }
    if (!is_partial(stream)) {
        if (is_repeatable(stream)) {
            stk_stream_close(stream);
        } else {
            *rest = stream;
        }
        return STOKER_OK;
    }
    struct stk_partial_file *f = stk_alloc_zero(1, sizeof *f);
    if (!f) {
        stk_stream_close(stream);
        return stk_err_nomem(err);
    }
    *f = (struct stk_partial_file){.stream = stream, .path = path, .version = version};
    status = check_header(f, err);
    if (status != STOKER_OK) {
        stk_partial_close(f);
        return status;
    }
    *out = f;
    return STOKER_OK;
}

static enum stoker_status take_item(struct stk_partial_file *f,
                                    const unsigned char head[4 * HEAD_NUMBERS],
                                    struct stk_arena *arena, struct stk_partial_packed *out,
                                    struct stoker_err *err)
{
    size_t path_size = get_number(head + 12);
    char *path = stk_arena_alloc(arena, path_size + 1);
    uint8_t *bytes = stk_arena_alloc(arena, out->size);
    if (!path || !bytes) {
        return stk_err_nomem(err);
    }
    if (!take(f, path, path_size, err) || !take(f, bytes, out->size, err)) {
        return err->code;
    }
    out->path = path;
    out->bytes = bytes;
    bool is_whole = checksum(out, path_size) == get_number(head + 4) && !memchr(path, 0, path_size);
    return is_whole ? STOKER_OK : damaged(f->path, err);
}

// The head of the next item, after the headers of joined files; or the end.
static enum stoker_status next_head(struct stk_partial_file *f,
                                    unsigned char head[4 * HEAD_NUMBERS], struct stoker_err *err)
{
    while (!f->ended) {
        if (!take(f, head, 4 * HEAD_NUMBERS, err)) {
            return err->code;
        }
        if (get_number(head) != 0) {
            return STOKER_OK;
        }
        size_t more;
        if (stk_stream_read(f->stream, &f->ahead, 1, &more, err) != STOKER_OK) {
            return err->code;
        }
        f->ended = more == 0;
        f->has_ahead = !f->ended;
        if (!f->ended && check_header(f, err) != STOKER_OK) {
            return err->code;
        }
    }
    return STOKER_OK;
}

enum stoker_status stk_partial_next(struct stk_partial_file *f, struct stk_arena *arena,
                                    struct stk_partial_packed *out, struct stoker_err *err)
{
    unsigned char head[4 * HEAD_NUMBERS];
    *out = (struct stk_partial_packed){0};
    enum stoker_status status = next_head(f, head, err);
    if (status != STOKER_OK || f->ended) {
        return status;
    }
    out->size = get_number(head);
    out->rank_hint = (int32_t)get_number(head + 8);
    out->whole_size = get_number(head + 16);
    if (out->size > STK_PARTIAL_ITEM_MAX || out->whole_size > STK_PARTIAL_ITEM_MAX ||
        f->items++ >= STK_PARTIAL_ITEMS_MAX) {
        return stk_err_set(err, STOKER_ELIMIT,
                           "%s: the partial is too large: at most %d profiles of %zu MB each",
                           f->path, STK_PARTIAL_ITEMS_MAX, STK_PARTIAL_ITEM_MAX >> 20);
    }
    if (out->whole_size > STK_STREAM_FREE_BYTES &&
        out->whole_size / STK_STREAM_RATIO_MAX > out->size) {
        return stk_err_set(
            err, STOKER_ELIMIT,
            "%s: the partial inflates to more than %d times its size, unlike any that "
            "stoker writes. Write it again",
            f->path, STK_STREAM_RATIO_MAX);
    }
    if (get_number(head + 12) > PATH_MAX_BYTES) {
        return damaged(f->path, err);
    }
    return take_item(f, head, arena, out, err);
}

void stk_partial_close(struct stk_partial_file *f)
{
    if (f) {
        stk_stream_close(f->stream);
        stk_free(f);
    }
}
