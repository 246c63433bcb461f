// SPDX-License-Identifier: Apache-2.0
// All fixes, and finding one by what the user typed. The rows come from fixes_data.h, sorted by id.
#include "fixes/fixes.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/assert.h"
#include "base/near.h"
#include "fixes_data.h"

const struct stk_rep_fix stk_fix_rows[] = {STK_FIX_ROWS};
const int stk_fix_row_count = sizeof stk_fix_rows / sizeof stk_fix_rows[0];

const struct stk_rep_fix *stk_fix_row_find(const char *id)
{
    int low = 0, high = stk_fix_row_count;
    while (low < high) {
        int at = low + (high - low) / 2, order = strcmp(id, stk_fix_rows[at].id);
        if (order == 0) {
            return &stk_fix_rows[at];
        }
        low = order > 0 ? at + 1 : low;
        high = order > 0 ? high : at;
    }
    return NULL;
}

static const struct {
    const char *name, *text;
} refusals[] = {
#define R(name, text) {#name, text},
#include "fixes/refusals.def"
#undef R
};

const char *stk_refusal_text(enum stk_refusal refusal)
{
    STK_ASSERT(refusal < STK_REFUSALS);
    return refusals[refusal].text;
}

const char *stk_refusal_of(const char *name)
{
    for (int i = 0; i < STK_REFUSALS; i++) {
        if (strcmp(refusals[i].name, name) == 0) {
            return refusals[i].text;
        }
    }
    return name;
}

static const char *link_of(const struct stk_rep_fix *row, enum stk_fix_link link)
{
    return link == STK_FIX_PRICE ? row->price : row->tries;
}

const char *stk_fix_row_link(const char *id, enum stk_fix_link link)
{
    const struct stk_rep_fix *row = stk_fix_row_find(id);
    return row ? link_of(row, link) : NULL;
}

const char *stk_fix_row_near(const char *id, const char *near)
{
    for (int i = 0; i < stk_fix_row_count; i++) {
        near = stk_near_best(id, near, stk_fix_rows[i].id);
    }
    return near;
}

enum stoker_status stk_fix_row_unknown(const char *id, const char *near, struct stoker_err *err)
{
    return near
               ? stk_err_set(err, STOKER_EUSAGE, "no fix '%.80s'; did you mean '%s'?", id, near)
               : stk_err_set(err, STOKER_EUSAGE,
                             "no fix '%.80s'; see 'stoker explain --fixes', 'stoker whatif PROFILE "
                             "--list' or docs/tune.md",
                             id);
}

// The fix for the same framework with the longest common prefix of the id, at least the rule; NULL:
// none has the link.
static const char *akin(const struct stk_rep_fix *own, enum stk_fix_link link)
{
    const char *id = own->id;
    size_t most = strcspn(id, ".");
    const char *best = NULL;
    for (int i = 0; i < stk_fix_row_count; i++) {
        size_t same = 0;
        while (id[same] && id[same] == stk_fix_rows[i].id[same]) {
            same++;
        }
        bool is_theirs =
            own->framework == STK_FW_ANY || own->framework == stk_fix_rows[i].framework;
        if (same > most && is_theirs && link_of(&stk_fix_rows[i], link)) {
            most = same;
            best = stk_fix_rows[i].id;
        }
    }
    return best;
}

enum stoker_status stk_fix_row_refuse(const char *id, enum stk_fix_link link, const char *near,
                                      struct stoker_err *err)
{
    const struct stk_rep_fix *own = stk_fix_row_find(id);
    if (!own) {
        return stk_fix_row_unknown(id, stk_fix_row_near(id, near), err);
    }
    const char *other = akin(own, link);
    return stk_err_set(
        err, STOKER_EUSAGE, "%s '%s'%s%s%s",
        link == STK_FIX_PRICE ? "no what-if estimates fix" : "stoker tune cannot try fix", id,
        other ? "; the nearest that has one is '" : "", other ? other : "", other ? "'" : "");
}
