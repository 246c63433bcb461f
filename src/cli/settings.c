// SPDX-License-Identifier: Apache-2.0
// A reader of a part of TOML, character by character; see settings.h. Names and values stay in the
// file's text, which is cut into strings.
#include "cli/settings.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/plain_file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/screen.h"

#define FILE_NAME "stoker.toml"
enum { BYTES_MAX = 64 * 1024 };

static const struct {
    const char *section, *key;
    bool is_array;
} KNOWN[] = {{"why", "fail-on", false},
             {"why", "ignore", true},
             {"why", "baseline", false},
             {"diff", "fail-on", false}};

struct parse {
    struct stk_settings *out;
    char *p;
    int line;
    const char *section;
};

static bool STK_PRINTF(2, 3) wrong(const struct parse *t, const char *fmt, ...)
{
    char text[300];
    va_list ap;
    va_start(ap, fmt);
    stk_text_vprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "stoker: error: %s:%d: ", FILE_NAME, t->line);
    stk_screen_put(stderr, text, STK_SCREEN_ALL);
    fputc('\n', stderr);
    return false;
}

// Skips blanks and comments, and with `lines` also line ends.
static void skip(struct parse *t, bool lines)
{
    for (;; t->p++) {
        if (*t->p == '#') {
            t->p += strcspn(t->p, "\n");
        }
        if (*t->p == '\n' && lines) {
            t->line++;
        } else if (*t->p != ' ' && *t->p != '\t' && *t->p != '\r') {
            return;
        }
    }
}

// A name of letters, digits, - and _, which ends at *end; or NULL.
static char *name(struct parse *t, char **end)
{
    char *start = t->p;
    size_t n = strspn(start, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");
    t->p += n;
    *end = t->p;
    return n ? start : NULL;
}

// -1: unknown.
static int known(const char *section, const char *key)
{
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        if (strcmp(KNOWN[i].section, section) == 0 && (!key || strcmp(KNOWN[i].key, key) == 0)) {
            return (int)i;
        }
    }
    return -1;
}

static bool header(struct parse *t)
{
    char *end;
    STK_ASSERT(*t->p == '[');
    t->p++;
    char *section = name(t, &end);
    if (!section || *end != ']') {
        return wrong(t, "a table is needed, such as [why]");
    }
    *end = 0;
    t->p = end + 1;
    t->section = section;
    return known(section, NULL) >= 0 ||
           wrong(t, "no table [%s]; there are [why] and [diff]", section);
}

static bool value(struct parse *t, const char *key)
{
    struct stk_settings *s = t->out;
    char *start = t->p + 1;
    size_t n = *t->p == '"' ? strcspn(start, "\"\\\n") : 0;
    if (*t->p != '"' || start[n] != '"') {
        return wrong(t, "%s: a text in double quotes without \\ is needed", key);
    }
    if (s->count == STK_SETTINGS_VALUES) {
        return wrong(t, "more than %d values", STK_SETTINGS_VALUES);
    }
    start[n] = 0;
    t->p = start + n + 1;
    s->rows[s->count++] = (struct stk_setting){t->section, key, start, t->line};
    return true;
}

static bool array(struct parse *t, const char *key)
{
    STK_ASSERT(*t->p == '[');
    for (t->p++, skip(t, true); *t->p != ']'; skip(t, true)) {
        if (!value(t, key)) {
            return false;
        }
        skip(t, true);
        if (*t->p == ',') {
            t->p++;
        } else if (*t->p != ']') {
            return wrong(t, "%s: , or ] is needed", key);
        }
    }
    t->p++;
    return true;
}

static bool pair(struct parse *t)
{
    char *end, *key = name(t, &end);
    skip(t, false);
    if (!key || *t->p != '=') {
        return wrong(t, "key = \"value\" is needed");
    }
    t->p++;
    *end = 0;
    int row = t->section ? known(t->section, key) : -1;
    if (row < 0) {
        return wrong(t, "no key %s in [%s]; [why] has fail-on, ignore and baseline, [diff] fail-on",
                     key, t->section ? t->section : "");
    }
    if (stk_settings_find(t->out, t->section, key)) {
        return wrong(t, "%s is set twice", key);
    }
    skip(t, false);
    if (KNOWN[row].is_array != (*t->p == '[')) {
        return wrong(t,
                     KNOWN[row].is_array ? "%s: an array is needed: [\"RULE\"]"
                                         : "%s: one text is needed",
                     key);
    }
    return KNOWN[row].is_array ? array(t, key) : value(t, key);
}

static bool parse(struct stk_settings *s)
{
    struct parse t = {.out = s, .p = s->text, .line = 1};
    for (skip(&t, true); *t.p; skip(&t, true)) {
        if (!(*t.p == '[' ? header(&t) : pair(&t))) {
            return false;
        }
        skip(&t, false);
        if (*t.p && *t.p != '\n') {
            return wrong(&t, "nothing may follow a value on its line");
        }
    }
    return true;
}

int stk_settings_read(struct stk_settings *s)
{
    size_t n = 0;
    *s = (struct stk_settings){.text = stk_plain_text(AT_FDCWD, FILE_NAME, BYTES_MAX, &n)};
    if (!s->text || (strlen(s->text) == n && n < BYTES_MAX && parse(s))) {
        return STK_EXIT_DONE;
    }
    if (strlen(s->text) != n || n == BYTES_MAX) {
        fprintf(stderr, "stoker: error: %s: not a text of at most 64 KiB\n", FILE_NAME);
    }
    stk_settings_free(s);
    return STK_EXIT_USAGE;
}

void stk_settings_free(struct stk_settings *s)
{
    stk_free(s->text);
    *s = (struct stk_settings){0};
}

const struct stk_setting *stk_settings_find(const struct stk_settings *s, const char *section,
                                            const char *key)
{
    STK_ASSERT(s && section && key);
    for (size_t i = 0; i < s->count; i++) {
        if (strcmp(s->rows[i].section, section) == 0 && strcmp(s->rows[i].key, key) == 0) {
            return &s->rows[i];
        }
    }
    return NULL;
}
