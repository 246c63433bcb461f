// SPDX-License-Identifier: Apache-2.0
// stoker.data's own record names the stage that limited it (engine/run/recorder_limit.c), the kind
// of its work, and the line that wrote it. This file has the advice for each kind, in its own API.
#include <math.h>
#include <string.h>

#include "answers/rules/pipeline_limit.h"
#include "base/assert.h"
#include "evidence_says.h"
#include "base/text.h"
#include "fixes_data.h"
#include "wire/limits.h"

struct limit {
    struct stk_rep_evidence *(*say)(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                    const char *stage, double work_share, const char *place);
    struct stk_rep_fix fix;
};

static const struct limit limits[STK_WIRE_LIMIT_COUNT] = {
    [STK_WIRE_LIMIT_PYTHON] = {stk_say_limit_python, STK_FIX(stoker_data_native_map)},
    [STK_WIRE_LIMIT_GENERATOR] = {stk_say_limit_generator, STK_FIX(stoker_data_files)},
    [STK_WIRE_LIMIT_UNBUFFERED] = {stk_say_limit_unbuffered, STK_FIX(stoker_data_prefetch)},
    [STK_WIRE_LIMIT_DECODE] = {stk_say_limit_decode, STK_FIX(stoker_data_decode)},
    [STK_WIRE_LIMIT_DECODE_PARALLEL] = {stk_say_limit_decode_parallel,
                                        STK_FIX(stoker_data_decode_less)},
    [STK_WIRE_LIMIT_READ] = {stk_say_limit_read, STK_FIX(stoker_data_read)},
    [STK_WIRE_LIMIT_BATCH] = {stk_say_limit_batch, STK_FIX(stoker_data_batch)},
    [STK_WIRE_LIMIT_MAP] = {stk_say_limit_map, STK_FIX(stoker_data_map)},
    [STK_WIRE_LIMIT_MAP_PARALLEL] = {stk_say_limit_map_parallel, STK_FIX(stoker_data_cheaper_map)},
    [STK_WIRE_LIMIT_OTHER] = {stk_say_limit_other, STK_FIX(stoker_data_ahead)},
};

static const struct limit *find(const char *what)
{
    STK_ASSERT(what);
    return &limits[stk_wire_limit_find(what, strcspn(what, "|"))];
}

static const char *said_limit(const struct stk_rule_ctx *ctx)
{
    const struct stk_facts *f = &ctx->pass.run->facts;
    return f->input_limit ? f->input_limit : f->recorded_limit;
}

bool stk_pipeline_limit_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    const char *what = said_limit(ctx);
    const char *where = what ? strchr(what, '|') : NULL,
               *stage = where ? strchr(++where, '|') : NULL;
    const char *share = stage ? strchr(++stage, '|') : NULL;
    if (!share) {
        return false;
    }
    const char *place = stk_rule_text(ctx, "%.*s", (int)(stage - 1 - where), where);
    const char *name = stk_rule_text(ctx, "%.*s", (int)(share - stage), stage);
    double work = fmin(fmax(stk_text_to_real(share + 1, NULL) / 100, 0), 1);
    find(what)->say(ctx, f, name, work, place[0] ? place : NULL);
    return true;
}

void stk_pipeline_limit_fix(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    if (said_limit(ctx)) {
        stk_finding_fix(ctx, f, &find(said_limit(ctx))->fix);
    }
}
