// SPDX-License-Identifier: Apache-2.0
// Annotations of one event, fetched from the file again. The trace is read up to the event's packet
// to resolve the texts that it refers to by number; that covers all earlier events, too. For an
// event before the last restart of a sequence, reading begins at the start. Events in a compressed
// packet have no annotations.
#include "base/alloc.h"
#include "profile/readers/perfetto/perfetto_run.h"
#include "profile/readers/trace_event/chrome_json.h"

#define BITE ((size_t)256 << 10)
#define PACKET_MAX ((uint64_t)64 << 20)
#define HEAD_MAX 24 // bytes of a packet's tag and length, and more

struct pf_args {
    struct stk_pf in;
    struct stk_stream *stream;
    uint64_t scanned, last_cleared;
    uint8_t *p; // bytes of the file from `start` on
    size_t n, size;
    uint64_t start;
};

// At least n bytes at pos, or as many as exist; *got: how many. NULL: err is set.
static const uint8_t *bytes_at(struct pf_args *a, uint64_t pos, size_t n, size_t *got,
                               struct stoker_err *err)
{
    if (pos < a->start || pos + n > a->start + a->n) {
        size_t want = n > BITE ? n : BITE;
        if (want > a->size) {
            uint8_t *grown = stk_realloc_array(a->p, want + STK_PF_PAD, 1);
            if (!grown) {
                (void)stk_err_nomem(err);
                return NULL;
            }
            a->p = grown;
            a->size = want;
        }
        a->start = pos;
        a->n = 0;
        if (stk_stream_read_at(a->stream, pos, a->p, want, &a->n, err) != STOKER_OK) {
            return NULL;
        }
        memset(a->p + a->n, 0, STK_PF_PAD);
    }
    *got = (size_t)(a->start + a->n - pos);
    return a->p + (pos - a->start);
}

// The packet at pos: *size bytes in all, its payload at *p; *n SIZE_MAX: no packet.
static enum stoker_status packet_at(struct pf_args *a, uint64_t pos, const uint8_t **p, size_t *n,
                                    uint64_t *size, struct stoker_err *err)
{
    size_t got;
    *n = SIZE_MAX;
    *p = bytes_at(a, pos, HEAD_MAX, &got, err);
    if (!*p) {
        return err->code;
    }
    struct stk_pb_cursor c = {*p, *p + got};
    uint64_t tag, length;
    if (stk_pb_varint(&c, &tag) != STK_PB_FIELD || tag != (1 << 3 | STK_PB_LEN) ||
        stk_pb_varint(&c, &length) != STK_PB_FIELD) {
        return STOKER_OK;
    }
    size_t head = (size_t)(c.p - *p);
    *size = head + length;
    if (length > PACKET_MAX) {
        *n = 0;
        return STOKER_OK;
    }
    *p = bytes_at(a, pos, head + (size_t)length, &got, err);
    if (!*p) {
        return err->code;
    }
    *p += head;
    *n = got >= head + length ? (size_t)length : SIZE_MAX;
    return STOKER_OK;
}

static enum stoker_status scan_to(struct pf_args *a, uint64_t pos, struct stoker_err *err)
{
    enum stoker_status status = STOKER_OK;
    if (pos < a->last_cleared) {
        stk_pf_deinit(&a->in);
        a->scanned = a->last_cleared = 0;
        if (!stk_pf_init(&a->in, NULL, NULL)) {
            return stk_err_nomem(err);
        }
    }
    while (status == STOKER_OK && a->scanned <= pos && !a->in.failed) {
        const uint8_t *p;
        size_t n;
        uint64_t size = 0;
        status = packet_at(a, a->scanned, &p, &n, &size, err);
        if (status != STOKER_OK || n == SIZE_MAX) {
            break;
        }
        if (stk_pf_scan(&a->in, p, n)) {
            a->last_cleared = a->scanned;
        }
        a->scanned += size;
    }
    return a->in.failed ? stk_err_nomem(err) : status;
}

enum stoker_status stk_pf_args_next(void *state, const struct stk_trace *t, uint32_t event,
                                    stk_emit_fn *emit, void *arg, struct stoker_err *err)
{
    struct pf_args *a = state;
    const uint8_t *p;
    size_t n;
    uint64_t size;
    struct stk_str json = {"", 0};
    if (event >= t->count) {
        return stk_err_set(err, STOKER_EINVAL, "event %u does not exist", event);
    }
    enum stoker_status status = scan_to(a, stk_pos(t, event), err);
    if (status == STOKER_OK) {
        status = packet_at(a, stk_pos(t, event), &p, &n, &size, err);
    }
    if (status != STOKER_OK) {
        return status;
    }
    if (n == SIZE_MAX) {
        return stk_err_set_at(err, STOKER_EINPUT, (int64_t)stk_pos(t, event),
                              "no event at this position");
    }
    if (stk_pf_packet_args(&a->in, p, n, &json) && json.n &&
        !stk_chrome_flatten(json.p, json.n, STK_STR(""), emit, arg)) {
        return stk_err_nomem(err);
    }
    return a->in.failed ? stk_err_nomem(err) : STOKER_OK;
}

enum stoker_status stk_pf_args_open(struct stk_stream *stream, const char *path, void **state,
                                    struct stoker_err *err)
{
    (void)path;
    struct pf_args *a = stk_alloc_zero(1, sizeof *a);
    *state = NULL;
    if (!a || !stk_pf_init(&a->in, NULL, NULL)) {
        stk_pf_args_close(a);
        return stk_err_nomem(err);
    }
    a->stream = stream;
    *state = a;
    return STOKER_OK;
}

void stk_pf_args_close(void *state)
{
    struct pf_args *a = state;
    if (a) {
        stk_pf_deinit(&a->in);
        stk_free(a->p);
        stk_free(a);
    }
}
