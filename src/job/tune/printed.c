// SPDX-License-Identifier: Apache-2.0
// Reads the lines of a run's output; see printed.h.
#include "job/tune/printed.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/text.h"
#include "job/tune/job_facts.h"

enum { LOSSES = 100000 };

enum stoker_status stk_printed_open(struct stk_tune_printed *o, const char *pattern,
                                    struct stoker_err *err)
{
    char why[STK_REGEX_WHY];
    size_t at = 0;
    *o = (struct stk_tune_printed){0};
    stk_vec_init(&o->losses, sizeof(struct stk_tune_loss), LOSSES);
    if (!pattern) {
        return STOKER_OK;
    }
    o->regex = stk_regex_make(stk_str_from(pattern), NULL, &at, why);
    if (!o->regex && !at) {
        return stk_err_nomem(err);
    }
    if (!o->regex) {
        return stk_err_set(err, STOKER_EUSAGE, "--loss '%s', character %zu: %s", pattern, at, why);
    }
    o->part = stk_regex_parts(o->regex) ? 1 : 0;
    return STOKER_OK;
}

void stk_printed_close(struct stk_tune_printed *o)
{
    stk_regex_free(o->regex);
    stk_vec_deinit(&o->losses);
    *o = (struct stk_tune_printed){0};
}

// Takes the number that the pattern finds in a line, if any.
static enum stoker_status take_loss(struct stk_tune_printed *o, struct stoker_err *err)
{
    char why[STK_REGEX_WHY], text[64], *rest;
    size_t begin, end;
    int found = stk_regex_find(o->regex, (struct stk_str){o->line, o->n}, 0, NULL, NULL, why);
    if (found == -2) {
        return stk_err_nomem(err);
    }
    if (found != 1 || !stk_regex_part(o->regex, o->part, &begin, &end) ||
        end - begin >= sizeof text) {
        return STOKER_OK;
    }
    memcpy(text, o->line + begin, end - begin);
    text[end - begin] = 0;
    double value = stk_text_to_real(text, &rest);
    if (rest == text || *rest) {
        return stk_err_set(err, STOKER_EUSAGE,
                           "--loss: '%s' isn't a number; put parentheses around the number in the "
                           "pattern: 'loss ([-0-9.e]+)'",
                           text);
    }
    struct stk_tune_loss *loss = stk_vec_push(&o->losses);
    if (loss) {
        *loss = (struct stk_tune_loss){(int64_t)o->losses.count, value};
    }
    return STOKER_OK; // there are enough already
}

static enum stoker_status take_line(struct stk_tune_printed *o, struct stoker_err *err)
{
    STK_ASSERT(o->n < STK_PRINTED_LINE);
    enum stoker_status status = o->regex ? take_loss(o, err) : STOKER_OK;
    memcpy(o->last, o->line, o->n);
    o->last[o->n] = 0;
    o->n = 0;
    return status;
}

enum stoker_status stk_printed_feed(struct stk_tune_printed *o, const char *bytes, size_t n,
                                    struct stoker_err *err)
{
    STK_ASSERT(o->n < STK_PRINTED_LINE);
    enum stoker_status status = STOKER_OK;
    for (size_t i = 0; i < n && status == STOKER_OK; i++) {
        if (bytes[i] == '\n' || bytes[i] == '\r') { // progress bars overwrite their line
            status = o->n ? take_line(o, err) : STOKER_OK;
        } else if (o->n + 1 < STK_PRINTED_LINE) {
            o->line[o->n++] = bytes[i];
        }
    }
    return status;
}

void stk_printed_end(const struct stk_tune_printed *o, char *to, size_t size)
{
    const char *text = o->n ? o->line : o->last;
    size_t n = o->n ? o->n : strlen(o->last);
    snprintf(to, size, "%.*s", (int)n, text);
}

enum stoker_status stk_printed_losses(struct stk_tune_printed *o, struct stk_vec *to,
                                      struct stoker_err *err)
{
    enum stoker_status status = o->regex && o->n ? take_line(o, err) : STOKER_OK;
    if (status == STOKER_OK && o->regex) {
        struct stk_vec old = *to;
        *to = o->losses;
        o->losses = old;
    }
    return status;
}
