// SPDX-License-Identifier: Apache-2.0
// Fixes are rows of changes; this parses them.
#include "sim_fix.h"

#include <string.h>

#include "base/near.h"
#include "base/text.h"
#include "sim_run.h"

#define X(id, value, changes) {id, value, changes},
const struct sim_fix sim_fixes[] = {
#include "sim_fixes.def"
};
#undef X
const int sim_fix_count = sizeof sim_fixes / sizeof sim_fixes[0];

const struct sim_fix *sim_fix_find(const char *text, const char **value, struct stoker_err *err)
{
    const char *near = NULL;
    size_t typed = strlen(text);
    for (int i = 0; i < sim_fix_count; i++) {
        const struct sim_fix *f = &sim_fixes[i];
        size_t n = strlen(f->id);
        bool takes_value = f->id[n - 1] == '=';
        *value = f->value;
        if (strcmp(f->id, text) == 0 ||
            (takes_value && typed == n - 1 && !strncmp(f->id, text, typed))) {
            return f;
        }
        if (takes_value && strncmp(f->id, text, n) == 0) {
            *value = text + n;
            return f;
        }
        near = stk_near_best(text, near, f->id);
    }
    stk_err_set(err, STOKER_EINVAL, "no fix '%s'%s%s%s", text, near ? "; did you mean '" : "",
                near ? near : "", near ? "'?" : "");
    return NULL;
}

// One change: "key op value".
static enum stoker_status change(const char *text, const char *value, struct sim_job *job,
                                 struct stoker_err *err)
{
    char key[64], op[3], operand[64], result[STK_TEXT_NUMBER_MAX];
    if (sscanf(text, " %63s %2s %63s", key, op, operand) != 3) {
        return stk_err_set(err, STOKER_EBUG, "fix: '%s'", text);
    }
    const char *to = strcmp(operand, "%") == 0 ? value : operand;
    if (op[0] == ':') {
        return sim_job_set(job, key, to, err);
    }
    double now = sim_job_number(job, key), by = stk_text_to_real(to, NULL);
    double changed = op[0] == '*' ? now * by : op[0] == '/' ? now / by : now > by ? now : by;
    if (!stk_text_put_real(result, changed)) {
        return stk_err_set(err, STOKER_EINVAL, "%s: %s isn't a factor", key, to);
    }
    return sim_job_set(job, key, result, err);
}

bool sim_fix_apply(const struct sim_fix *fix, const char *value, struct sim_job *job,
                   struct stoker_err *err)
{
    char text[256];
    snprintf(text, sizeof text, "%s", fix->changes);
    for (char *p = text, *next; *p; p = next) {
        next = p + strcspn(p, ";");
        next = *next ? (*next = '\0', next + 1) : next;
        if (change(p, value, job, err) != STOKER_OK) {
            return false;
        }
    }
    if (job->all_host && job->ranks > 1) {
        stk_err_set(err, STOKER_EINVAL, "%s: with only one rank", fix->id);
        return false;
    }
    return true;
}

int64_t sim_truth_ns(const struct sim_job *job)
{
    struct sim_job longer = *job;
    struct sim_result result;
    longer.steps = SIM_WARMUP + SIM_TRUTH_STEPS + 1;
    sim_run(&longer, SIM_UNPROFILED, NULL, NULL, &result);
    int64_t ns = result.step_ns;
    sim_result_free(&result);
    return ns;
}
