// SPDX-License-Identifier: Apache-2.0
// Options and words of a command line. Options may come anywhere; "--" ends them; a value follows
// after "=" or as the next word; letters may be bundled (-vq). For an unknown option the error
// suggests the nearest known one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/near.h"
#include "base/str.h"
#include "base/terms.h"
#include "cli/cli.h"

const struct stk_opt stk_opts[STK_OPT_ID_COUNT] = {
#define O(id, name, letter, kind, arg, help) {name, letter, STK_OPT_##kind, arg, help},
#include "cli/opts.def"
#undef O
};

static const char *const level_names[] = {STK_LEVELS(STK_WORD_NAME) NULL};
static const char *const change_names[] = {"slower", STK_LEVELS(STK_WORD_NAME) "never", NULL};

const char *const *stk_opt_choices(const struct stk_opt *opt)
{
    return opt->kind == STK_OPT_LEVEL    ? level_names
           : opt->kind == STK_OPT_CHANGE ? change_names
           : opt->kind == STK_OPT_FORMAT ? stoker_formats()
                                         : NULL;
}

// If options of one name differ between commands, that of `cmd`, which may be NULL.
static int find_long(const struct stk_cmd *cmd, const char *name, size_t n)
{
    int found = STK_OPT_ID_NONE;
    for (int id = 0; id < STK_OPT_ID_COUNT; id++) {
        if (strlen(stk_opts[id].name) == n && memcmp(stk_opts[id].name, name, n) == 0 &&
            (found == STK_OPT_ID_NONE || (cmd && stk_cmd_takes(cmd, (enum stk_opt_id)id)))) {
            found = id;
        }
    }
    return found;
}

static int find_letter(const struct stk_cmd *cmd, char letter)
{
    int found = STK_OPT_ID_NONE;
    for (int id = 0; id < STK_OPT_ID_COUNT; id++) {
        if (stk_opts[id].letter && stk_opts[id].letter == letter &&
            (found == STK_OPT_ID_NONE || (cmd && stk_cmd_takes(cmd, (enum stk_opt_id)id)))) {
            found = id;
        }
    }
    return found;
}

bool stk_args_takes_next(const char *word)
{
    int id = STK_OPT_ID_NONE;
    if (strncmp(word, "--", 2) == 0) {
        id = find_long(NULL, word + 2,
                       strlen(word + 2)); // with "=" it isn't found: no word follows
    } else if (word[0] == '-' && word[1]) {
        for (const char *p = word + 1; *p; p++) {
            id = find_letter(NULL, *p);
            if (id != STK_OPT_ID_NONE && stk_opts[id].kind != STK_OPT_FLAG) {
                return p[1] == 0;
            }
        }
    }
    return id != STK_OPT_ID_NONE && stk_opts[id].kind != STK_OPT_FLAG;
}

// At most 18 decimal digits, so that nothing overflows. Returns the rest; NULL without digits.
static const char *digits(const char *p, int64_t *out)
{
    int n = 0;
    for (*out = 0; *p >= '0' && *p <= '9'; p++, n++) {
        if (n == 18) {
            return NULL;
        }
        *out = *out * 10 + (*p - '0');
    }
    return n ? p : NULL;
}

static bool parse_duration(const char *text, int64_t *out_ns)
{
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"ns", 1},       {"us", 1000},      {"µs", 1000},
                 {"ms", 1000000}, {"s", 1000000000}, {"min", 60000000000}};
    int64_t whole, fraction = 0, scale = 1;
    const char *p = digits(text, &whole);
    if (p && *p == '.') {
        const char *start = ++p;
        p = digits(p, &fraction);
        if (!p || p - start > 9) {
            return false;
        }
        for (const char *q = start; q < p; q++) {
            scale *= 10;
        }
    }
    for (size_t i = 0; p && i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(p, units[i].name) != 0) {
            continue;
        }
        if (__builtin_mul_overflow(whole, units[i].ns, &whole)) {
            return false;
        }
        return !__builtin_add_overflow(
            whole, fraction * (units[i].ns / scale) + fraction * (units[i].ns % scale) / scale,
            out_ns);
    }
    return false;
}

// "3", "3:", ":5", "3:5"; inclusive.
static bool parse_range(const char *text, int64_t *first, int64_t *last)
{
    const char *colon = strchr(text, ':');
    *first = 0;
    *last = INT64_MAX;
    if (!colon) {
        const char *end = digits(text, first);
        *last = *first;
        return end && *end == 0;
    }
    if (colon != text && digits(text, first) != colon) {
        return false;
    }
    const char *end = colon[1] ? digits(colon + 1, last) : colon + 1;
    return end && *end == 0 && text[1] && *first <= *last;
}

static bool parse_choice(const struct stk_opt *opt, const char *text, int64_t *out)
{
    const char *const *choices = stk_opt_choices(opt);
    for (int i = 0; choices[i]; i++) {
        if (strcmp(choices[i], text) == 0) {
            *out = opt->kind == STK_OPT_LEVEL ? STOKER_LEVEL_HIGH - i : i;
            return true;
        }
    }
    return false;
}

// "slower", "slower=10", "slower=2.5%", "never", or a level.
static bool parse_change(const char *text, int64_t *level, int64_t *millionths)
{
    static const char word[] = "slower";
    int64_t fraction = 0, unit = 10000; // of a percent
    *millionths = 0;
    *level = STOKER_LEVEL_NONE;
    if (strcmp(text, "never") == 0) {
        *level = STK_CHANGE_NEVER;
        return true;
    }
    for (int i = 0; level_names[i]; i++) {
        if (strcmp(level_names[i], text) == 0) {
            *level = STOKER_LEVEL_HIGH - i;
            return true;
        }
    }
    if (strncmp(text, word, strlen(word)) != 0) {
        return false;
    }
    text += strlen(word);
    if (*text == 0) {
        return true;
    }
    const char *end = *text == '=' ? digits(text + 1, millionths) : NULL;
    if (!end || *millionths > 1000000) {
        return false;
    }
    *millionths *= unit;
    if (*end == '.') {
        const char *start = end + 1;
        end = digits(start, &fraction);
        if (!end || end - start > 4) {
            return false;
        }
        for (const char *p = start; p < end; p++) {
            unit /= 10;
        }
        *millionths += fraction * unit;
    }
    return strcmp(end, "") == 0 || strcmp(end, "%") == 0;
}

bool stk_opt_value_parse(const struct stk_opt *opt, const char *text, struct stk_opt_value *v)
{
    STK_ASSERT(text && opt->kind != STK_OPT_FLAG);
    switch (opt->kind) {
    case STK_OPT_COUNT: {
        const char *end = digits(text, &v->number);
        return end && *end == 0;
    }
    case STK_OPT_RANGE:
        return parse_range(text, &v->number, &v->second);
    case STK_OPT_DURATION:
        return parse_duration(text, &v->number);
    case STK_OPT_CHANGE:
        return parse_change(text, &v->number, &v->second);
    case STK_OPT_LEVEL:
    case STK_OPT_FORMAT:
        return parse_choice(opt, text, &v->number);
    case STK_OPT_TEXT:
        return true;
    default:
        return text[0] != 0;
    }
}

static const char *expected(const struct stk_opt *opt, char *buffer, size_t size)
{
    const char *const *choices = stk_opt_choices(opt);
    if (choices) {
        size_t used = 0;
        for (int i = 0; choices[i] && used < size; i++) {
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", i ? ", " : "", choices[i]);
        }
        if (opt->kind == STK_OPT_CHANGE && used < size) {
            snprintf(buffer + used, size - used, ", or slower=PERCENT");
        }
        return buffer;
    }
    return opt->kind == STK_OPT_COUNT      ? "a whole number, 0 or more"
           : opt->kind == STK_OPT_RANGE    ? "step numbers such as 3:5"
           : opt->kind == STK_OPT_DURATION ? "a time with its unit, such as 10ms or 1.5s"
           : opt->kind == STK_OPT_NAME     ? "a name"
           : opt->kind == STK_OPT_TEXT     ? "a text"
           : opt->kind == STK_OPT_LIST     ? "a value"
                                           : "a file";
}

static bool set_value(const struct stk_cmd *cmd, int id, const char *text, struct stk_args *out)
{
    STK_ASSERT(id >= 0 && id < STK_OPT_ID_COUNT);
    const struct stk_opt *opt = &stk_opts[id];
    struct stk_opt_value *v = &out->values[id];
    char buffer[200];
    v->set = true;
    v->text = text;
    if (opt->kind == STK_OPT_FLAG) {
        return true;
    }
    if (!text) {
        stk_usage(cmd, "--%s needs %s", opt->name, expected(opt, buffer, sizeof buffer));
        return false;
    }
    if (opt->kind == STK_OPT_LIST && out->listed_count == STK_ARGS_LISTED) {
        stk_usage(cmd, "--%s was given more than %d times", opt->name, STK_ARGS_LISTED);
        return false;
    }
    if (opt->kind == STK_OPT_LIST && text[0]) {
        out->listed[out->listed_count++] = text;
        return true;
    }
    if (stk_opt_value_parse(opt, text, v)) {
        return true;
    }
    stk_usage(cmd, "--%s: '%s' isn't %s", opt->name, text, expected(opt, buffer, sizeof buffer));
    return false;
}

static void unknown_option(const struct stk_cmd *cmd, const char *word)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const char *best = NULL;
    const char *bare = name + strspn(name, "-");
    for (int id = 0; id < STK_OPT_ID_COUNT; id++) {
        if (stk_cmd_takes(cmd, (enum stk_opt_id)id)) {
            best = stk_near_best(bare, best, stk_opts[id].name);
        }
    }
    if (best) {
        stk_usage(cmd, "no option %s; did you mean --%s?", name, best);
    } else if (strncmp(cmd->words, "-- ", 3) == 0) { // perhaps an option of the command to run
        stk_usage(cmd, "no option %s; put the command after --: stoker %s %s", name, cmd->name,
                  cmd->words);
    } else {
        stk_usage(cmd, "no option %s", name);
    }
}

// "--name", "--name=value", "--name value". In the last form, moves *i past the value.
static bool parse_long(const struct stk_cmd *cmd, int argc, char **argv, int *i,
                       struct stk_args *out)
{
    const char *word = argv[*i], *name = word + 2, *equals = strchr(name, '=');
    int id = find_long(cmd, name, equals ? (size_t)(equals - name) : strlen(name));
    if (id == STK_OPT_ID_NONE || !stk_cmd_takes(cmd, (enum stk_opt_id)id)) {
        unknown_option(cmd, word);
        return false;
    }
    if (stk_opts[id].kind == STK_OPT_FLAG && equals) {
        stk_usage(cmd, "--%s takes no value", stk_opts[id].name);
        return false;
    }
    const char *value = equals ? equals + 1 : NULL;
    if (stk_opts[id].kind != STK_OPT_FLAG && !equals && *i + 1 < argc) {
        value = argv[++*i];
    }
    return set_value(cmd, id, value, out);
}

static bool parse_letters(const struct stk_cmd *cmd, int argc, char **argv, int *i,
                          struct stk_args *out)
{
    for (const char *p = argv[*i] + 1; *p; p++) {
        int id = find_letter(cmd, *p);
        if (id == STK_OPT_ID_NONE || !stk_cmd_takes(cmd, (enum stk_opt_id)id)) {
            unknown_option(cmd, (const char[]){'-', *p, '\0'});
            return false;
        }
        if (stk_opts[id].kind == STK_OPT_FLAG) {
            set_value(cmd, id, NULL, out);
            continue;
        }
        const char *value = p[1] ? p + 1 : *i + 1 < argc ? argv[++*i] : NULL;
        return set_value(cmd, id, value, out);
    }
    return true;
}

static bool check_words(const struct stk_cmd *cmd, const struct stk_args *args)
{
    if (args->values[STK_OPT_ID_HELP].set) {
        return true;
    }
    if (args->word_count < cmd->min_words) {
        stk_usage(cmd, "%s is missing", cmd->words);
        return false;
    }
    if (args->word_count > cmd->max_words) {
        stk_usage(cmd, "unexpected word '%s'", args->words[cmd->max_words]);
        return false;
    }
    return true;
}

bool stk_args_parse(const struct stk_cmd *cmd, int argc, char **argv, struct stk_args *out)
{
    STK_ASSERT(argc >= 0);
    bool only_words = false;
    for (int i = 0; i < argc; i++) {
        const char *word = argv[i];
        bool ok = true;
        if (only_words || word[0] != '-' || !word[1]) {
            out->words[out->word_count++] = word;
        } else if (strcmp(word, "--") == 0 && cmd->has_sides && !out->separator &&
                   out->word_count) {
            out->separator = out->word_count;
        } else if (strcmp(word, "--") == 0) {
            only_words = true;
        } else if (word[1] == '-') {
            ok = parse_long(cmd, argc, argv, &i, out);
        } else {
            ok = parse_letters(cmd, argc, argv, &i, out);
        }
        if (!ok) {
            return false;
        }
    }
    return stk_files_from(cmd, out) && check_words(cmd, out);
}
