// SPDX-License-Identifier: Apache-2.0
// Writes a finding. Evidence is in the result's arena; if memory runs out, a line is left out
// rather than the finding.
#include "answers/rules/finding.h"

#include <stdarg.h>
#include <string.h>

#include "base/assert.h"
#include "base/human.h"
#include "evidence_says.h"

#define MAX_EVIDENCE 16
#define FIXES_FIRST 8     // room at first; it doubles
#define MAX_NAME 120      // bytes of a name in a line
#define WORTH_SAYING 0.01 // parts below this share get no evidence
#define OWNERS_SHARE 0.05 // of a part: needed to name one of the user's functions

enum stk_level stk_rule_severity(const struct stk_rule_ctx *ctx, double share)
{
    STK_ASSERT(share >= 0);
    bool host = stk_rule_on_host(ctx);
    return share >= (host ? 0.50 : 0.15)   ? STK_LEVEL_HIGH
           : share >= (host ? 0.25 : 0.05) ? STK_LEVEL_MEDIUM
                                           : STK_LEVEL_LOW;
}

const char *stk_rule_text(const struct stk_rule_ctx *ctx, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    const char *text = stk_arena_vprintf(ctx->pass.arena, fmt, args);
    va_end(args);
    return text ? text : "";
}

const char *stk_rule_name(const struct stk_rule_ctx *ctx, const char *name)
{
    name = name ? stk_human_name(name) : NULL;
    size_t n = name ? strlen(name) : 0;
    if (n <= MAX_NAME) {
        return n ? name : "";
    }
    n = MAX_NAME - 3;
    while (n > 0 && ((unsigned char)name[n] & 0xc0) == 0x80) {
        n--;
    }
    const char *cut = stk_arena_printf(ctx->pass.arena, "%.*s...", (int)n, name);
    return cut ? cut : "";
}

// The known values, for programs; texts are copied, since they may point into the input.
static struct stk_list values_of(struct stk_arena *arena, const struct stk_evidence_row *row,
                                 const union stk_amount *amounts)
{
    struct stk_value *values =
        row->count ? stk_arena_array(arena, row->count, sizeof *values) : NULL;
    struct stk_list list = {.items = values};
    for (uint32_t i = 0; values && i < row->count; i++) {
        struct stk_value value = {row->values[i].name, row->values[i].unit, amounts[i]};
        if (value.unit == STK_UNIT_TEXT && value.is.text) {
            value.is.text = stk_arena_strdup(arena, value.is.text);
        }
        if (stk_amount_known(value.unit, value.is)) {
            values[list.count++] = value;
        }
    }
    return list;
}

static char *sentence_of(struct stk_arena *arena, const struct stk_evidence_row *row,
                         const union stk_amount *amounts)
{
    char *text = stk_arena_alloc(arena, stk_evidence_write(row, amounts, NULL) + 1);
    if (text) {
        stk_evidence_write(row, amounts, text);
    }
    return text;
}

const char *stk_rule_say(const struct stk_rule_ctx *ctx, const struct stk_evidence_row *row,
                         const union stk_amount *amounts)
{
    const char *text = sentence_of(ctx->pass.arena, row, amounts);
    return text ? text : "";
}

struct stk_rep_evidence *stk_finding_raise(struct stk_rep_finding *f, size_t at)
{
    struct stk_rep_evidence *items = (struct stk_rep_evidence *)f->evidence.items;
    size_t count = f->evidence.count;
    if (count < 2 || at >= count - 1) {
        return count ? &items[count - 1] : NULL;
    }
    struct stk_rep_evidence last = items[count - 1];
    memmove(&items[at + 1], &items[at], (count - 1 - at) * sizeof *items);
    items[at] = last;
    return &items[at];
}

struct stk_rep_evidence *stk_finding_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                         const struct stk_evidence_row *row,
                                         const union stk_amount *amounts)
{
    STK_ASSERT(f && row->count <= STK_EVIDENCE_VALUES);
    struct stk_arena *arena = ctx->pass.arena;
    if (!f->evidence.items) {
        f->evidence.items = stk_arena_array(arena, MAX_EVIDENCE, sizeof(struct stk_rep_evidence));
    }
    struct stk_rep_evidence *items = (struct stk_rep_evidence *)f->evidence.items;
    const char *text = sentence_of(arena, row, amounts);
    if (!items || !text || f->evidence.count == MAX_EVIDENCE) {
        return NULL;
    }
    items[f->evidence.count] = (struct stk_rep_evidence){
        .id = row->id, .text = text, .values = values_of(arena, row, amounts)};
    f->evidence.count++;
    return row->place ? stk_finding_raise(f, row->place) : &items[f->evidence.count - 1];
}

void stk_evidence_place(struct stk_rep_evidence *e, const char *track, int64_t start_ns,
                        int64_t dur_ns)
{
    if (e) {
        e->track = track && track[0] ? track : NULL;
        e->has_time = dur_ns >= 0;
        e->start_ns = start_ns;
        e->dur_ns = dur_ns;
    }
}

void stk_finding_fix(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                     const struct stk_rep_fix *fix)
{
    STK_ASSERT(fix->text && (unsigned)fix->framework <= STK_FW_ANY);
    size_t n = f->fix.count;
    bool is_full = n == 0 || (n >= FIXES_FIRST && (n & (n - 1)) == 0); // rooms are powers of two
    struct stk_rep_fix *items = (struct stk_rep_fix *)f->fix.items;
    if (is_full) {
        items = stk_arena_array(ctx->pass.arena, n ? 2 * n : FIXES_FIRST, sizeof *items);
        if (!items) {
            return;
        }
        if (n) {
            memcpy(items, f->fix.items, n * sizeof *items);
        }
        f->fix.items = items;
    }
    items[f->fix.count++] = *fix;
}

const char *stk_rule_part_meaning(const struct stk_rule_ctx *ctx, enum stk_part part)
{
    STK_ASSERT((unsigned)part < STK_PART_COUNT);
    bool host = stk_rule_on_host(ctx);
    return host && part == STK_PART_COMPUTE   ? "the model's own operations"
           : host && part == STK_PART_UNKNOWN ? "main-thread time without events"
                                              : stk_part_info(part)->phrase;
}

// "69.3 ms a step (39% of the time), in 6 of 6 steps".
static void say_size(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, enum stk_part part)
{
    struct stk_rule_steps steps = stk_rule_spread(ctx, 1u << part);
    const char *key = stk_part_info(part)->key, *meaning = stk_rule_part_meaning(ctx, part);
    double share = stk_rule_part_share(ctx, part);
    if (steps.used == 0) {
        stk_say_part_recorded(ctx, f, key, meaning, ctx->pass.run->parts[part], share);
    } else if (steps.used == 1) {
        stk_say_part_of_step(ctx, f, key, meaning, steps.total_ns, share);
    } else {
        stk_say_part_a_step(ctx, f, key, meaning, steps.total_ns / steps.used, share,
                            steps.affected, steps.used, steps.devices > 1, stk_rule_on_host(ctx));
    }
}

int64_t stk_rule_each_ns(const struct stk_rule_ctx *ctx, int64_t total_ns, uint64_t intervals)
{
    struct stk_rule_steps steps = stk_rule_spread(ctx, 0);
    return steps.used > 1 && intervals >= steps.used ? total_ns / steps.used : STK_NOT_KNOWN;
}

bool stk_rule_owners_tell(const struct stk_cause *c)
{
    STK_ASSERT(c->owner_count >= 0 && c->owner_count <= STK_CAUSE_OWNERS);
    int64_t ns = 0;
    for (int i = 0; i < c->owner_count; i++) {
        ns += c->owners[i].ns;
    }
    return 2 * ns > c->ns;
}

// Each line has the sum over all calls; the smallest are left out.
static void say_owners(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                       const struct stk_cause *c, int from, int most)
{
    STK_ASSERT(from >= 0 && c->owner_count <= STK_CAUSE_OWNERS);
    for (int i = from; i < c->owner_count && i < most; i++) {
        if (i == 0 || (double)c->owners[i].ns >= OWNERS_SHARE * (double)c->ns) {
            stk_say_in_own_function(ctx, f, c->owners[i].ns, stk_rule_owner(ctx, c->owners[i].name),
                                    c->owners[i].count,
                                    stk_rule_each_ns(ctx, c->owners[i].ns, c->owners[i].count));
        }
    }
}

// Adds the cause's names from..most, preferring the user's own functions. Some names include their
// place: "before gemm".
static void say_names(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                      const struct stk_cause *c, int from, int most)
{
    STK_ASSERT(from >= 0 && c->name_count <= STK_CAUSE_NAMES);
    if (stk_rule_owners_tell(c)) {
        say_owners(ctx, f, c, from, most);
        return;
    }
    for (int i = from; i < c->name_count && i < most; i++) {
        const struct stk_cause_name *n = &c->names[i];
        if (n->ns > 0 && n->name && n->name[0]) {
            bool is_before = strncmp(n->name, "before ", 7) == 0;
            stk_say_in_name(ctx, f, n->ns, is_before, stk_rule_name(ctx, n->name), n->count,
                            stk_rule_each_ns(ctx, n->ns, n->count));
        }
    }
}

static void show_longest(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                         const struct stk_cause *c)
{
    if (c->example_count == 0) {
        return;
    }
    const struct stk_example *e = &c->examples[0];
    const char *name = e->name ? stk_rule_owner(ctx, e->name) : "";
    stk_evidence_place(stk_say_longest(ctx, f, e->dur_ns, e->step >= 0 ? e->step : STK_NOT_KNOWN,
                                       name[0] ? name : NULL),
                       e->track, e->start_ns, e->dur_ns);
}

// Waiting for a peer is part of the collectives, so they have the same names.
static bool was_named(const enum stk_part *parts, int at)
{
    for (int i = 0; i < at; i++) {
        if (stk_part_info(parts[i])->group == STK_GROUP_COMMUNICATION &&
            stk_part_info(parts[at])->group == STK_GROUP_COMMUNICATION) {
            return true;
        }
    }
    return false;
}

// Each part's size and largest content come first, so that the first lines explain the finding's
// whole claim.
static void show_parts(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                       const enum stk_part *parts, int count)
{
    const struct stk_cause *causes = ctx->pass.run->causes;
    for (int i = 0; i < count; i++) {
        say_size(ctx, f, parts[i]);
        if (!was_named(parts, i)) {
            say_names(ctx, f, &causes[parts[i]], 0, 1);
        }
    }
    for (int i = 0; i < count; i++) {
        if (was_named(parts, i)) {
            continue;
        }
        say_names(ctx, f, &causes[parts[i]], 1, i == 0 ? 3 : 2); // fewer for smaller parts
        show_longest(ctx, f, &causes[parts[i]]);
    }
}

void stk_finding_cause(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                       enum stk_part part)
{
    STK_ASSERT((unsigned)part < STK_PART_COUNT);
    show_parts(ctx, f, &part, 1);
}

void stk_finding_causes(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f, uint32_t parts)
{
    STK_ASSERT(parts >> STK_PART_COUNT == 0);
    enum stk_part order[STK_PART_COUNT];
    int count = 0;
    while (parts) {
        int largest = -1;
        for (int p = 0; p < STK_PART_COUNT; p++) {
            if ((parts & (1u << p)) &&
                (largest < 0 || ctx->pass.run->parts[p] > ctx->pass.run->parts[largest])) {
                largest = p;
            }
        }
        parts &= ~(1u << largest);
        if (stk_rule_part_share(ctx, largest) < WORTH_SAYING) {
            break;
        }
        order[count++] = (enum stk_part)largest;
    }
    show_parts(ctx, f, order, count);
}

void stk_finding_bound(struct stk_rep_finding *f, double share)
{
    STK_ASSERT(share >= 0);
    f->saving.has_low = f->saving.has_high = true;
    f->saving.low_share = 0;
    f->saving.high_share = share > 1 ? 1 : share;
    f->saving.basis = "bound";
}

// The recorded time is warm-up without steps: its losses, except compilation, may not recur.
static bool is_of_a_start(const struct stk_rule_ctx *ctx, uint32_t parts)
{
    return ctx->pass.verdict->kind == STK_VERDICT_COLD && ctx->pass.run->source == STK_STEPS_NONE &&
           !(parts & 1u << STK_PART_COMPILE);
}

enum stk_rule_state stk_rule_check_share(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                                         uint32_t parts, const struct stk_threshold *thresholds,
                                         const char **why)
{
    STK_ASSERT(parts >> STK_PART_COUNT == 0);
    double share = stk_rule_parts_share(ctx, parts);
    double from = thresholds[stk_rule_on_host(ctx) ? STK_FROM_HOST : STK_FROM_DEVICE].value;
    if (share < from) {
        *why = stk_why_below(ctx, share, from * 100);
        return STK_RULE_PASSED;
    }
    *why = stk_why_of_time(ctx, share);
    f->severity = stk_rule_severity(ctx, share);
    f->confidence = ctx->pass.verdict->confidence;
    f->steps_affected = stk_rule_spread(ctx, parts).most_affected;
    stk_finding_bound(f, share);
    stk_finding_source(ctx, f, parts);
    if (is_of_a_start(ctx, parts)) {
        f->severity = STK_LEVEL_INFO;
        f->confidence = STK_LEVEL_LOW;
        f->saving.has_high = false;
        f->saving.basis = "none";
        stk_say_part_of_a_start(ctx, f);
    }
    return STK_RULE_FIRED;
}

bool stk_rule_may_price(const struct stk_rule_ctx *ctx, const char *whatif,
                        struct stk_price_asked *set)
{
    struct stoker_err ignored;
    stk_err_init(&ignored);
    return ctx->prices && ctx->prices->gate.ok &&
           stk_price_parse(whatif, set, &ignored) == STOKER_OK &&
           !stk_price_refuse(ctx->prices, set);
}
