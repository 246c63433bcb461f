// SPDX-License-Identifier: Apache-2.0
// Bytes in memory that grows by doubling; see body.h.
#include "serve/body.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

int stk_body_write(void *arg, const char *bytes, size_t n)
{
    struct stk_body *b = arg;
    b->is_full |= n > STK_BODY_MAX - b->n;
    b->lacks |= b->is_full;
    if (b->lacks) {
        return 1;
    }
    if (b->n + n + 1 > b->capacity) {
        size_t capacity = b->capacity ? b->capacity : 4096;
        while (capacity < b->n + n + 1) {
            capacity *= 2;
        }
        char *p = stk_realloc_array(b->p, capacity, 1);
        if (!p) {
            b->lacks = true;
            return 1;
        }
        b->p = p;
        b->capacity = capacity;
    }
    memcpy(b->p + b->n, bytes, n);
    b->n += n;
    b->p[b->n] = 0;
    return 0;
}

int stk_body_text(struct stk_body *b, const char *text)
{
    return stk_body_write(b, text, strlen(text));
}

enum stoker_status stk_body_end(const struct stk_body *b, enum stoker_status status,
                                struct stoker_err *err)
{
    if (b->is_full) {
        return stk_err_set(err, STOKER_ELIMIT, "the answer is larger than %" PRIu64 " MB",
                           STK_BODY_MAX >> 20);
    }
    return b->lacks ? stk_err_nomem(err) : status;
}

void stk_body_adopt(struct stk_body *b, char *p, size_t n)
{
    STK_ASSERT(!b->p);
    *b = (struct stk_body){.p = p, .n = n, .capacity = n};
}

void stk_body_free(struct stk_body *b)
{
    stk_free(b->p);
    *b = (struct stk_body){.p = NULL};
}
