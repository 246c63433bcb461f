// SPDX-License-Identifier: Apache-2.0
// Layouts of Examples: created when a second record of the same length arrives, as long as they pay
// off. If no two records are alike, this costs one comparison of lengths each.
#include "engine/formats/example_layout.h"

#include "base/assert.h"

#define CREDIT_FIRST 64
#define CREDIT_MAX 1024
#define LAYOUT_COST 8 // records that must fit for a layout to pay off

void stk_example_layouts_init(struct stk_example_layouts *l)
{
    l->credit = CREDIT_FIRST;
}

// Writes a step's value, whose type and length the walk has checked. False: an integer's bytes
// don't have that length.
static inline bool put(struct stk_example_column *c, size_t row, const uint8_t *p, size_t size)
{
    if (c->type == STK_EXAMPLE_FLOAT) {
        stk_example_copy_floats(c->floats + row * c->elements, p, size);
    } else if (c->type == STK_EXAMPLE_BYTES) {
        c->bytes[row] = (struct stk_example_bytes){p, size};
    } else {
        uint64_t value;
        struct stk_example_span s = {p, p + size};
        if (!stk_example_varint(&s, &value) || s.p != s.end) {
            return false;
        }
        c->int64s[row] = (int64_t)value;
    }
    return true;
}

bool stk_example_layouts_take(struct stk_example_layouts *all, const struct stk_example_batch *b,
                              const struct stk_record *record)
{
    const struct stk_example_layout *l = &all->items[record->size % STK_EXAMPLE_LAYOUTS];
    if (l->size != record->size || l->count == 0) {
        return false;
    }
    const uint8_t *p = record->data;
    const char *frame = l->frames;
    for (const struct stk_example_step *s = l->steps, *end = s + l->count; s < end; s++) {
        if (!stk_example_same(p, frame, s->frame)) {
            return false;
        }
        p += s->frame;
        frame += s->frame;
        if (s->feature != STK_EXAMPLE_UNKNOWN &&
            !put(&b->columns[s->feature], b->rows, p, s->size)) {
            return false;
        }
        p += s->size;
    }
    if (!stk_example_same(p, frame, l->tail)) {
        return false;
    }
    all->credit += all->credit < CREDIT_MAX;
    return true;
}

struct stk_example_layout *stk_example_layouts_begin(struct stk_example_layouts *all,
                                                     const struct stk_record *record)
{
    size_t k = record->size % STK_EXAMPLE_LAYOUTS;
    bool is_second = all->seen[k] == record->size;
    all->seen[k] = record->size;
    if (!is_second || record->size > UINT32_MAX || all->credit < LAYOUT_COST) {
        return NULL;
    }
    all->credit -= LAYOUT_COST;
    struct stk_example_layout *l = &all->items[k];
    l->count = l->frame_bytes = 0;
    l->at = record->data;
    return l;
}

static bool keep_frame(struct stk_example_layout *l, const uint8_t *end)
{
    STK_ASSERT(end >= l->at && l->frame_bytes <= sizeof l->frames);
    size_t n = (size_t)(end - l->at);
    if (n > sizeof l->frames - l->frame_bytes) {
        return false;
    }
    if (n) {
        memcpy(l->frames + l->frame_bytes, l->at, n);
    }
    l->frame_bytes += (uint32_t)n;
    return true;
}

bool stk_example_layout_note(struct stk_example_layout *l, uint32_t feature,
                             struct stk_example_span value)
{
    STK_ASSERT(l->count <= STK_EXAMPLE_LAYOUT_STEPS);
    if (l->count == STK_EXAMPLE_LAYOUT_STEPS || !keep_frame(l, value.p)) {
        l->count = 0;
        return false;
    }
    l->steps[l->count++] = (struct stk_example_step){(uint32_t)(value.p - l->at),
                                                     (uint32_t)(value.end - value.p), feature};
    l->at = value.end;
    return true;
}

void stk_example_layout_end(struct stk_example_layout *l, const struct stk_record *record)
{
    const uint8_t *end = record->data + record->size;
    l->tail = (uint32_t)(end - l->at);
    if (!keep_frame(l, end)) {
        l->count = 0;
    }
    l->size = record->size;
}
