// SPDX-License-Identifier: Apache-2.0
// Every rule's descriptor is complete: texts, ids, thresholds with unit and reason, fixes for known
// frameworks; nothing is repeated or left open.
#include "check.h"

#include "answers/replay/price_take.h"
#include "answers/rules/rule.h"
#include "job/tune/tries.h"
#include "profile/model/calls_seen.h"

static bool is_text(const char *s)
{
    size_t n = s ? strlen(s) : 0;
    return n >= 8 && n < 600 && s[n - 1] != ' ' && s[0] != ' ' && !strstr(s, "  ");
}

static bool is_sentence(const char *s)
{
    return is_text(s) && s[strlen(s) - 1] == '.';
}

static bool is_id(const char *s)
{
    for (const char *c = s; *c; c++) {
        if (!((*c >= 'a' && *c <= 'z') || *c == '-')) {
            return false;
        }
    }
    return *s && strncmp(s, "no-", 3) != 0;
}

static void check_texts(const struct stk_rule *r)
{
    CHECK(is_id(r->page.id));
    CHECK(is_text(r->page.title) && strlen(r->page.title) < 70 &&
          r->page.title[strlen(r->page.title) - 1] != '.');
    CHECK(is_sentence(r->page.fires) && is_sentence(r->page.matters) &&
          is_sentence(r->page.priced));
    CHECK(is_sentence(r->page.quiet) && is_sentence(r->page.source));
    CHECK(r->check != NULL);
    CHECK(!r->whatif || stk_price_is_taken(r->whatif)); // partials hold what findings ask for
}

// Each figure of the page is a row of the rule's own thresholds, and all are filled in.
static void check_figures(const struct stk_rule *r)
{
    const char *const items[] = {r->page.fires, r->page.matters, r->page.priced, r->page.quiet,
                                 r->page.source};
    char text[STK_RULE_TEXT_MAX];
    int rows = 0;
    while (r->thresholds[rows].name) {
        rows++;
    }
    for (const struct stk_rule_figure *f = r->page.figures; f && f->name; f++) {
        CHECK(f->row >= 0 && f->row < (f->is_verdict ? STK_T_COUNT : rows));
    }
    for (int i = 0; i < 5; i++) {
        stk_rule_fill(r, items[i], text, sizeof text);
        CHECK(is_sentence(text) && !strpbrk(text, "{}"));
    }
}

static void figures_are_values(void)
{
    static const struct stk_threshold rows[] = {
        {"loss", "share", 0.05, ""}, {"lossy", "us", 0.7, ""}, {0}};
    static const struct stk_rule_figure figures[] = {
        {"lossy", 1, false}, {"loss", 0, false}, {"verdict.cold", STK_T_COLD, true}, {0}};
    const struct stk_rule rule = {.thresholds = rows, .page.figures = figures};
    char text[60];
    stk_rule_fill(&rule, "{loss}% of {loss}, {lossy} us; {verdict.cold}%", text, sizeof text);
    CHECK_STR(text, "5% of 0.05, 0.7 us; 40%");
    stk_rule_fill(&rule, "", text, sizeof text);
    CHECK_STR(text, "");
}

static void check_thresholds(const struct stk_rule *r)
{
    CHECK(r->thresholds && r->thresholds[0].name);
    for (const struct stk_threshold *t = r->thresholds; t && t->name; t++) {
        CHECK(is_text(t->name) || strlen(t->name) > 3);
        CHECK(t->unit && t->unit[0]);
        CHECK(t->value > 0 && is_text(t->reason));
    }
}

static void check_fixes(const struct stk_rule *r)
{
    CHECK(r->fixes && r->fixes[0].text);
    for (const struct stk_rep_fix *x = r->fixes; x && x->text; x++) {
        CHECK(x->framework <= STK_FW_ANY);
        CHECK(is_sentence(x->text));
        const struct stk_rep_fix *row = stk_fix_row_find(x->id);
        CHECK(row && strcmp(row->text, x->text) == 0);
        CHECK(!x->snippet || (x->snippet[0] && x->snippet[strlen(x->snippet) - 1] != '\n'));
    }
}

// The rows of all fixes are sorted and found; what prices and tries one is known by its own table.
static void fix_rows(void)
{
    struct stoker_err err;
    for (int i = 0; i < stk_fix_row_count; i++) {
        const struct stk_rep_fix *x = &stk_fix_rows[i];
        struct stk_price_asked set;
        bool is_tried = !x->tries;
        CHECK(i == 0 || strcmp(stk_fix_rows[i - 1].id, x->id) < 0);
        CHECK(stk_fix_row_find(x->id) == x && is_sentence(x->text));
        CHECK(!x->price || stk_price_parse(x->price, &set, &err) == STOKER_OK);
        for (int k = 0; stk_tune_fix(k); k++) {
            is_tried |= x->tries && strcmp(x->tries, stk_tune_fix(k)->id) == 0;
        }
        CHECK(is_tried);
    }
    CHECK(!stk_fix_row_find("") && !stk_fix_row_find("zz") &&
          !stk_fix_row_find("transfer-exposed"));
    CHECK_STR(stk_fix_row_link("transfer-exposed.torch-pin", STK_FIX_TRIES),
              "torch.dataloader.pin_memory");
    CHECK(!stk_fix_row_link("transfer-exposed.tpu", STK_FIX_TRIES));
    CHECK(!stk_fix_row_link("nothing", STK_FIX_PRICE));
}

// Calls that a fix edits are keys of profile/model/calls_seen.def, one of which shows each.
static void edits_are_keys(void)
{
    int count = 0;
    for (int i = 0; i < stk_fix_row_count; i++) {
        const char *keys = stk_fix_rows[i].edits;
        CHECK(!keys || stk_fix_rows[i].snippet);
        while (keys && *keys) {
            size_t n = strcspn(keys, " ");
            CHECK(stk_calls_seen_bit((struct stk_str){keys, n}) != 0);
            keys += n + strspn(keys + n, " ");
            count++;
        }
    }
    CHECK(count >= 50);
    CHECK_EQ(stk_calls_seen_bit(STK_STR("nothing")), 0);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    uint32_t verdicts = 0;
    CHECK(stk_rule_count >= 18);
    fix_rows();
    figures_are_values();
    for (int i = 0; i < stk_rule_count; i++) {
        unsigned long before = check_failures;
        const struct stk_rule *r = stk_rules[i];
        CHECK_RUN(check_texts, r);
        CHECK_RUN(check_thresholds, r);
        CHECK_RUN(check_figures, r);
        CHECK_RUN(check_fixes, r);
        CHECK(stk_rule_find(r->page.id) == r); // ids are unique
        verdicts |= r->verdicts;
        if (check_failures != before) {
            fprintf(stderr, "in rule %s\n", r->page.id);
        }
    }
    CHECK_EQ(verdicts, (1u << STK_VERDICT_COUNT) - 1); // each verdict has a rule that explains it
    CHECK(stk_rule_find("no-such-rule") == NULL);
    CHECK_RUN(edits_are_keys);
    return check_done("unit.rules_descriptors");
}
