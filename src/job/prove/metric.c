// SPDX-License-Identifier: Apache-2.0
// Numbers in the output of a run; see metric.h.
#include "job/prove/metric.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/text.h"
#include "job/prove/paired.h"

#define WARMUP_PART 5 // a fifth of the numbers, unless set

enum stoker_status stk_metric_open(struct stk_metric *m, const char *pattern,
                                   struct stoker_err *err)
{
    char why[STK_REGEX_WHY];
    size_t at = 0;
    *m = (struct stk_metric){0};
    if (!pattern) {
        return STOKER_OK;
    }
    m->regex = stk_regex_make(stk_str_from(pattern), NULL, &at, why);
    if (!m->regex && !at) {
        return stk_err_nomem(err);
    }
    if (!m->regex) {
        return stk_err_set(err, STOKER_EUSAGE, "--metric '%s', character %zu: %s", pattern, at,
                           why);
    }
    m->part = stk_regex_parts(m->regex) ? 1 : 0;
    return STOKER_OK;
}

void stk_metric_close(struct stk_metric *m)
{
    stk_regex_free(m->regex);
    stk_free(m->numbers);
    *m = (struct stk_metric){0};
}

void stk_metric_begin(struct stk_metric *m)
{
    m->count = m->left_out = m->line_n = m->tail_n = 0;
}

static enum stoker_status add_number(struct stk_metric *m, double v, struct stoker_err *err)
{
    if (m->count == STK_METRIC_NUMBERS) {
        m->left_out++;
        return STOKER_OK;
    }
    if (m->count == m->room) {
        size_t room = m->room ? m->room * 2 : 256;
        double *numbers = stk_realloc_array(m->numbers, room, sizeof numbers[0]);
        if (!numbers) {
            return stk_err_nomem(err);
        }
        m->numbers = numbers;
        m->room = room;
    }
    m->numbers[m->count++] = v;
    return STOKER_OK;
}

// Keeps the last lines: without room, drops the older half.
static void keep_tail(struct stk_metric *m)
{
    STK_ASSERT(m->line_n <= STK_METRIC_LINE && m->tail_n < STK_METRIC_TAIL);
    size_t n = m->line_n < STK_METRIC_TAIL / 2 ? m->line_n : STK_METRIC_TAIL / 2 - 1;
    if (m->tail_n + n + 1 > STK_METRIC_TAIL) {
        size_t cut = STK_METRIC_TAIL / 2;
        const char *end = memchr(m->tail + cut - 1, '\n', m->tail_n - cut + 1);
        cut = end ? (size_t)(end - m->tail) + 1 : m->tail_n;
        memmove(m->tail, m->tail + cut, m->tail_n - cut);
        m->tail_n -= cut;
    }
    memcpy(m->tail + m->tail_n, m->line, n);
    m->tail[m->tail_n + n] = '\n';
    m->tail_n += n + 1;
}

static enum stoker_status take_number(struct stk_metric *m, size_t begin, size_t end,
                                      struct stoker_err *err)
{
    STK_ASSERT(begin <= end && end <= STK_METRIC_LINE);
    char text[64];
    size_t n = end - begin;
    if (n && n < sizeof text) {
        memcpy(text, m->line + begin, n);
        text[n] = 0;
        char *rest;
        double v = stk_text_to_real(text, &rest);
        if (*rest == 0 && v > 0 && v < 1e300) {
            return add_number(m, v, err);
        }
    }
    return stk_err_set(err, STOKER_EUSAGE,
                       "--metric: '%.*s' is not a number above 0. Put the number in parentheses in "
                       "the pattern: 'step ([0-9.]+) ms'",
                       n < 200 ? (int)n : 200, m->line + begin);
}

static enum stoker_status take_line(struct stk_metric *m, struct stoker_err *err)
{
    struct stk_str line = {m->line, m->line_n};
    char why[STK_REGEX_WHY];
    keep_tail(m);
    m->line_n = 0;
    for (size_t from = 0; m->regex && from <= line.n;) {
        size_t begin, end, whole_begin, whole_end;
        int found = stk_regex_find(m->regex, line, from, NULL, NULL, why);
        if (found == -2) {
            return stk_err_nomem(err);
        }
        if (found < 0) {
            return stk_err_set(err, STOKER_ELIMIT, "--metric: the search was stopped: %s", why);
        }
        if (found == 0) {
            break;
        }
        bool is_there = stk_regex_part(m->regex, 0, &whole_begin, &whole_end);
        if (stk_regex_part(m->regex, m->part, &begin, &end)) {
            enum stoker_status status = take_number(m, begin, end, err);
            if (status != STOKER_OK) {
                return status;
            }
        }
        from = is_there && whole_end > from ? whole_end : from + 1;
    }
    return STOKER_OK;
}

enum stoker_status stk_metric_feed(struct stk_metric *m, const char *bytes, size_t n,
                                   struct stoker_err *err)
{
    STK_ASSERT(m->line_n <= STK_METRIC_LINE);
    enum stoker_status status = STOKER_OK;
    for (size_t i = 0; i < n && status == STOKER_OK; i++) {
        if (bytes[i] == '\n' || bytes[i] == '\r') { // progress bars overwrite their line
            status = m->line_n ? take_line(m, err) : STOKER_OK;
        } else if (m->line_n < STK_METRIC_LINE) {
            m->line[m->line_n++] = bytes[i];
        }
    }
    return status;
}

enum stoker_status stk_metric_end(struct stk_metric *m, int64_t warmup, double *value,
                                  struct stoker_err *err)
{
    enum stoker_status status = m->line_n ? take_line(m, err) : STOKER_OK;
    if (status != STOKER_OK) {
        return status;
    }
    size_t skipped = warmup >= 0 ? (size_t)warmup : m->count / WARMUP_PART;
    if (m->count == 0) {
        return stk_err_set(err, STOKER_EINPUT, "--metric found no number in the command's output");
    }
    if (skipped >= m->count) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "--warmup %" PRId64 " skips everything: the command printed %zu numbers",
                           warmup, m->count);
    }
    *value = stk_paired_median(m->numbers + skipped, m->count - skipped);
    return STOKER_OK;
}
