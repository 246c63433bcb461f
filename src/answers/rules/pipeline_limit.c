// SPDX-License-Identifier: Apache-2.0
// stoker.data's report of itself names the stage that limited it (engine/run/recorder_limit.c),
// what sort of work that is, and the line that wrote it. Here is what to do about each sort, in its
// own API.
#include <string.h>

#include "answers/rules/pipeline_limit.h"
#include "fixes_data.h"
#include "wire/limits.h"

struct limit {
    const char *says; // behind "the stage NAME holds 93 % of the pipeline's work: "
    struct stk_rep_fix fix;
};

static const struct limit limits[STK_WIRE_LIMIT_COUNT] = {
    [STK_WIRE_LIMIT_PYTHON] =
        {"a Python function, one element at a time under the interpreter's lock",
         STK_FIX(stoker_data_native_map)},
    [STK_WIRE_LIMIT_GENERATOR] =
        {"a Python generator, one element at a time under the interpreter's lock",
         STK_FIX(stoker_data_files)},
    [STK_WIRE_LIMIT_UNBUFFERED] =
        {"it could overlap the step, but nothing is made ahead of that (no prefetch)",
         STK_FIX(stoker_data_prefetch)},
    [STK_WIRE_LIMIT_DECODE] = {"decoding images on one thread", STK_FIX(stoker_data_decode)},
    [STK_WIRE_LIMIT_DECODE_PARALLEL] = {"decoding images, which has threads already",
                                        STK_FIX(stoker_data_decode_less)},
    [STK_WIRE_LIMIT_READ] = {"reading files", STK_FIX(stoker_data_read)},
    [STK_WIRE_LIMIT_BATCH] = {"copying elements into batches", STK_FIX(stoker_data_batch)},
    [STK_WIRE_LIMIT_MAP] = {"a native map on one thread", STK_FIX(stoker_data_map)},
    [STK_WIRE_LIMIT_MAP_PARALLEL] = {"a native map that has threads already",
                                     STK_FIX(stoker_data_cheaper_map)},
    [STK_WIRE_LIMIT_OTHER] = {"work of its own", STK_FIX(stoker_data_ahead)},
};

static const struct limit *find(const char *what)
{
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
    int place = (int)(stage - 1 - where), name = (int)(share - stage);
    stk_finding_say(ctx, f, "the stage %.*s holds %s %% of the pipeline's work: %s%s%.*s", name,
                    stage, share + 1, find(what)->says, place ? ", " : "", place, where);
    return true;
}

void stk_pipeline_limit_fix(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f)
{
    if (said_limit(ctx)) {
        stk_finding_fix(ctx, f, &find(said_limit(ctx))->fix);
    }
}
