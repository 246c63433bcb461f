// SPDX-License-Identifier: Apache-2.0
// Translates the command line to the library's options.
#include "cli/reading.h"

#include "base/assert.h"

#define TEXT_ROWS 20

void stk_reading_options(const struct stk_args *args, bool text, struct stoker_why_options *o)
{
    STK_ASSERT(args && o);
    const struct stk_opt_value *v = args->values;
    stoker_why_options_default(o);
    if (text) {
        o->limit = TEXT_ROWS;
    }
    if (v[STK_OPT_ID_LIMIT].set) {
        o->limit = (uint64_t)v[STK_OPT_ID_LIMIT].number;
    }
    o->threads = v[STK_OPT_ID_THREADS].number > 64 ? 64 : (int)v[STK_OPT_ID_THREADS].number;
    o->redact = v[STK_OPT_ID_REDACT].set;
    o->as_ranks = v[STK_OPT_ID_AS_RANKS].set;
    o->stdin_name = v[STK_OPT_ID_STDIN_NAME].text;
    o->has_steps = v[STK_OPT_ID_STEPS].set;
    o->step_first = v[STK_OPT_ID_STEPS].number;
    o->step_last = v[STK_OPT_ID_STEPS].second;
    o->has_rank = v[STK_OPT_ID_RANK].set;
    o->rank = v[STK_OPT_ID_RANK].number;
    o->has_device = v[STK_OPT_ID_DEVICE].set;
    o->device = v[STK_OPT_ID_DEVICE].number;
    o->has_from = v[STK_OPT_ID_FROM].set;
    o->from_ns = v[STK_OPT_ID_FROM].number;
    o->has_to = v[STK_OPT_ID_TO].set;
    o->to_ns = v[STK_OPT_ID_TO].number;
}
