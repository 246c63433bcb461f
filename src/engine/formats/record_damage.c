// SPDX-License-Identifier: Apache-2.0
// How the TFRecord reader handles damage: describes it and, with STK_RECORD_SKIP, finds the next
// good record. A length counts as right if its checksum matches and it fits the file, or if the
// data it spans have a good checksum (then only the length's checksum was damaged). Otherwise the
// next header is searched byte by byte. A false header matches by chance once in 2^32 places, and
// its length would have to fit, too.
#include <stdio.h>

#include "base/assert.h"
#include "engine/formats/record_impl.h"

#define BELIEVED_MAX ((uint64_t)1 << 40) // longest believed length if the file's size is unknown

static uint64_t offset_of(const struct stk_record_reader *r)
{
    return r->base + r->pos;
}

// Does the file have room for a record of this size at `pos` of the block?
static bool fits(const struct stk_record_reader *r, size_t pos, uint64_t size)
{
    uint64_t total = stk_stream_size(r->stream), at = r->base + pos;
    if (stk_stream_codec(r->stream) != STK_CODEC_PLAIN || total == 0) {
        return size <= BELIEVED_MAX;
    }
    return total >= at && total - at >= STK_RECORD_OVERHEAD &&
           size <= total - at - STK_RECORD_OVERHEAD;
}

static bool header_at(const struct stk_record_reader *r, size_t pos)
{
    STK_ASSERT(pos <= r->end && r->end - pos >= STK_RECORD_HEADER);
    const uint8_t *p = r->block->data + pos;
    uint64_t size = stk_record_le64(p);
    return size <= r->max_record && fits(r, pos, size) &&
           stk_crc32c_mask(r->crc(0, p, 8)) == stk_record_le32(p + 8);
}

// "it looks like ..." for a file that was opened with the wrong compression.
static const char *guess(const struct stk_record_reader *r)
{
    if (offset_of(r) != 0 || !r->block || r->end - r->pos < 2) {
        return "";
    }
    const uint8_t *p = r->block->data + r->pos;
    if (p[0] == 0x1f && p[1] == 0x8b) {
        return "; it looks like gzip: is its compression GZIP?";
    }
    if (p[0] == 0x78 && (p[0] << 8 | p[1]) % 31 == 0) {
        return "; it looks like zlib: is its compression ZLIB?";
    }
    return "; is it a TFRecord file?";
}

static void describe(const struct stk_record_reader *r, enum stk_record_why why,
                     struct stoker_err *err)
{
    char what[400];
    const char *broken = stk_stream_damage(r->stream);
    size_t have = r->end - r->pos;
    switch (why) {
    case STK_RECORD_BAD_LENGTH:
        snprintf(what, sizeof what, "its length doesn't match its checksum%s", guess(r));
        break;
    case STK_RECORD_TOO_LONG:
        snprintf(what, sizeof what, "it is %llu bytes long, more than the %llu allowed",
                 (unsigned long long)stk_record_le64(r->block->data + r->pos),
                 (unsigned long long)r->max_record);
        break;
    case STK_RECORD_BAD_DATA:
        snprintf(what, sizeof what, "its data doesn't match its checksum");
        break;
    case STK_RECORD_COMPRESSION:
        snprintf(what, sizeof what, "%s%s", broken ? broken : "",
                 offset_of(r) == 0 ? "; is the file compressed?" : "");
        break;
    default:
        snprintf(what, sizeof what, "the file ends %llu bytes into it%s%s",
                 (unsigned long long)have, broken ? "; " : "", broken ? broken : "");
        break;
    }
    stk_err_set_at(err, STOKER_EINPUT, (int64_t)offset_of(r), "%s, record %llu at byte %llu: %s",
                   stk_stream_path(r->stream), (unsigned long long)r->number,
                   (unsigned long long)offset_of(r), what);
}

static enum stoker_status pass(struct stk_record_reader *r, struct stoker_err *err)
{
    for (;;) {
        size_t have = r->end - r->pos, step = r->passing < have ? (size_t)r->passing : have;
        r->pos += step;
        r->passing -= step;
        if (r->ended && r->pos == r->end) {
            r->passing = 0;
        }
        if (r->passing == 0) {
            return STOKER_OK;
        }
        enum stoker_status status = stk_record_load(r, 1, err);
        if (status) {
            return status;
        }
    }
}

static enum stoker_status scan(struct stk_record_reader *r, struct stoker_err *err)
{
    for (;;) {
        for (; r->end - r->pos >= STK_RECORD_HEADER; r->pos++) {
            r->scanning = !header_at(r, r->pos);
            if (!r->scanning) {
                return STOKER_OK;
            }
        }
        if (r->ended) {
            r->pos = r->end;
            r->scanning = false;
            return STOKER_OK;
        }
        enum stoker_status status = stk_record_load(r, STK_RECORD_HEADER, err);
        if (status) {
            return status;
        }
    }
}

enum stoker_status stk_record_recover(struct stk_record_reader *r, struct stoker_err *err)
{
    uint64_t from = offset_of(r);
    enum stoker_status status = r->passing ? pass(r, err) : STOKER_OK;
    if (!status && r->scanning) {
        status = scan(r, err);
    }
    r->stats.lost_bytes += offset_of(r) - from;
    return status;
}

// After a bad length: is it right after all? *size: bytes to skip, or 0.
static enum stoker_status try_length(struct stk_record_reader *r, uint64_t *size,
                                     struct stoker_err *err)
{
    uint64_t claimed = stk_record_le64(r->block->data + r->pos);
    *size = 0;
    if (claimed > r->max_record || !fits(r, r->pos, claimed)) {
        return STOKER_OK;
    }
    size_t whole = (size_t)claimed + STK_RECORD_OVERHEAD;
    enum stoker_status status = stk_record_load(r, whole, err);
    if (status || r->end - r->pos < whole) {
        return status;
    }
    const uint8_t *data = r->block->data + r->pos + STK_RECORD_HEADER;
    if (stk_crc32c_mask(r->crc(0, data, claimed)) == stk_record_le32(data + claimed)) {
        *size = whole;
    }
    return STOKER_OK;
}

// Bytes to skip after this damage; 0: search.
static enum stoker_status bytes_to_pass(struct stk_record_reader *r, enum stk_record_why why,
                                        uint64_t *size, struct stoker_err *err)
{
    *size = 0;
    if (why == STK_RECORD_BAD_LENGTH) {
        return try_length(r, size, err);
    }
    if (why == STK_RECORD_TRUNCATED || why == STK_RECORD_COMPRESSION) {
        return STOKER_OK;
    }
    uint64_t claimed = stk_record_le64(r->block->data + r->pos);
    if (why == STK_RECORD_BAD_DATA || fits(r, r->pos, claimed)) {
        *size = claimed + STK_RECORD_OVERHEAD;
    }
    return STOKER_OK;
}

enum stoker_status stk_record_damaged(struct stk_record_reader *r, enum stk_record_why why,
                                      struct stoker_err *err)
{
    struct stoker_err what;
    stk_err_init(&what);
    describe(r, why, &what);
    if (r->policy == STK_RECORD_STOP) {
        r->failed = what;
        if (err) {
            *err = what;
        }
        return what.code;
    }
    uint64_t size;
    enum stoker_status status = bytes_to_pass(r, why, &size, err);
    if (status) {
        return status; // nothing has changed, so the caller can try again
    }
    r->passing = size;
    if (size == 0 && why != STK_RECORD_COMPRESSION) {
        r->passing = 1;
        r->scanning = true;
    }
    r->stream_damage_said |= why == STK_RECORD_COMPRESSION || why == STK_RECORD_TRUNCATED;
    r->stats.lost++;
    r->number++;
    if (!r->first_damage.code) {
        r->first_damage = what;
    }
    return stk_record_recover(r, err);
}
