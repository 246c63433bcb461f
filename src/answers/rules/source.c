// SPDX-License-Identifier: Apache-2.0
// The user's own line behind a finding: the function that holds most of its time, else a Python
// frame among the names of its causes. Kineto writes
// "train.py(35): main", TensorFlow and JAX "$train.py:35 main"; a name may go on " in another
// name". Frames of installed packages and of Python itself are passed over: nobody changes them.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/str.h"
#include "profile/model/threads/python_frame.h"
#include "answers/rules/finding.h"

#define MAX_LINE 10000000
#define PART_OF_CAUSE 4 // a frame that has less than a quarter of it is not what it is about

static bool parse_frame(struct stk_str frame, struct stk_str *file, int64_t *line)
{
    struct stk_python_frame f = stk_python_frame_parse(frame);
    *file = f.file;
    *line = f.line;
    return f.line > 0 && f.line <= MAX_LINE && f.file.n > 3 && stk_python_frame_is_users(frame);
}

bool stk_rule_parse_source(const char *name, struct stk_str *file, int64_t *line)
{
    while (name && *name) {
        const char *in = strstr(name, " in ");
        struct stk_str frame = {name, in ? (size_t)(in - name) : strlen(name)};
        if (parse_frame(frame, file, line)) {
            return true;
        }
        name = in ? in + 4 : NULL;
    }
    return false;
}

static bool take(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, const char *name)
{
    struct stk_str file;
    int64_t line;
    if (!stk_rule_parse_source(name, &file, &line)) {
        return false;
    }
    f->source.file = stk_arena_strndup(ctx->pass.arena, file.p, file.n);
    f->source.line = line;
    f->has_source = f->source.file != NULL;
    return f->has_source;
}

void stk_finding_source(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, uint32_t parts)
{
    STK_ASSERT(parts >> STK_PART_COUNT == 0);
    int64_t best_ns = -1;
    for (int p = 0; p < STK_PART_COUNT; p++) {
        const struct stk_cause *c = &ctx->pass.run->causes[p];
        bool owners = stk_rule_owners_tell(c);
        const struct stk_cause_name *list = owners ? c->owners : c->names;
        int count = owners ? c->owner_count : c->name_count;
        for (int i = 0; i < count && (parts & (1u << p)); i++) {
            bool fills = owners || PART_OF_CAUSE * list[i].ns >= c->ns;
            int64_t ns = owners ? stk_owner_weight(list[i].ns, list[i].count) : list[i].ns;
            if (fills && ns > best_ns && take(ctx, f, list[i].name)) {
                best_ns = ns;
            }
        }
    }
}

const char *stk_rule_owner(const struct stk_rule_ctx *ctx, const char *name)
{
    struct stk_str file;
    int64_t line;
    if (!stk_rule_parse_source(name, &file, &line)) {
        return stk_rule_name(ctx, name);
    }
    struct stk_str function = stk_python_frame_parse(stk_str_from(name)).function;
    const char *slash = memrchr(file.p, '/', file.n); // the folder is in the finding's source
    const char *base = slash ? slash + 1 : file.p;
    return stk_rule_text(ctx, "%.*s (%.*s:%" PRId64 ")", (int)(function.n < 100 ? function.n : 100),
                         function.p, (int)(file.p + file.n - base), base, line);
}
