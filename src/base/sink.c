// SPDX-License-Identifier: Apache-2.0
// Buffered text output over a callback.
#include "base/sink.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"

void stk_sink_init(struct stk_sink *s, int (*write)(void *, const char *, size_t), void *arg)
{
    s->write = write;
    s->arg = arg;
    s->failed = false;
    s->refusals = stk_alloc_refusals();
    s->used = 0;
}

static void flush(struct stk_sink *s)
{
    STK_ASSERT(s->used <= sizeof s->buffer);
    if (s->used && !s->failed && s->write(s->arg, s->buffer, s->used) != 0) {
        s->failed = true;
    }
    s->used = 0;
}

void stk_sink_put(struct stk_sink *s, const char *bytes, size_t n)
{
    STK_ASSERT(s->used < sizeof s->buffer);
    while (n > 0 && !s->failed) {
        size_t capacity = sizeof s->buffer - s->used;
        size_t part = n < capacity ? n : capacity;
        memcpy(s->buffer + s->used, bytes, part);
        s->used += part;
        bytes += part;
        n -= part;
        if (s->used == sizeof s->buffer) {
            flush(s);
        }
    }
}

void stk_sink_text(struct stk_sink *s, const char *text)
{
    stk_sink_put(s, text, strlen(text));
}

void stk_sink_printf(struct stk_sink *s, const char *fmt, ...)
{
    char line[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = stk_text_vprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (n < 0) {
        s->failed = true;
    } else {
        stk_sink_put(s, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1);
    }
}

void stk_sink_i64(struct stk_sink *s, int64_t value)
{
    char text[STK_TEXT_NUMBER_MAX];
    stk_sink_put(s, text, stk_text_put_i64(text, value));
}

void stk_sink_share(struct stk_sink *s, double value)
{
    char text[STK_TEXT_NUMBER_MAX];
    if (isfinite(value) && fabs(value) >= 1e12) {
        stk_sink_real(s, value);
        return;
    }
    stk_sink_put(s, text, stk_text_put_share(text, isfinite(value) ? value : 0));
}

// Whole numbers get ".0", so that readers that guess types see a real.
void stk_sink_real(struct stk_sink *s, double value)
{
    STK_ASSERT(isfinite(value));
    char text[STK_TEXT_NUMBER_MAX];
    stk_sink_put(s, text, stk_text_put_real(text, value));
    if (!strpbrk(text, ".e")) {
        stk_sink_text(s, ".0");
    }
}

static void put_field(void *sink, const char *text, size_t n)
{
    stk_sink_put(sink, text, n);
}

void stk_sink_csv(struct stk_sink *sink, const char *text, bool is_guarded)
{
    stk_text_csv_field(stk_str_from(text), is_guarded, put_field, sink);
}

enum stoker_status stk_sink_finish(struct stk_sink *s, struct stoker_err *err)
{
    flush(s);
    if (s->refusals != stk_alloc_refusals()) { // also the reason if a callback in memory can't take
                                               // more
        return stk_err_nomem(err);
    }
    if (s->failed) {
        return stk_err_set(err, STOKER_EOUTPUT, "the output could not be written");
    }
    return STOKER_OK;
}
