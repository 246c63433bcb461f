// SPDX-License-Identifier: Apache-2.0
// Bytes that grow by doubling; see body.h.
#include "serve/body.h"

#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

int stk_body_write(void *arg, const char *bytes, size_t n)
{
    struct stk_body *b = arg;
    if (n > STK_BODY_MAX - b->n) {
        return 1;
    }
    if (b->n + n + 1 > b->capacity) {
        size_t capacity = b->capacity ? b->capacity : 4096;
        while (capacity < b->n + n + 1) {
            capacity *= 2;
        }
        char *p = stk_realloc_array(b->p, capacity, 1);
        if (!p) {
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
