// SPDX-License-Identifier: Apache-2.0
// Compares two profiles for a proof; see mechanism.h.
#include "job/prove/mechanism.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/text.h"
#include "stoker/diff.h"
#include "stoker/whatif.h"

static void take(const struct stoker_diff *d, int64_t gained_ns, struct stk_mechanism *to)
{
    const char *cause = stoker_diff_cause(d);
    const char *moved = stoker_diff_moved(d, gained_ns >= 0 ? -1 : 1);
    int64_t a_ns = 0, b_ns = 0;
    if (!cause && !moved) {
        snprintf(to->why, sizeof to->why, "the profiles can't be compared; stoker diff says why");
        return;
    }
    // If B is slower, the cause is the part that grew.
    const char *part = gained_ns < 0 && moved ? moved : cause ? cause : moved;
    snprintf(to->part, sizeof to->part, "%s", part);
    stoker_diff_part(d, part, &to->a_ns, &to->b_ns);
    to->gone_ns = to->a_ns - to->b_ns;
    if (moved && stoker_diff_part(d, moved, &a_ns, &b_ns)) {
        snprintf(to->moved, sizeof to->moved, "%s", moved);
        to->moved_ns = a_ns - b_ns;
    }
    to->is_checked = true;
}

void stk_mechanism_check(const char *a, const char *b, int64_t gained_ns, struct stk_mechanism *to)
{
    struct stoker_diff *d = NULL;
    struct stoker_err err;
    to->expected_ns = gained_ns;
    stk_ledger_hash(a, to->profile);
    if (stoker_diff(&a, 1, &b, 1, NULL, &d, &err) == STOKER_OK) {
        take(d, gained_ns, to);
        stoker_diff_free(d);
    } else {
        snprintf(to->why, sizeof to->why, "%.390s", err.message);
    }
}

enum stoker_status stk_mechanism_predict(const char *a, const char *fix, struct stk_mechanism *to,
                                         struct stoker_err *err)
{
    struct stoker_whatif_options options;
    struct stoker_whatif *w = NULL;
    struct stoker_saving s;
    stk_ledger_hash(a, to->profile);
    stoker_whatif_options_default(&options);
    options.fixes = fix;
    enum stoker_status status = stoker_whatif(&a, 1, &options, &w, err);
    if (status == STOKER_EUSAGE) {
        return status;
    }
    if (status == STOKER_OK && stoker_whatif_saving(w, fix, &s)) {
        to->predicted = (struct stk_interval){true, 1 - s.high_share, 1 - s.expected_share,
                                              1 - s.low_share, true};
        if (to->predicted.low > to->predicted.high) {
            double low = to->predicted.high;
            to->predicted.high = to->predicted.low;
            to->predicted.low = low;
        }
    } else {
        snprintf(to->unpredicted, sizeof to->unpredicted, "%.390s",
                 status != STOKER_OK
                     ? err->message
                     : "A's profile doesn't allow an estimate of it (stoker whatif says why)");
    }
    stoker_whatif_free(w);
    return STOKER_OK;
}

bool stk_mechanism_explains(const struct stk_mechanism *m)
{
    double gone = (double)m->gone_ns, gained = (double)m->expected_ns;
    return m->is_checked && gone * gained > 0 && gone / gained >= STK_MECHANISM_ENOUGH;
}

void stk_mechanism_sentence(const struct stk_mechanism *m, char to[STK_MECHANISM_TEXT])
{
    char part[STK_HUMAN_MAX], step[STK_HUMAN_MAX], moved[STK_HUMAN_MAX];
    bool is_gain = m->expected_ns >= 0;
    stk_human_ns(llabs(m->gone_ns), part);
    stk_human_ns(llabs(m->expected_ns), step);
    stk_human_ns(llabs(m->moved_ns), moved);
    if (!m->is_checked) {
        snprintf(to, STK_MECHANISM_TEXT, "the profiles don't show whether the cause shrank: %s",
                 m->why);
    } else if (stk_mechanism_explains(m)) {
        snprintf(to, STK_MECHANISM_TEXT,
                 "%s %s by %s per step in one profile of each side; %s per step was %s", m->part,
                 is_gain ? "shrank" : "grew", part, step, is_gain ? "gained" : "lost");
    } else {
        snprintf(to, STK_MECHANISM_TEXT,
                 "A's largest loss, %s, %s by only %s per step, but %s was %s. "
                 "Something else changed it%s%s%s%s, or chance did",
                 m->part, m->gone_ns < 0 ? "grew" : "shrank", part, step,
                 is_gain ? "gained" : "lost", m->moved[0] ? " (" : "", m->moved,
                 m->moved[0] ? (is_gain ? " shrank by " : " grew by ") : "",
                 m->moved[0] ? strcat(moved, ")") : "");
    }
}

void stk_mechanism_prediction(const struct stk_mechanism *m, const char *fix, double measured,
                              char to[STK_MECHANISM_TEXT])
{
    const struct stk_interval *p = &m->predicted;
    if (!p->is_known) {
        snprintf(to, STK_MECHANISM_TEXT, "no prediction of %.60s: %s", fix, m->unpredicted);
        return;
    }
    const char *came = measured < p->low    ? "more was gained"
                       : measured > p->high ? "less was gained"
                                            : "the measured gain is within it";
    stk_text_printf(to, STK_MECHANISM_TEXT,
                    "stoker whatif --fix %.60s estimated %.0f%% saved [%.0f, %.0f]: %s", fix,
                    100 * (1 - p->estimate), 100 * (1 - p->high), 100 * (1 - p->low), came);
}
