// SPDX-License-Identifier: Apache-2.0
// Shared by rules: how much time a cause takes and in how many steps, and writing the finding:
// severity, evidence, suitable fixes.
#pragma once

#include "answers/rules/rule.h"

// Queries. A set of parts is a mask of 1u << part. Shares are of the breakdown's wall time, 0
// without one.
uint32_t stk_rule_group_parts(enum stk_group group); // the profiler's own overhead excluded
// The what-if as a set, if the steps can be replayed and it applies to them. False: no estimate.
bool stk_rule_may_price(const struct stk_rule_ctx *ctx, const char *whatif,
                        struct stk_price_asked *set);
double stk_rule_part_share(const struct stk_rule_ctx *ctx, enum stk_part part);
double stk_rule_parts_share(const struct stk_rule_ctx *ctx, uint32_t parts);
double stk_rule_group_share(const struct stk_rule_ctx *ctx, enum stk_group group);
bool stk_rule_on_host(const struct stk_rule_ctx *ctx); // judged on host steps, without a device
// The profile is an input pipeline's own record (stoker.data), without a device.
bool stk_rule_on_pipeline(const struct stk_rule_ctx *ctx);
bool stk_rule_of_own_capture(const struct stk_rule_ctx *ctx); // stoker run --level 1 recorded it
bool stk_rule_on_tpu(const struct stk_rule_ctx *ctx);         // the analyzed devices are TPUs
// Why shares mean nothing here (the verdict abstained before using them), or NULL.
const char *stk_rule_abstained(const struct stk_rule_ctx *ctx);
// How often an issue occurred, over all inputs.
uint64_t stk_rule_issue_count(const struct stk_rule_ctx *ctx, enum stk_issue_id id);
// Kernels of all devices, and those shorter than 10 us.
void stk_rule_count_kernels(const struct stk_rule_ctx *ctx, uint64_t *kernels, uint64_t *brief);
// Time from the first event to the last, summed over ranks; at least 1.
int64_t stk_rule_recorded_ns(const struct stk_rule_ctx *ctx);

// How a set of parts is spread over the used steps (rows: a step on a device, or of a host).
struct stk_rule_steps {
    uint32_t used, affected; // rows; rows in which the parts take 1% or more
    uint32_t devices;        // devices (or ranks) that the rows belong to
    uint32_t most_affected;  // steps affected on the device with the most
    int64_t total_ns, largest_ns;
    int64_t largest_step; // number of the step with the most
};
struct stk_rule_steps stk_rule_spread(const struct stk_rule_ctx *ctx, uint32_t parts);
// A sum over all used rows, divided by their number; STK_NOT_KNOWN unless there are several, and
// each may have one of the `intervals`.
int64_t stk_rule_each_ns(const struct stk_rule_ctx *ctx, int64_t total_ns, uint64_t intervals);
// Lower median over the same rows; -1 if there are no rows or no memory.
int64_t stk_rule_median_ns(const struct stk_rule_ctx *ctx, uint32_t parts);

// Does one of this part's names, or of its examples, contain `word` (any case)?
bool stk_rule_cause_names(const struct stk_rule_ctx *ctx, enum stk_part part, const char *word);
bool stk_rule_cause_names_any(const struct stk_rule_ctx *ctx, enum stk_part part,
                              const char *const *words); // ends with NULL

// Writing. High, medium or low for a loss of this share: from 15% and 5% of the step on a device,
// or 50% and 25% of a host's step, whose parts run one after another.
enum stk_level stk_rule_severity(const struct stk_rule_ctx *ctx, double share);
// A row's sentence, in the arena; "" if out of memory. For a rule's `why`, rules call stk_why_NAME
// of evidence_says.h, which the build generates from the row why_NAME.
const char *stk_rule_say(const struct stk_rule_ctx *ctx, const struct stk_evidence_row *row,
                         const union stk_amount *amounts);
// Adds a row's evidence. Rules call stk_say_ID of evidence_says.h, which the build generates from
// the rows (results/evidence.h). NULL if there is no room for more.
struct stk_rep_evidence *stk_finding_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                         const struct stk_evidence_row *row,
                                         const union stk_amount *amounts);
// Sets where it can be seen; e and track may be NULL.
void stk_evidence_place(struct stk_rep_evidence *e, const char *track, int64_t start_ns,
                        int64_t dur_ns);
// Moves the last added line to this position, if that differs from call to call; returns it.
struct stk_rep_evidence *stk_finding_raise(struct stk_rep_finding *f, size_t at);
// Evidence of one part: its size, the names that fill it, its longest example.
void stk_finding_cause(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                       enum stk_part part);
// The same for a set of parts, the largest first, those below 1% left out.
void stk_finding_causes(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, uint32_t parts);
// The meaning of a part, in words for the device or for a host step.
const char *stk_rule_part_meaning(const struct stk_rule_ctx *ctx, enum stk_part part);
// A bounded saving: from nothing to the whole share of the cause.
void stk_finding_bound(struct stk_rep_finding *f, double share);
// What the fix saves if it is taken so far: expected, at the least and at the most, by the what-if
// `price`. The least effort first; the last one is what the finding's saving expects. `count` 0:
// not known.
void stk_finding_level(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                       struct stk_rep_level level);
// The most that a level can save: without a device, the model's own work stays in the step.
double stk_level_most(const struct stk_rule_ctx *ctx);
// Chooses a fix of the rule's table; the first one chosen is the best.
void stk_finding_fix(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                     const struct stk_rep_fix *fix);
// Do the user's own functions fill most of it? They are more useful than the functions they call.
bool stk_rule_owners_tell(const struct stk_cause *c);
// The line of the user's own code that fills most of these parts, if Python was traced.
void stk_finding_source(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, uint32_t parts);
// The place in the job's own code from the hooks; unchanged without one.
void stk_finding_told(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                      enum stk_told_place at);
// "train.py(35): main" or "$train.py:35 main", alone or after " in "; false for installed packages.
bool stk_rule_parse_source(const char *name, struct stk_str *file, int64_t *line);
// A text in the arena; "" if out of memory.
const char *stk_rule_text(const struct stk_rule_ctx *ctx, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
// "save (train.py:50)" for the frame of one of the user's own functions, else the unchanged name.
const char *stk_rule_owner(const struct stk_rule_ctx *ctx, const char *name);
// A name truncated to fit in a line, at a character boundary.
const char *stk_rule_name(const struct stk_rule_ctx *ctx, const char *name);

// The first two rows of the thresholds of a rule that fires on a share of the time.
enum { STK_FROM_DEVICE, STK_FROM_HOST };
// The check of most rules with a cause: do `parts` take as much time as the threshold? Fills
// severity, confidence, steps and saving, but not the evidence.
enum stk_rule_state stk_rule_check_share(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                         uint32_t parts, const struct stk_threshold *thresholds,
                                         const char **why);
