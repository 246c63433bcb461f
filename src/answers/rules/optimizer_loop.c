// SPDX-License-Identifier: Apache-2.0
// An optimizer of PyTorch's that updates its parameters one by one: torch's record
// "Optimizer.step#SGD.step" or its function "_single_tensor_sgd" names it. Limits: the name is that
// of the class; one that the job or a library derives from another is called by its own name, and
// whether it has such an update is not known.
#include <string.h>

#include "fixes_data.h"
#include "answers/rules/optimizer_loop.h"

static const char *const records[] = {"Optimizer.step", "Optimizer.zero_grad", "_single_tensor_",
                                      NULL};

// The optimizer's name, by the first cause of the part that holds it; empty: none.
static struct stk_str name_of(const struct stk_rule_ctx *ctx, enum stk_part part)
{
    static const char *const before[] = {"Optimizer.step#", "Optimizer.zero_grad#",
                                         "_single_tensor_"};
    const struct stk_cause *c = &ctx->pass.run->causes[part];
    for (int i = 0; i < c->name_count; i++) {
        for (size_t k = 0; k < sizeof before / sizeof before[0]; k++) {
            const char *at = c->names[i].name ? strstr(c->names[i].name, before[k]) : NULL;
            if (at) {
                at += strlen(before[k]);
                return (struct stk_str){at, strcspn(at, ".( ")};
            }
        }
    }
    return (struct stk_str){0};
}

// The first line of a snippet, with another optimizer than the one that it names.
static const char *first_line_for(const struct stk_rule_ctx *ctx, const char *snippet,
                                  const char *named, const char *optimizer)
{
    const char *at = strstr(snippet, named), *rest = at + strlen(named);
    return stk_rule_text(ctx, "%.*s%s%.*s", (int)(at - snippet), snippet, optimizer,
                         (int)strcspn(rest, "\n"), rest);
}

// Is it one of torch.optim's that has foreach?
static bool is_torchs(struct stk_str name)
{
    static const char *const classes[] = {"Adadelta", "Adagrad", "Adam",  "Adamax",
                                          "AdamW",    "ASGD",    "NAdam", "RAdam",
                                          "RMSprop",  "Rprop",   "SGD",   NULL};
    for (int i = 0; classes[i]; i++) {
        if (stk_str_eq_nocase(name, stk_str_from(classes[i]))) {
            return true;
        }
    }
    return false;
}

bool stk_optimizer_choose(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                          enum stk_part part)
{
    static const char *const fused[] = {"AdamW", "Adam", "SGD", "Adagrad"}; // the snippet's first
    if (!stk_rule_cause_names_any(ctx, part, records)) {
        return false;
    }
    struct stk_rep_fix advice = STK_FIX(host_bound_torch_opt);
    const char *snippet = advice.snippet;
    struct stk_str name = name_of(ctx, part);
    if (name.n && !is_torchs(name)) {
        return false;
    }
    advice.snippet = name.n ? advice.otherwise : snippet;
    for (size_t i = 0; i < sizeof fused / sizeof fused[0]; i++) {
        if (stk_str_eq_nocase(name, stk_str_from(fused[i]))) {
            advice.snippet = first_line_for(ctx, snippet, fused[0], fused[i]);
        }
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
    if (name.n && !is_torchs(name)) {
        return 0;
    }
    for (int i = 0; i < c->name_count && run->facts.signs[STK_SIGN_FUSED_UPDATE].count == 0; i++) {
        ns += c->names[i].name && strncmp(c->names[i].name, records[0], strlen(records[0])) == 0
                  ? c->names[i].ns
                  : 0;
    }
    return ns;
}
