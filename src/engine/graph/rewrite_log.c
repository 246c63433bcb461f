// SPDX-License-Identifier: Apache-2.0
// Lines about rewrites; see rewrite_log.h.
#include "engine/graph/rewrite_log.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

#define NOTE_MAX 512
#define TEXT_MAX ((size_t)1 << 20)

bool stk_rewrite_append(struct stk_rewrite_log *log, const char *text)
{
    size_t n = text ? strlen(text) : 0;
    if (n == 0 || log->size + n > TEXT_MAX) {
        return true;
    }
    char *longer = stk_realloc_array(log->text, log->size + n + 1, 1);
    if (!longer) {
        return false;
    }
    memcpy(longer + log->size, text, n + 1);
    log->text = longer;
    log->size += n;
    return true;
}

bool stk_rewrite_note(struct stk_rewrite_log *log, const struct stk_rewrite_row *row,
                      const char *what, const char *where)
{
    char line[NOTE_MAX];
    snprintf(line, sizeof line, "%s: %.120s%s%.160s%s: %s\n", row->name, what, where ? " (" : "",
             where ? where : "", where ? ")" : "", row->reason);
    return stk_rewrite_append(log, line);
}

void stk_rewrite_log_end(struct stk_rewrite_log *log)
{
    stk_free(log->text);
    *log = (struct stk_rewrite_log){0};
}
