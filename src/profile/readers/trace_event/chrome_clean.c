// SPDX-License-Identifier: Apache-2.0
// Strings of a profile as the store takes them: unescaped, valid UTF-8, without NUL.
#include "base/alloc.h"
#include "profile/readers/trace_event/chrome_json.h"
#include "profile/readers/trace_event/chrome_stage.h"

static bool needs_unescaping(struct stk_str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\' || (unsigned char)s.p[i] >= 0x80 || s.p[i] == 0) {
            return true;
        }
    }
    return false;
}

struct stk_str stk_chrome_stage_clean(struct stk_chrome_stager *s, struct stk_str raw)
{
    if (!needs_unescaping(raw)) {
        return raw;
    }
    if (s->scratch_size < raw.n * 3) {
        char *grown = stk_realloc_array(s->scratch, raw.n, 3);
        if (!grown) {
            s->failed = true;
            return STK_STR("");
        }
        s->scratch = grown;
        s->scratch_size = raw.n * 3;
    }
    return (struct stk_str){s->scratch, stk_chrome_unescape(raw.p, raw.n, s->scratch)};
}
