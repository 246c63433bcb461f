// SPDX-License-Identifier: Apache-2.0
// Compiled specifications: own copies of names and defaults, and a hash table for each level.
#include "base/alloc.h"
#include "base/assert.h"
#include "engine/formats/example_impl.h"

#define ELEMENTS_MAX ((size_t)1 << 32) // in a row

size_t stk_example_value_size(enum stk_example_type type)
{
    return type == STK_EXAMPLE_FLOAT   ? sizeof(float)
           : type == STK_EXAMPLE_INT64 ? sizeof(int64_t)
                                       : sizeof(struct stk_example_bytes);
}

// FNV-1a, eight bytes at a time and mixed at the end. Names are short and not chosen by the
// records' writer, who can at worst make a look-up compare a name that doesn't match.
static uint32_t hash(const uint8_t *p, size_t n)
{
    uint64_t h = 0xcbf29ce484222325u ^ n, w;
    for (; n >= 8; p += 8, n -= 8) {
        memcpy(&w, p, 8);
        h = (h ^ w) * 0x100000001b3u;
        h ^= h >> 29;
    }
    for (w = 0; n > 0; n--) {
        w = w << 8 | p[n - 1];
    }
    h = (h ^ w) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32);
}

uint32_t stk_example_find(const struct stk_example_table *t, const uint8_t *name, size_t size)
{
    if (t->count == 0) {
        return STK_EXAMPLE_UNKNOWN;
    }
    for (uint32_t i = hash(name, size) & t->mask; t->slots[i].text; i = (i + 1) & t->mask) {
        if (t->slots[i].size == size && memcmp(t->slots[i].text, name, size) == 0) {
            return t->slots[i].feature;
        }
    }
    return STK_EXAMPLE_UNKNOWN;
}

static int make_table(struct stk_example_table *t, size_t count)
{
    STK_ASSERT(count <= STK_EXAMPLE_FEATURES_MAX);
    uint32_t size = 4;
    while (size < 4 * count) {
        size *= 2;
    }
    t->slots = stk_alloc_zero(size, sizeof *t->slots);
    t->mask = size - 1;
    return t->slots ? 0 : -1;
}

static void add_name(struct stk_example_table *t, const char *name, uint32_t feature)
{
    STK_ASSERT(t->count < t->mask);
    size_t size = strlen(name);
    uint32_t i = hash((const uint8_t *)name, size) & t->mask;
    while (t->slots[i].text) {
        i = (i + 1) & t->mask;
    }
    t->slots[i] = (struct stk_example_name){name, size, feature};
    t->count++;
}

static enum stoker_status check(const struct stk_example_feature *f, struct stoker_err *err)
{
    if (!f->name) {
        return stk_err_set(err, STOKER_EINVAL, "a feature has no name");
    }
    if (f->type < STK_EXAMPLE_BYTES || f->type > STK_EXAMPLE_INT64) {
        return stk_err_set(err, STOKER_EINVAL,
                           "feature %.200s: type %d is not bytes, float or int64", f->name,
                           (int)f->type);
    }
    if (f->kind == STK_EXAMPLE_FIXED && f->elements > ELEMENTS_MAX) {
        return stk_err_set(err, STOKER_EINVAL, "feature %.200s: a row of %zu values is too long",
                           f->name, f->elements);
    }
    bool may_default = f->kind == STK_EXAMPLE_FIXED && !f->is_list;
    if (f->defaults &&
        (!may_default || (f->default_count != 1 && f->default_count != f->elements))) {
        return stk_err_set(err, STOKER_EINVAL,
                           "feature %.200s: %zu default values for a row of %zu. Give one, or one "
                           "for each, and only for fixed lengths",
                           f->name, f->default_count, f->elements);
    }
    return STOKER_OK;
}

static int copy_defaults(struct stk_example_feature *to, const struct stk_example_feature *from)
{
    size_t size = stk_example_value_size(from->type), n = from->default_count;
    if (!from->defaults || n == 0) { // no values, for rows without elements
        static const int64_t nothing;
        to->defaults = from->defaults ? &nothing : NULL;
        return 0;
    }
    size_t bytes = 0;
    const struct stk_example_bytes *texts = from->defaults;
    for (size_t i = 0; i < n && from->type == STK_EXAMPLE_BYTES; i++) {
        bytes += texts[i].size;
    }
    uint8_t *block = stk_alloc(n * size + bytes);
    to->defaults = block;
    if (!block) {
        return -1;
    }
    memcpy(block, from->defaults, n * size);
    struct stk_example_bytes *own = (struct stk_example_bytes *)block;
    uint8_t *at = block + n * size;
    for (size_t i = 0; i < n && from->type == STK_EXAMPLE_BYTES; i++) {
        if (texts[i].size) {
            memcpy(at, texts[i].data, texts[i].size);
        }
        own[i].data = at;
        at += texts[i].size;
    }
    return 0;
}

static int copy_feature(struct stk_example_feature *to, const struct stk_example_feature *from)
{
    size_t size = strlen(from->name) + 1;
    char *name = stk_alloc(size);
    *to = *from;
    to->defaults = NULL;
    to->name = name;
    if (!name) {
        return -1;
    }
    memcpy(name, from->name, size);
    return copy_defaults(to, from);
}

static enum stoker_status add_feature(struct stk_example_spec *s,
                                      const struct stk_example_feature *f, struct stoker_err *err)
{
    enum stoker_status status = check(f, err);
    if (status) {
        return status;
    }
    struct stk_example_table *t = f->is_list ? &s->list_names : &s->plain_names;
    if (stk_example_find(t, (const uint8_t *)f->name, strlen(f->name)) != STK_EXAMPLE_UNKNOWN) {
        return stk_err_set(err, STOKER_EINVAL, "feature %.200s is given twice", f->name);
    }
    uint32_t index = (uint32_t)s->count++;
    struct stk_example_feature *own = &s->features[index];
    if (copy_feature(own, f)) {
        return stk_err_nomem(err);
    }
    add_name(t, own->name, index);
    if (f->is_list) {
        s->lists[s->list_count++] = index;
    } else {
        s->plain[s->plain_count++] = index;
    }
    return STOKER_OK;
}

enum stoker_status stk_example_compile(struct stk_example_spec **out,
                                       const struct stk_example_feature *features, size_t count,
                                       struct stoker_err *err)
{
    *out = NULL;
    if (count > STK_EXAMPLE_FEATURES_MAX) {
        return stk_err_set(err, STOKER_EINVAL, "%zu features are more than %d", count,
                           STK_EXAMPLE_FEATURES_MAX);
    }
    struct stk_example_spec *s = stk_alloc_zero(1, sizeof *s);
    if (!s) {
        return stk_err_nomem(err);
    }
    s->features = stk_alloc_zero(count + 1, sizeof *s->features);
    s->plain = stk_alloc_zero(count + 1, sizeof *s->plain);
    s->lists = stk_alloc_zero(count + 1, sizeof *s->lists);
    enum stoker_status status = STOKER_OK;
    if (!s->features || !s->plain || !s->lists || make_table(&s->plain_names, count) ||
        make_table(&s->list_names, count)) {
        status = stk_err_nomem(err);
    }
    for (size_t i = 0; i < count && !status; i++) {
        status = add_feature(s, &features[i], err);
    }
    if (status) {
        stk_example_spec_free(s);
    } else {
        *out = s;
    }
    return status;
}

void stk_example_spec_free(struct stk_example_spec *s)
{
    if (!s) {
        return;
    }
    for (size_t i = 0; i < s->count; i++) {
        struct stk_example_feature *f = &s->features[i];
        stk_free((void *)f->name);
        if (f->default_count > 0) {
            stk_free((void *)f->defaults);
        }
    }
    stk_free(s->features);
    stk_free(s->plain);
    stk_free(s->lists);
    stk_free(s->plain_names.slots);
    stk_free(s->list_names.slots);
    stk_free(s);
}
