// SPDX-License-Identifier: Apache-2.0
// A mark every MiB of output. At 256 marks, every other one is dropped and the distance doubled:
// memory stays below about 16 MiB, and reading a byte costs decoding half a distance on average (1
// MiB up to 256 MiB of output, 2 up to 512, and so on). Reads in ascending order continue where the
// last one ended; at least the last 256 KiB are kept, so small steps back are free.
#include "base/stream_seek.h"

#include <string.h>

#include "base/alloc.h"

#define DISTANCE_MIN ((uint64_t)1 << 20)
#define CHEAP_WITHIN ((uint64_t)128 << 10) // a member start this near is preferred to a saved state
#define WINDOW_STEP ((size_t)256 << 10)    // decoded at a time; as much is kept before it
#define INPUT_SIZE ((size_t)256 << 10)

void stk_seek_init(struct stk_seek *k)
{
    *k = (struct stk_seek){.distance = DISTANCE_MIN};
}

void stk_seek_deinit(struct stk_seek *k)
{
    for (size_t i = 0; i < k->mark_count; i++) {
        stk_decode_unmark(&k->marks[i]);
    }
    if (k->decoder.in) {
        stk_decoder_close(&k->decoder);
    }
    stk_free(k->window);
    stk_seek_init(k);
}

static uint64_t due_at(const struct stk_seek *k)
{
    return (k->mark_count ? k->marks[k->mark_count - 1].out_pos : 0) + k->distance;
}

uint64_t stk_seek_capacity(const struct stk_seek *k, const struct stk_decoder *d)
{
    uint64_t due = due_at(k);
    return due > d->out_pos ? due - d->out_pos : k->distance;
}

static void thin_out(struct stk_seek *k)
{
    size_t kept = 0;
    for (size_t i = 0; i < k->mark_count; i++) {
        if (i % 2 == 1) {
            k->marks[kept++] = k->marks[i];
        } else {
            stk_decode_unmark(&k->marks[i]);
        }
    }
    k->mark_count = kept;
    k->distance *= 2;
}

void stk_seek_note(struct stk_seek *k, const struct stk_decoder *d)
{
    uint64_t due = due_at(k);
    if (d->out_pos < due || d->ended) {
        return;
    }
    // Starts of members and frames cost nothing, so a near one will do; a far one is still better
    // than none.
    struct stk_decode_mark mark = d->start;
    bool usable = mark.out_pos >= due - k->distance / 2;
    if (!usable || d->out_pos - mark.out_pos > CHEAP_WITHIN) {
        struct stk_decode_mark here;
        if (stk_decoder_mark(d, &here) == 0) {
            mark = here;
        } else if (!usable) {
            return;
        }
    }
    if (k->mark_count == STK_SEEK_MARKS_MAX) {
        thin_out(k);
    }
    k->marks[k->mark_count++] = mark;
}

// The last mark at or before offset, or the start of the input.
static struct stk_decode_mark nearest(const struct stk_seek *k, uint64_t offset)
{
    size_t low = 0, high = k->mark_count;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (k->marks[mid].out_pos <= offset) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low ? k->marks[low - 1] : (struct stk_decode_mark){0};
}

static enum stoker_status open_cursor(struct stk_seek *k, struct stk_source *source,
                                      enum stk_stream_codec codec, struct stoker_err *err)
{
    if (!k->window && !(k->window = stk_alloc(2 * WINDOW_STEP))) {
        return stk_err_nomem(err);
    }
    if (k->decoder.in) {
        return STOKER_OK;
    }
    k->window_len = 0;
    k->window_pos = 0;
    return stk_decoder_open(&k->decoder, source, codec, INPUT_SIZE, NULL, 0, err);
}

// Moves the decoder to or before offset, if continuing from its position would be wrong or longer.
static enum stoker_status aim(struct stk_seek *k, uint64_t offset, struct stoker_err *err)
{
    struct stk_decode_mark mark = nearest(k, offset);
    if (offset >= k->window_pos && mark.out_pos <= k->decoder.out_pos) {
        return STOKER_OK;
    }
    k->window_len = 0;
    k->window_pos = mark.out_pos;
    enum stoker_status status = stk_decoder_resume(&k->decoder, &mark, err);
    if (status) {
        stk_decoder_close(&k->decoder); // the next read opens it again
    }
    return status;
}

// Decodes one more step, keeping the previous one.
static enum stoker_status advance(struct stk_seek *k, size_t *got, struct stoker_err *err)
{
    if (k->window_len > WINDOW_STEP) {
        size_t drop = k->window_len - WINDOW_STEP;
        memmove(k->window, k->window + drop, WINDOW_STEP);
        k->window_pos += drop;
        k->window_len = WINDOW_STEP;
    }
    enum stoker_status status =
        stk_decoder_read(&k->decoder, k->window + k->window_len, WINDOW_STEP, got, err);
    k->window_len += *got;
    return status;
}

enum stoker_status stk_seek_read(struct stk_seek *k, struct stk_source *source,
                                 enum stk_stream_codec codec, uint64_t offset, uint8_t *buf,
                                 size_t n, size_t *got, struct stoker_err *err)
{
    *got = 0;
    enum stoker_status status = open_cursor(k, source, codec, err);
    if (!status) {
        status = aim(k, offset, err);
    }
    while (!status && *got < n) {
        uint64_t at = offset + *got, end = k->window_pos + k->window_len;
        if (at < end) {
            size_t from = (size_t)(at - k->window_pos), have = k->window_len - from;
            size_t take = have < n - *got ? have : n - *got;
            memcpy(buf + *got, k->window + from, take);
            *got += take;
            continue;
        }
        size_t made;
        status = advance(k, &made, err);
        if (made == 0) {
            break;
        }
    }
    return status;
}
