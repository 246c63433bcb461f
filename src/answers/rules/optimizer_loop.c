// SPDX-License-Identifier: Apache-2.0
// A PyTorch optimizer that updates its parameters one by one. torch's record
// "Optimizer.step#SGD.step" or its function "_single_tensor_sgd" names it (optimizer_name.h).
#include <string.h>

#include "fixes_data.h"
#include "answers/rules/first_price.h"
#include "answers/rules/optimizer_loop.h"
#include "profile/model/steps/optimizer_name.h"

#define LEAST_SAVED 0.02 // of the step

static const char *const records[] = {"Optimizer.step", "Optimizer.zero_grad", "_single_tensor_",
                                      NULL};

// The optimizer's name, from the part's first cause that has it; empty: none.
static struct stk_str name_of(const struct stk_rule_ctx *ctx, enum stk_part part)
{
    const struct stk_cause *c = &ctx->pass.run->causes[part];
    struct stk_str name = {0};
    for (int i = 0; i < c->name_count && !name.n; i++) {
        name = stk_optimizer_named(stk_str_from(c->names[i].name ? c->names[i].name : ""));
    }
    return name;
}

// The first line of a snippet, with its optimizer replaced.
static const char *first_line_for(const struct stk_rule_ctx *ctx, const char *snippet,
                                  const char *named, const char *optimizer)
{
    const char *at = strstr(snippet, named), *rest = at + strlen(named);
    return stk_rule_text(ctx, "%.*s%s%.*s", (int)(at - snippet), snippet, optimizer,
                         (int)strcspn(rest, "\n"), rest);
}

// Is the change worth it? On a CPU, foreach can take longer than the loop; without a replay nobody
// knows. On a device both launch less.
static bool pays(const struct stk_rule_ctx *ctx, const struct stk_rep_fix *advice, bool is_fused)
{
    struct stk_rep_saving saving;
    if (!stk_rule_on_host(ctx)) {
        return true;
    }
    return stk_first_price_of(ctx, advice->price, &saving) ? saving.expected_share >= LEAST_SAVED
                                                           : is_fused;
}

bool stk_optimizer_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                          enum stk_part part, double most)
{
    if (!stk_rule_cause_names_any(ctx, part, records)) {
        return false;
    }
    struct stk_str name = name_of(ctx, part);
    const struct stk_optimizer_kind *kind = stk_optimizer_kind_of(name);
    bool is_fused = !name.n || (kind && kind->has_fused);
    struct stk_rep_fix advice = STK_FIX(host_bound_torch_opt);
    if (is_fused && kind) {
        advice.snippet = first_line_for(ctx, advice.snippet, "AdamW", kind->class);
    } else if (!is_fused) {
        advice = (struct stk_rep_fix)STK_FIX(host_bound_torch_foreach);
    }
    advice.most = most;
    if ((name.n && !kind) || !pays(ctx, &advice, is_fused)) {
        return false;
    }
    stk_finding_fix(ctx, f, &advice);
    return true;
}

int64_t stk_optimizer_loop_ns(const struct stk_rule_ctx *ctx, enum stk_part part)
{
    const struct stk_run_sum *run = ctx->pass.run;
    const struct stk_cause *c = &run->causes[part];
    int64_t ns = 0;
    struct stk_str name = name_of(ctx, part);
    if (name.n && !stk_optimizer_kind_of(name)) {
        return 0;
    }
    for (int i = 0; i < c->name_count && run->facts.signs[STK_SIGN_FUSED_UPDATE].count == 0; i++) {
        ns += c->names[i].name && strncmp(c->names[i].name, records[0], strlen(records[0])) == 0
                  ? c->names[i].ns
                  : 0;
    }
    return ns;
}
