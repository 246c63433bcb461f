// SPDX-License-Identifier: Apache-2.0
// Which findings fail a CI job; see policy.h.
#include "cli/policy.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/near.h"
#include "base/plain_file.h"
#include "base/terms.h"
#include "cli/screen.h"

enum { BASELINE_MAX = 64 * 1024 };

// The library's levels start with the least severe, those of terms.h with the most severe.
static const char *level_name(enum stoker_level level)
{
    STK_ASSERT(level > STOKER_LEVEL_NONE && level <= STOKER_LEVEL_HIGH);
    return stk_level_key((enum stk_level)(STOKER_LEVEL_HIGH - level));
}

static int say(const char *what, const char *text, const char *more)
{
    fputs("stoker: error: ", stderr);
    fputs(what, stderr);
    stk_screen_put(stderr, text, STK_SCREEN_ALL);
    fprintf(stderr, "%s\n", more);
    return STK_EXIT_USAGE;
}

static int ignore(struct stk_policy *p, const char *rule)
{
    const char *best = NULL, *id;
    for (size_t i = 0; (id = stoker_rule_id(i)) != NULL; i++) {
        if (strcmp(id, rule) == 0) {
            STK_ASSERT(p->ignored_count < sizeof p->ignored / sizeof *p->ignored);
            p->ignored[p->ignored_count++] = rule;
            return STK_EXIT_DONE;
        }
        best = stk_near_best(rule, best, id);
    }
    char more[120];
    snprintf(more, sizeof more, "%s%.60s%s; `stoker explain` lists them",
             best ? ": did you mean " : "", best ? best : "", best ? "?" : "");
    return say("--ignore: no rule ", rule, more);
}

static int read_ignored(struct stk_policy *p, const struct stk_args *args)
{
    int code = STK_EXIT_DONE;
    for (int i = 0; code == STK_EXIT_DONE && i < args->listed_count; i++) {
        code = ignore(p, args->listed[i]);
    }
    for (size_t i = 0; code == STK_EXIT_DONE && i < p->settings.count; i++) {
        const struct stk_setting *row = &p->settings.rows[i];
        if (strcmp(row->section, "why") == 0 && strcmp(row->key, "ignore") == 0) {
            code = ignore(p, row->value);
        }
    }
    return code;
}

static int read_fail_on(struct stk_policy *p, const struct stk_args *args)
{
    const struct stk_setting *row = stk_settings_find(&p->settings, "why", "fail-on");
    struct stk_opt_value v = args->values[STK_OPT_ID_FAIL_ON];
    if (!v.set && row && !stk_opt_value_parse(&stk_opts[STK_OPT_ID_FAIL_ON], row->value, &v)) {
        return say("stoker.toml: fail-on: not a level: ", row->value, "; high, medium or low");
    }
    p->fail_on = v.set || row ? v.number : STOKER_LEVEL_NONE;
    return STK_EXIT_DONE;
}

// A named baseline must exist: without it every finding would seem new and fail.
static int read_baseline(struct stk_policy *p, const struct stk_args *args)
{
    const struct stk_setting *row = stk_settings_find(&p->settings, "why", "baseline");
    const struct stk_opt_value *given = &args->values[STK_OPT_ID_BASELINE];
    const char *path = given->set ? given->text : row ? row->value : NULL;
    if (!path || p->write_to) {
        return STK_EXIT_DONE;
    }
    p->baseline = stk_plain_text(AT_FDCWD, path, BASELINE_MAX, &p->baseline_bytes);
    if (!p->baseline) {
        say("--baseline: can't read ", path,
            ": `stoker why PROFILE --write-baseline FILE` writes one");
        return STK_EXIT_INPUT;
    }
    return STK_EXIT_DONE;
}

int stk_policy_read(struct stk_policy *p, const struct stk_args *args)
{
    const struct stk_opt_value *write_to = &args->values[STK_OPT_ID_WRITE_BASELINE];
    *p = (struct stk_policy){.write_to = write_to->set ? write_to->text : NULL};
    int code = stk_settings_read(&p->settings);
    code = code == STK_EXIT_DONE ? read_ignored(p, args) : code;
    code = code == STK_EXIT_DONE ? read_fail_on(p, args) : code;
    code = code == STK_EXIT_DONE ? read_baseline(p, args) : code;
    if (code != STK_EXIT_DONE) {
        stk_policy_free(p);
    }
    return code;
}

void stk_policy_free(struct stk_policy *p)
{
    stk_free(p->baseline);
    p->baseline = NULL;
    stk_settings_free(&p->settings);
}

static bool is_ignored(const struct stk_policy *p, const char *rule)
{
    for (size_t i = 0; i < p->ignored_count; i++) {
        if (strcmp(p->ignored[i], rule) == 0) {
            return true;
        }
    }
    return false;
}

// The severity of a rule in the baseline; STOKER_LEVEL_NONE: not there.
static enum stoker_level level_before(const struct stk_policy *p, const char *rule)
{
    size_t n = strlen(rule);
    for (const char *line = p->baseline; line && *line; line += strspn(line, "\n")) {
        size_t length = strcspn(line, "\n");
        for (int i = STOKER_LEVEL_INFO; i <= STOKER_LEVEL_HIGH; i++) {
            const char *level = level_name((enum stoker_level)i);
            if (length == n + 1 + strlen(level) && memcmp(line, rule, n) == 0 && line[n] == '\t' &&
                memcmp(line + n + 1, level, length - n - 1) == 0) {
                return (enum stoker_level)i;
            }
        }
        line += length;
    }
    return STOKER_LEVEL_NONE;
}

static int write_baseline(const char *path, const struct stoker_result *result)
{
    struct stk_output output;
    struct stoker_finding f;
    char line[200];
    int code = stk_output_open(&output, path, false), failed = 0;
    if (code != STK_EXIT_DONE) {
        return code;
    }
    for (size_t i = 0; !failed && stoker_result_finding_at(result, i, &f); i++) {
        int n = snprintf(line, sizeof line, "%.100s\t%s\n", f.id, level_name(f.severity));
        failed = stk_output_write(&output, line, (size_t)n);
    }
    return stk_output_close(&output, !failed);
}

int stk_policy_judge(const struct stk_policy *p, const struct stoker_result *result)
{
    struct stoker_finding f;
    STK_ASSERT(result && p->fail_on >= STOKER_LEVEL_NONE && p->fail_on <= STOKER_LEVEL_HIGH);
    bool is_partial = p->ignored_count > 0 || p->baseline || p->write_to;
    if (stoker_result_jobs(result) > 1 && is_partial) {
        return say("--ignore and baselines work for one job, and these profiles are of several", "",
                   ": give one job's");
    }
    if (stoker_result_jobs(result) > 1) {
        return p->fail_on && (int64_t)stoker_result_level(result) >= p->fail_on ? STK_EXIT_FOUND
                                                                                : STK_EXIT_DONE;
    }
    if (p->write_to) {
        return write_baseline(p->write_to, result);
    }
    for (size_t i = 0; stoker_result_finding_at(result, i, &f); i++) {
        if (p->fail_on != STOKER_LEVEL_NONE && f.severity >= (enum stoker_level)p->fail_on &&
            !is_ignored(p, f.id) && f.severity > level_before(p, f.id)) {
            return STK_EXIT_FOUND;
        }
    }
    return STK_EXIT_DONE;
}
