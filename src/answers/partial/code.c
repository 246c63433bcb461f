// SPDX-License-Identifier: Apache-2.0
// Codes numbers, texts and lists (code.h): one function for varints also hashes a layout and checks
// a read value against its bound. Texts are numbered as they occur.
// Limits: 2^24 different texts and 1 GiB in one item.
#include "answers/partial/code.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/str.h"
#include "base/varint.h"

#define BYTES_MAX ((size_t)1 << 30)
#define TEXTS_MAX ((size_t)1 << 24)

void stk_code_init(struct stk_code *c, enum stk_code_mode mode, struct stk_arena *arena)
{
    STK_ASSERT(mode == STK_CODE_WRITE || arena);
    *c = (struct stk_code){.mode = mode, .arena = arena};
    stk_vec_init(&c->bytes, 1, BYTES_MAX);
    stk_vec_init(&c->texts, sizeof(const char *), TEXTS_MAX);
    stk_map_init(&c->text_ids, TEXTS_MAX);
}

void stk_code_deinit(struct stk_code *c)
{
    stk_vec_deinit(&c->bytes);
    stk_vec_deinit(&c->texts);
    stk_map_deinit(&c->text_ids);
}

static void put_bytes(struct stk_code *c, const void *p, size_t n)
{
    void *to = n ? stk_vec_push_n(&c->bytes, n) : NULL;
    if (to) {
        memcpy(to, p, n);
    }
    c->failed |= n && !to;
}

static void put(struct stk_code *c, uint64_t v)
{
    uint8_t bytes[STK_VARINT_MAX];
    put_bytes(c, bytes, (size_t)(stk_varint_put(bytes, v) - bytes));
}

static uint64_t get(struct stk_code *c)
{
    uint64_t v = 0;
    const uint8_t *next = c->failed ? NULL : stk_varint_get(c->at, c->end, &v);
    if (!next) {
        c->failed = true;
        return 0;
    }
    c->at = next;
    return v;
}

// A number of up to `most`. False: nothing was read.
static bool code(struct stk_code *c, const char *name, char type, uint64_t *v, uint64_t most)
{
    if (c->mode == STK_CODE_LAYOUT) {
        uint64_t parts[] = {c->layout, stk_hash_bytes(name, strlen(name)), (uint64_t)type, most};
        c->layout = stk_hash_bytes(parts, sizeof parts);
        return false;
    }
    if (c->mode == STK_CODE_WRITE) {
        STK_ASSERT(*v <= most);
        put(c, *v);
        return false;
    }
    *v = get(c);
    c->failed |= *v > most;
    *v = c->failed ? 0 : *v;
    return true;
}

#define UNSIGNED(name_, type, most)                                                                \
    void stk_code_##name_(struct stk_code *c, const char *name, type *v)                           \
    {                                                                                              \
        uint64_t wide = (uint64_t)*v;                                                              \
        if (code(c, name, 'u', &wide, most)) {                                                     \
            *v = (type)wide;                                                                       \
        }                                                                                          \
    }
UNSIGNED(bool, bool, 1)
UNSIGNED(u8, uint8_t, UINT8_MAX)
UNSIGNED(u16, uint16_t, UINT16_MAX)
UNSIGNED(u32, uint32_t, UINT32_MAX)
UNSIGNED(u64, uint64_t, UINT64_MAX)

static uint64_t zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static void code_signed(struct stk_code *c, const char *name, int64_t *v, uint64_t most)
{
    uint64_t wide = zigzag(*v);
    if (code(c, name, 'i', &wide, most)) {
        *v = (int64_t)(wide >> 1 ^ (0 - (wide & 1)));
    }
}

void stk_code_i32(struct stk_code *c, const char *name, int32_t *v)
{
    int64_t wide = *v;
    code_signed(c, name, &wide, UINT32_MAX);
    *v = (int32_t)wide;
}

// `none`: a number that is also valid, in addition to those up to `most`.
static void code_up_to(struct stk_code *c, const char *name, int64_t *v, int64_t most, int64_t none)
{
    code_signed(c, name, v, UINT64_MAX);
    bool is_fit = (*v >= -most && *v <= most) || *v == none || c->mode == STK_CODE_LAYOUT;
    c->failed |= !is_fit;
    *v = is_fit ? *v : 0;
}

void stk_code_i64(struct stk_code *c, const char *name, int64_t *v)
{
    code_up_to(c, name, v, STK_CODE_NUMBER_MOST, 0);
}

void stk_code_date(struct stk_code *c, const char *name, int64_t *v)
{
    code_up_to(c, name, v, STK_CODE_DATE_MOST, 0);
}

void stk_code_maybe(struct stk_code *c, const char *name, int64_t *v, int64_t none)
{
    code_up_to(c, name, v, STK_CODE_NUMBER_MOST, none);
}

void stk_code_below(struct stk_code *c, const char *name, uint32_t *v, uint32_t count)
{
    STK_ASSERT(count > 0);
    uint64_t wide = *v;
    if (code(c, name, 'e', &wide, count - 1)) {
        *v = (uint32_t)wide;
    }
}

void stk_code_int_below(struct stk_code *c, const char *name, int *v, int count)
{
    uint32_t wide = (uint32_t)*v;
    stk_code_below(c, name, &wide, (uint32_t)count);
    *v = (int)wide;
}

void stk_code_f64(struct stk_code *c, const char *name, double *v)
{
    uint64_t bits;
    memcpy(&bits, v, sizeof bits);
    bits = __builtin_bswap64(bits); // most doubles are short: their low bytes are 0
    if (code(c, name, 'd', &bits, UINT64_MAX)) {
        bits = __builtin_bswap64(bits);
        memcpy(v, &bits, sizeof bits);
        c->failed |= !isfinite(*v);
        *v = c->failed ? 0 : *v;
    }
}

static bool keep_text(struct stk_code *c, const char *text)
{
    const char **slot = stk_vec_push(&c->texts);
    if (slot) {
        *slot = text;
    }
    return slot != NULL;
}

// 0: NULL. Up to the number of earlier texts: one of these. Above: a new one, with its length and
// bytes.
static void put_text(struct stk_code *c, const char *text)
{
    if (!text) {
        put(c, 0);
        return;
    }
    size_t n = strlen(text);
    uint64_t salted[2] = {stk_hash_bytes(text, n), n};
    int created = 0;
    uint32_t *id =
        stk_map_put(&c->text_ids, salted[0], salted[1], (uint32_t)c->texts.count, &created);
    if (!id) {
        c->failed = true;
        return;
    }
    if (!created && strcmp(*(const char **)stk_vec_at(&c->texts, *id), text) == 0) {
        put(c, (uint64_t)*id + 1);
        return;
    }
    put(c, (uint64_t)c->texts.count + 1);
    put(c, n);
    put_bytes(c, text, n);
    c->failed |= !keep_text(c, text);
}

static const char *get_text(struct stk_code *c)
{
    uint64_t id = get(c);
    if (id == 0 || c->failed) {
        return NULL;
    }
    if (id <= c->texts.count) {
        return *(const char **)stk_vec_at(&c->texts, (size_t)id - 1);
    }
    uint64_t n = get(c);
    if (c->failed || id != c->texts.count + 1 || n > (uint64_t)(c->end - c->at) ||
        memchr(c->at, 0, (size_t)n)) {
        c->failed = true;
        return NULL;
    }
    const char *text = stk_arena_strndup(c->arena, (const char *)c->at, (size_t)n);
    c->at += n;
    c->failed |= !text || !keep_text(c, text);
    return text;
}

void stk_code_text(struct stk_code *c, const char *name, const char **v)
{
    if (c->mode == STK_CODE_READ) {
        *v = get_text(c);
    } else if (c->mode == STK_CODE_WRITE) {
        put_text(c, *v);
    } else {
        uint64_t none = 0;
        code(c, name, 't', &none, 0);
    }
}

// Of an item, when written: its members have a byte or more each, and eight bytes or less in
// memory.
static size_t least_bytes(size_t item_size)
{
    return item_size < sizeof(uint64_t) ? 1 : item_size / sizeof(uint64_t);
}

void *stk_code_list(struct stk_code *c, const char *name, void *items, uint32_t *count,
                    size_t item_size)
{
    uint64_t n = *count;
    if (c->mode == STK_CODE_LAYOUT) {
        code(c, name, 'l', &n, UINT32_MAX);
        *count = 1;
        return stk_arena_alloc(c->arena, item_size);
    }
    if (!code(c, name, 'l', &n, UINT32_MAX)) {
        return items;
    }
    c->failed |= n > 1 && n > (uint64_t)(c->end - c->at) / least_bytes(item_size);
    *count = c->failed ? 0 : (uint32_t)n;
    void *read = *count ? stk_arena_array(c->arena, *count, item_size) : NULL;
    if (*count && !read) {
        c->failed = true;
        *count = 0;
    }
    return read;
}

void *stk_code_one(struct stk_code *c, const char *name, void *one, size_t size)
{
    uint32_t count = one != NULL;
    void *coded = stk_code_list(c, name, one, &count, size);
    if (count > 1) {
        c->failed = true;
        return NULL;
    }
    return count ? coded : NULL;
}
