// SPDX-License-Identifier: Apache-2.0
// A rule recognizes one cause (or one fault of the capture), says how it knows and what to do. To
// add one: a file rules/<name>.c that ends in its descriptor `const struct stk_rule
// stk_rule_<name>`, its page rules/<name>.md, and one line X(<name>) in rules.def. `stoker explain
// ID`, the docs page and the report's `rules` list come from that row.
//
// A page is `# id: Title` and five items, `* **label**: text`, whose further lines are indented by
// two blanks. The build embeds it (cmake/rule_pages.cmake): the descriptor's `page` is
// STK_PAGE(<name>). Figures are not repeated in it: {loss} stands for the value of the row LOSS of
// the rule's thresholds, {verdict.loss} for the row LOSS of thresholds.def of the verdict; a share
// before `%` is written in percent.
#pragma once

#include "answers/passes/pass.h"
#include "profile/model/thresholds.h"
#include "answers/replay/price.h"

// What a rule needs before it can be asked; otherwise it is skipped or not applicable.
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

// What stands for {name} in a page.
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
    // The what-if whose price takes the bound's place where the first fix names none; NULL: none.
    const char *whatif;
    // What it sees is a chance: where the replay saves next to nothing, it passes.
    bool needs_saving;
    uint32_t needs;
    uint32_t verdicts; // 1u << kind of each verdict whose cause this rule explains
    const struct stk_threshold *thresholds; // ends with name == NULL; may be NULL
    const struct stk_rep_fix *fixes;        // ends with text == NULL; best first
    bool fixes_recorder; // they change how the profile is recorded: by the tool that recorded it
    bool is_live;        // asked of a running job too, of which there is the machine's record alone
    // Decide; when it fires, fill title if it differs, severity, confidence, saving, evidence, and
    // choose the fixes that suit what was seen (stk_finding_fix), best first; none chosen: all.
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
// An item of the rule's page with its figures; what is beyond `size` is cut.
void stk_rule_fill(const struct stk_rule *rule, const char *text, char *to, size_t size);
#define STK_RULE_TEXT_MAX 1000 // bytes of an item, with its end
// Ask every rule, sort the findings by value (the one that explains the verdict first), fill
// report->findings and report->rules.
STK_MUST_CHECK enum stoker_status stk_rules_run(const struct stk_rule_ctx *ctx,
                                                struct stk_report *report, struct stoker_err *err);
// From the findings and the steps: report->outlook, and the step time of every level.
void stk_outlook_fill(const struct stk_rule_ctx *ctx, struct stk_report *report);
// Ask the rules of a running job; at most `most` findings, the most severe first. What does not
// depend on a profile is filled: id, title, severity, evidence. Returns how many.
size_t stk_rules_live(const struct stk_rule_ctx *ctx, struct stk_rep_finding *findings,
                      size_t most);
