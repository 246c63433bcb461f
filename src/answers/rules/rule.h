// SPDX-License-Identifier: Apache-2.0
// A rule recognizes one cause (or one fault of the capture), explains how it knows, and says what
// to do. To add one: a file rules/<name>.c that ends in its descriptor `const struct stk_rule
// stk_rule_<name>`, its page rules/<name>.md, and one line X(<name>) in rules.def. `stoker explain
// ID`, the docs page and the report's `rules` list come from that row.
//
// A page is `# id: Title` and five items, `* **label**: text`; continuation lines are indented by
// two spaces. The build embeds it (cmake/rule_pages.cmake): the descriptor's `page` is
// STK_PAGE(<name>). Figures aren't repeated in it: {loss} is replaced by the value of the row LOSS
// of the rule's thresholds, {verdict.loss} by the row LOSS of thresholds.def of the verdict. A
// share before `%` is written in percent.
#pragma once

#include "answers/passes/pass.h"
#include "profile/model/thresholds.h"
#include "answers/replay/price.h"

// What a rule needs to run; otherwise it is skipped or not applicable.
#define STK_NEED_DEVICE 1u     // device rows
#define STK_NEED_STEPS 2u      // at least one used step
#define STK_NEED_HOST 4u       // host rows
#define STK_NEED_RANKS 8u      // more than one rank
#define STK_NEED_BREAKDOWN 16u // a breakdown with time in it

struct stk_threshold {
    const char *name, *unit; // "share of the step"
    double value;
    const char *reason;
};

enum stk_rule_state { STK_RULE_FIRED, STK_RULE_PASSED, STK_RULE_NOT_APPLICABLE, STK_RULE_SKIPPED };

struct stk_rule_ctx {
    struct stk_pass_ctx pass;         // inputs, run, verdict, arena
    const struct stk_report *report;  // filled by the passes
    const struct stk_pricing *prices; // NULL: savings are bounds
};

// The value for {name} in a page.
struct stk_rule_figure {
    const char *name;
    int row;         // of the rule's thresholds, or
    bool is_verdict; // an enum stk_threshold_id
};
struct stk_rule_page {
    const char *id;                        // "input-wait": noun of the failing state
    const char *title;                     // "The step waits for its input"
    const char *fires;                     // "fires when"
    const char *matters;                   // "why it matters"
    const char *priced;                    // "saving": how it is bounded
    const char *quiet;                     // "quiet when"
    const char *source;                    // where thresholds and claims come from
    const struct stk_rule_figure *figures; // ends with name == NULL; NULL: none
};

struct stk_rule {
    struct stk_rule_page page; // STK_PAGE(<name>)
    enum stk_topic kind;
    // The what-if whose price replaces the bound if the first fix has none; NULL: none.
    const char *whatif;
    // It reports an opportunity: if the replay saves next to nothing, it passes.
    bool needs_saving;
    uint32_t needs;
    uint32_t verdicts; // 1u << kind of each verdict whose cause this rule explains
    const struct stk_threshold *thresholds; // ends with name == NULL; may be NULL
    const struct stk_rep_fix *fixes;        // ends with text == NULL; best first
    bool fixes_recorder; // its fixes change how the profile is recorded: only those for the
                         // recorder are shown
    bool is_live;        // also runs on a running job, which has only a machine record
    // Decides. If it fires, fills title (if it differs), severity, confidence, saving and evidence,
    // and chooses suitable fixes (stk_finding_fix), best first; if none is chosen, all are used.
    // *why is a short text for the report's `rules` list in every state. Never fails for lack of
    // data: that is STK_RULE_SKIPPED.
    enum stk_rule_state (*check)(const struct stk_rule_ctx *ctx, struct stk_rep_finding *finding,
                                 const char **why);
};

#define X(name) extern const struct stk_rule stk_rule_##name;
#include "answers/rules/rules.def"
#undef X
extern const struct stk_rule *const stk_rules[];
extern const int stk_rule_count;

const struct stk_rule *stk_rule_find(const char *id); // NULL: none
// An item of the rule's page with its figures, truncated to `size`.
void stk_rule_fill(const struct stk_rule *rule, const char *text, char *to, size_t size);
#define STK_RULE_TEXT_MAX 1000 // bytes of an item, with its end
// Runs every rule, sorts the findings by value (the one that explains the verdict first), fills
// report->findings and report->rules.
STK_MUST_CHECK enum stoker_status stk_rules_run(const struct stk_rule_ctx *ctx,
                                                struct stk_report *report, struct stoker_err *err);
// Computes report->outlook and each level's step time, from the findings and the steps.
void stk_outlook_fill(const struct stk_rule_ctx *ctx, struct stk_report *report);
// Runs the rules on a running job; at most `most` findings, the most severe first. Fills what
// doesn't depend on a profile: id, title, severity, evidence. Returns how many.
size_t stk_rules_live(const struct stk_rule_ctx *ctx, struct stk_rep_finding *findings,
                      size_t most);
