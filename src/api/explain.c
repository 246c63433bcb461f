// SPDX-License-Identifier: Apache-2.0
// Prints stoker's tables: rules, fixes and what-ifs (stoker explain, docs/rules.md) and readers
// (docs/formats.md). Text is for a terminal, markdown for the docs.
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "base/near.h"
#include "base/text.h"
#include "profile/readers/reader.h"
#include "answers/rules/rule.h"

const char *stoker_rule_id(size_t index)
{
    return index < (size_t)stk_rule_count ? stk_rules[index]->page.id : NULL;
}

const char *stoker_fix_id(size_t index)
{
    return index < (size_t)stk_fix_row_count ? stk_fix_rows[index].id : NULL;
}

struct page {
    struct stk_sink *sink;
    bool markdown;
};

// Text wrapped at 78 columns, continuation lines indented; markdown isn't wrapped.
static void paragraph(const struct page *p, int indent, const char *text)
{
    int column = indent;
    while (*text) {
        size_t n = strcspn(text, " ");
        if (!p->markdown && column > indent && column + (int)n + 1 > 78) {
            stk_sink_printf(p->sink, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            stk_sink_text(p->sink, " ");
            column++;
        }
        stk_sink_put(p->sink, text, n);
        column += (int)n;
        text += n;
        while (*text == ' ') {
            text++;
        }
    }
    stk_sink_text(p->sink, "\n");
}

static void item(const struct page *p, const char *label, const char *text)
{
    if (!text || !*text) {
        return;
    }
    if (p->markdown) {
        stk_sink_printf(p->sink, "* **%s**: ", label);
    } else {
        stk_sink_printf(p->sink, "%-15s", label);
    }
    paragraph(p, 15, text);
}

static void thresholds(const struct page *p, const struct stk_threshold *t)
{
    for (; t && t->name; t++) {
        char text[400];
        stk_text_printf(text, sizeof text, "%s %.6g %s: %s", t->name, t->value, t->unit, t->reason);
        item(p, "threshold", text);
    }
}

static void snippet(const struct page *p, const char *code)
{
    if (p->markdown) {
        stk_sink_text(p->sink, "\n  ```\n");
    }
    while (*code) {
        size_t n = strcspn(code, "\n");
        stk_sink_text(p->sink, p->markdown ? "  " : "                 ");
        stk_sink_put(p->sink, code, n);
        stk_sink_text(p->sink, "\n");
        code += n + (code[n] == '\n');
    }
    if (p->markdown) {
        stk_sink_text(p->sink, "  ```\n");
    }
}

static void advice(const struct page *p, const struct stk_rep_fix *fix)
{
    char label[40];
    bool is_any = fix->framework == STK_FW_ANY;
    snprintf(label, sizeof label, "fix%s%.20s", is_any ? "" : " ",
             is_any ? "" : stk_framework_key(fix->framework));
    item(p, label, fix->text);
    if (fix->snippet) {
        snippet(p, fix->snippet);
    }
}

static void fixes(const struct page *p, const struct stk_rep_fix *fix)
{
    for (; fix && fix->text; fix++) {
        advice(p, fix);
    }
}

// An item of a rule's page.
static void page_item(const struct page *p, const struct stk_rule *rule, const char *label,
                      const char *text)
{
    char filled[STK_RULE_TEXT_MAX];
    stk_rule_fill(rule, text, filled, sizeof filled);
    item(p, label, filled);
}

static void explain_rule(const struct page *p, const struct stk_rule *rule)
{
    if (p->markdown) {
        stk_sink_printf(p->sink, "\n## %s\n\n%s.\n\n", rule->page.id, rule->page.title);
    } else {
        stk_sink_printf(p->sink, "%s: %s\n\n", rule->page.id, rule->page.title);
    }
    page_item(p, rule, "fires when", rule->page.fires);
    page_item(p, rule, "why it matters", rule->page.matters);
    page_item(p, rule, "saving", rule->page.priced);
    item(p, "replayed as", rule->whatif);
    page_item(p, rule, "quiet when", rule->page.quiet);
    thresholds(p, rule->thresholds);
    fixes(p, rule->fixes);
    page_item(p, rule, "source", rule->page.source);
}

// "input-wait, one-thread": the rules whose tables have the fix, and the one named in its text.
static void given_by(const struct page *p, const struct stk_rep_fix *fix)
{
    char text[600] = "";
    size_t n = 0;
    for (int i = 0; i < stk_rule_count; i++) {
        const struct stk_rep_fix *x = stk_rules[i]->fixes;
        while (x && x->text && strcmp(x->id, fix->id) != 0) {
            x++;
        }
        bool is_given = fix->given && strcmp(fix->given, stk_rules[i]->page.id) == 0;
        if ((is_given || (x && x->text)) && n + strlen(stk_rules[i]->page.id) + 3 < sizeof text) {
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "",
                                  stk_rules[i]->page.id);
        }
    }
    item(p, "given by", text);
}

// "estimated by input-free: batches cost nothing", and the command on a separate line, for pasting.
static void command(const struct page *p, const char *label, const char *what, const char *line)
{
    if (p->markdown) {
        stk_sink_printf(p->sink, "* **%s**: %s: `%s`\n", label, what, line);
        return;
    }
    item(p, label, what);
    snippet(p, line);
}

// How stoker tune tries the fix.
static void mechanism(const struct page *p, const struct stk_rep_fix *fix)
{
    static const char *const changes[] = {
        [STK_CHANGES_NOTHING] = "nothing that the job computes: results are bit-identical",
        [STK_CHANGES_ORDER] =
            "order of samples or sums, or random numbers; the distribution stays the same",
        [STK_CHANGES_CALLBACKS] = "callbacks and logs, which see fewer batches",
        [STK_CHANGES_NUMERICS] = "numerics: precision, fast math or different kernels"};
    char how[300];
    const char *detail = fix->wrap ? fix->wrap : fix->env ? fix->env : fix->call ? fix->call : "";
    stk_text_printf(how, sizeof how, "%s%s",
                    fix->wrap         ? "a command prefix: "
                    : fix->env        ? "an environment variable: "
                    : !fix->is_hooked ? "editing the program"
                    : fix->call       ? "a hook in the job's Python, at "
                                      : "a hook in the job's Python",
                    fix->is_hooked || fix->env || fix->wrap ? detail : "");
    if (fix->is_tunes) {
        item(p, "changes", changes[fix->changes]);
        item(p, "shortens", fix->parts);
        item(p, "applied by", how);
        item(p, "in the program", fix->code);
    }
}

static void explain_fix(const struct page *p, const struct stk_rep_fix *fix)
{
    struct stk_price_asked set;
    struct stoker_err ignored;
    char what[300], line[300];
    bool changes = fix->changes == STK_CHANGES_NUMERICS;
    stk_sink_printf(p->sink, "%s%s%s%s%s\n\n", p->markdown ? "\n## " : "", fix->id,
                    !fix->what    ? ""
                    : p->markdown ? "\n\n"
                                  : ": ",
                    fix->what ? fix->what : "", fix->what && p->markdown ? "." : "");
    advice(p, fix);
    mechanism(p, fix);
    if (fix->price && stk_price_parse(fix->price, &set, &ignored) == STOKER_OK) {
        stk_text_printf(what, sizeof what, "%s, %s", fix->price, set.fix->what);
        stk_text_printf(line, sizeof line, "stoker whatif PROFILE --fix %s", fix->id);
        command(p, "estimated by", what, line);
    }
    if (fix->tries) {
        stk_text_printf(what, sizeof what, "stoker tune%s",
                        changes ? "; the fix changes what is computed" : "");
        stk_text_printf(line, sizeof line, "stoker tune --fix %s%s -- python train.py", fix->tries,
                        changes ? " --allow numerics" : "");
        command(p, "tried by", what, line);
    }
    if (fix->gained) {
        stk_text_printf(what, sizeof what, "of a step's time, in measured jobs: %s", fix->gained);
        item(p, "gained", what);
    }
    given_by(p, fix);
}

// "torch.dataloader.num_workers, tfdata.prefetch": the fixes that it estimates.
static void estimates(const struct page *p, const struct stk_price_row *price)
{
    char text[2000] = "";
    size_t n = 0;
    for (int i = 0; i < stk_fix_row_count; i++) {
        const struct stk_rep_fix *x = &stk_fix_rows[i];
        bool is_its = x->price && stk_price_find(x->price) == price;
        if (is_its && n + strlen(x->id) + 3 < sizeof text) {
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? ", " : "", x->id);
        }
    }
    item(p, "estimates", text);
}

static void explain_price(const struct page *p, const struct stk_price_row *price)
{
    char line[300];
    stk_sink_printf(p->sink, "%s%.*s%s%s%s\n\n", p->markdown ? "\n## " : "",
                    (int)strcspn(price->id, "="), price->id, p->markdown ? "\n\n" : ": ",
                    price->what, p->markdown ? "." : "");
    item(p, "assumes", price->assumes);
    item(p, "values", price->choices);
    stk_text_printf(line, sizeof line, "stoker whatif PROFILE --fix %s%s", price->id,
                    price->value ? price->value : "");
    command(p, "replayed by", "a what-if: the recorded step with this change", line);
    estimates(p, price);
}

// The first words of a text, up to `most` bytes.
static int first_words(const char *text, int most)
{
    int n = (int)strlen(text);
    for (int at = most; n > most; at--) {
        n = at == 0 ? most : text[at] == ' ' ? at : n;
    }
    return n;
}

static void list_fixes(const struct page *p)
{
    enum { ROOM = 44 };
    if (p->markdown) {
        stk_sink_text(
            p->sink,
            "# Fixes\n\nWhat stoker advises, estimates and tries. `stoker explain ID` prints the "
            "same text, and the "
            "results of\nproofs in your own ledger. This page is generated from the fixes.\n");
    }
    for (int i = 0; i < stk_fix_row_count; i++) {
        const struct stk_rep_fix *x = &stk_fix_rows[i];
        if (p->markdown) {
            explain_fix(p, x);
        } else {
            int n = first_words(x->text, ROOM);
            stk_sink_printf(p->sink, "%-38s %-10s %c%c %.*s%s\n", x->id,
                            stk_framework_key(x->framework), x->price ? 'P' : '-',
                            x->tries ? 'T' : '-', n, x->text, x->text[n] ? "..." : "");
        }
    }
    if (!p->markdown) {
        stk_sink_text(
            p->sink,
            "\nP: stoker whatif --fix ID estimates it; T: stoker tune --fix ID tries it\n");
    }
}

// A row for each rule: what it means, and when it fires.
static void rule_table(const struct page *p)
{
    char text[STK_RULE_TEXT_MAX];
    stk_sink_text(p->sink, "# Rules\n\nEach rule looks for one cause, or for one fault of the "
                           "recording. `stoker explain ID` prints\nthe same text. This page is "
                           "generated from the rules.\n\n| rule | finding | fires when |\n"
                           "|---|---|---|\n");
    for (int i = 0; i < stk_rule_count; i++) {
        const struct stk_rule_page *page = &stk_rules[i]->page;
        stk_rule_fill(stk_rules[i], page->fires, text, sizeof text);
        stk_sink_printf(p->sink, "| [`%s`](#%s) | %s | %s |\n", page->id, page->id, page->title,
                        text);
    }
}

static void list_rules(const struct page *p)
{
    if (p->markdown) {
        rule_table(p);
    }
    for (int i = 0; i < stk_rule_count; i++) {
        if (p->markdown) {
            explain_rule(p, stk_rules[i]);
        } else {
            stk_sink_printf(p->sink, "%-22s %s\n", stk_rules[i]->page.id, stk_rules[i]->page.title);
        }
    }
}

// Neither a rule, a fix nor a what-if; suggests the nearest rule or fix.
static enum stoker_status unknown(const char *id, struct stoker_err *err)
{
    const char *best = NULL;
    for (int i = 0; i < stk_rule_count; i++) {
        best = stk_near_best(id, best, stk_rules[i]->page.id);
    }
    best = stk_fix_row_near(id, best);
    if (best) {
        return stk_err_set(err, STOKER_EUSAGE, "no rule or fix '%.80s'; did you mean '%s'?", id,
                           best);
    }
    return stk_err_set(err, STOKER_EUSAGE,
                       "no rule or fix '%.80s'; 'stoker explain' lists the rules, 'stoker explain "
                       "--fixes' the fixes",
                       id);
}

static enum stoker_status open_page(struct page *p, struct stk_sink *sink, const char *format,
                                    stoker_write_fn write, void *arg, struct stoker_err *err)
{
    *p = (struct page){.sink = sink};
    if (!format || !write) {
        return stk_err_misuse(err, "needs a format, text or markdown, and a callback");
    }
    if (strcmp(format, "text") != 0 && strcmp(format, "markdown") != 0) {
        return stk_err_set(err, STOKER_EINVAL, "no format '%.40s'; choose from: text, markdown",
                           format);
    }
    stk_sink_init(sink, write, arg);
    p->markdown = strcmp(format, "markdown") == 0;
    return STOKER_OK;
}

enum stoker_status stoker_explain(const char *id, const char *format, stoker_write_fn write,
                                  void *arg, struct stoker_err *err)
{
    struct page p;
    struct stk_sink sink;
    enum stoker_status status = open_page(&p, &sink, format, write, arg, err);
    if (status != STOKER_OK) {
        return status;
    }
    err = stk_err_begin(err, &(struct stoker_err){0});
    const struct stk_rule *rule = id ? stk_rule_find(id) : NULL;
    const struct stk_rep_fix *fix = id && !rule ? stk_fix_row_find(id) : NULL;
    const struct stk_price_row *price = id && !rule && !fix ? stk_price_find(id) : NULL;
    if (id && !rule && !fix && !price) {
        unknown(id, err);
        return stk_err_fail(err);
    }
    if (rule) {
        explain_rule(&p, rule);
    } else if (fix) {
        explain_fix(&p, fix);
    } else if (price) {
        explain_price(&p, price);
    } else {
        list_rules(&p);
    }
    return stk_err_end(err, stk_sink_finish(&sink, err));
}

enum stoker_status stoker_describe_fixes(const char *format, stoker_write_fn write, void *arg,
                                         struct stoker_err *err)
{
    struct page p;
    struct stk_sink sink;
    enum stoker_status status = open_page(&p, &sink, format, write, arg, err);
    if (status != STOKER_OK) {
        return status;
    }
    err = stk_err_begin(err, &(struct stoker_err){0});
    list_fixes(&p);
    return stk_err_end(err, stk_sink_finish(&sink, err));
}

enum stoker_status stoker_describe_readers(const char *format, stoker_write_fn write, void *arg,
                                           struct stoker_err *err)
{
    struct page p;
    struct stk_sink sink;
    enum stoker_status status = open_page(&p, &sink, format, write, arg, err);
    if (status != STOKER_OK) {
        return status;
    }
    err = stk_err_begin(err, &(struct stoker_err){0});
    if (p.markdown) {
        stk_sink_text(&sink, "# Formats that stoker reads\n\nA file is recognized by its content, "
                             "not by its name; gzip and zstd are\nunpacked while "
                             "reading.\n\n| format | files | what "
                             "it is |\n|---|---|---|\n");
    }
    for (int i = 0; i < stk_reader_count; i++) {
        const struct stk_reader *r = stk_readers[i];
        char suffixes[STK_READER_TEXT_MAX];
        stk_reader_list_suffixes(r, suffixes, sizeof suffixes);
        if (p.markdown) {
            stk_sink_printf(&sink, "| %s | `%s` | %s |\n", r->name, suffixes, r->summary);
        } else {
            stk_sink_printf(&sink, "%-8s %-32s %s\n", r->name, suffixes, r->summary);
        }
    }
    return stk_err_end(err, stk_sink_finish(&sink, err));
}
