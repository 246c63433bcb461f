// SPDX-License-Identifier: Apache-2.0
// Concatenates modules in the order of their imports; see bundle.h.
#include "serve/bundle.h"

#include <stdio.h>
#include <string.h>

#include "base/seed.h"
#include "serve/assets.h"

enum { MODULES_MAX = 128, NAME_MAX_CHARS = 64, NONCE_BYTES = 16, NONCE_CHARS = 2 * NONCE_BYTES };

struct order {
    const struct stk_asset *modules[MODULES_MAX];
    size_t count;
};

static bool starts(const char *p, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - p) >= n && memcmp(p, word, n) == 0;
}

// Returns the end of the statement at p; *name: what it imports from, "" if it is not an import.
static const char *pass_import(const char *p, const char *end, char name[NAME_MAX_CHARS])
{
    name[0] = 0;
    if (!starts(p, end, "import ")) {
        return p;
    }
    const char *stop = memchr(p, ';', (size_t)(end - p));
    stop = stop ? stop : end;
    for (const char *q = p; q + 3 < stop; q++) {
        if (starts(q, stop, "'./")) {
            size_t n = strcspn(q + 3, "'");
            if (n < NAME_MAX_CHARS && q + 3 + n < stop) {
                snprintf(name, NAME_MAX_CHARS, "%.*s", (int)n, q + 3);
            }
            break;
        }
    }
    return stop < end ? stop + 1 : end;
}

static const char *next_line(const char *p, const char *end)
{
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    return stop ? stop + 1 : end;
}

static bool is_placed(const struct order *o, const struct stk_asset *a)
{
    for (size_t i = 0; i < o->count; i++) {
        if (o->modules[i] == a) {
            return true;
        }
    }
    return false;
}

// Places its imports first. The number of modules limits the depth: imports have no cycles.
static bool place_module(struct order *o, const char *name, int depth)
{
    const struct stk_asset *a = stk_asset_find(name);
    if (!a || depth > MODULES_MAX) {
        return false;
    }
    const char *p = (const char *)a->bytes, *end = p + a->n;
    char from[NAME_MAX_CHARS];
    while (p < end) {
        p = pass_import(p, end, from);
        if (from[0] && !is_placed(o, stk_asset_find(from)) && !place_module(o, from, depth + 1)) {
            return false;
        }
        p = next_line(p, end);
    }
    if (o->count == MODULES_MAX) {
        return false;
    }
    o->modules[o->count++] = a;
    return true;
}

static void put_module(struct stk_sink *out, const struct stk_asset *a)
{
    const char *p = (const char *)a->bytes, *end = p + a->n;
    char from[NAME_MAX_CHARS];
    while (p < end) {
        const char *line = pass_import(p, end, from), *next = next_line(line, end);
        if (line == p && starts(line, next, "export ")) {
            line += strlen("export ");
        }
        stk_sink_put(out, line, (size_t)(next - line));
        p = next;
    }
    stk_sink_text(out, "\n");
}

static void put_modules(struct stk_sink *out, const struct order *o)
{
    for (size_t i = 0; i < o->count; i++) {
        put_module(out, o->modules[i]);
    }
}

enum stoker_status stk_bundle_script(struct stk_sink *out, struct stoker_err *err)
{
    struct order order = {.count = 0};
    if (!place_module(&order, "main.js", 0)) {
        return stk_err_set(err, STOKER_EBUG,
                           "the built-in pages are incomplete: please report this");
    }
    put_modules(out, &order);
    return STOKER_OK;
}

// A closing tag inside a string would end the script: escape it.
static void put_data(struct stk_sink *out, const char *data, size_t n)
{
    const char *end = data + n;
    for (const char *p = data; p < end;) {
        const char *less = memchr(p, '<', (size_t)(end - p));
        stk_sink_put(out, p, (size_t)((less ? less : end) - p));
        if (less) {
            stk_sink_text(out, "\\u003c");
        }
        p = less ? less + 1 : end;
    }
}

struct page {
    struct stk_sink *out;
    const struct order *order;
    const char *nonce, *data;
    size_t data_n;
};

static void put_scripts(const struct page *g)
{
    stk_sink_text(g->out, "<script type=\"application/json\" id=\"stoker-data\">");
    put_data(g->out, g->data, g->data_n);
    stk_sink_printf(g->out, "</script>\n<script type=\"module\" nonce=\"%s\">\n", g->nonce);
    put_modules(g->out, g->order);
    stk_sink_text(g->out, "</script>\n");
}

static void put_styles(const struct page *g, const struct stk_asset *css)
{
    stk_sink_printf(g->out,
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "script-src 'nonce-%s'; style-src 'nonce-%s'; img-src data:; base-uri 'none'; "
                    "form-action 'none'\">\n<style nonce=\"%s\">\n",
                    g->nonce, g->nonce, g->nonce);
    stk_sink_put(g->out, (const char *)css->bytes, css->n);
    stk_sink_text(g->out, "</style>\n");
}

// Line by line: replaces the style sheet's and the script's lines. Returns how many.
static int put_page(const struct page *g, const struct stk_asset *html, const struct stk_asset *css)
{
    const char *p = (const char *)html->bytes, *end = p + html->n;
    int replaced = 0;
    for (const char *next; p < end; p = next) {
        next = next_line(p, end);
        struct {
            const char *mark;
            bool is_script;
        } marks[] = {{"<script type=\"module\" src=", true}, {"<link rel=\"stylesheet\"", false}};
        bool is_kept = true;
        for (size_t i = 0; i < 2; i++) {
            if (memmem(p, (size_t)(next - p), marks[i].mark, strlen(marks[i].mark))) {
                is_kept = false;
                replaced++;
                if (marks[i].is_script) {
                    put_scripts(g);
                } else {
                    put_styles(g, css);
                }
            }
        }
        if (is_kept) {
            stk_sink_put(g->out, p, (size_t)(next - p));
        }
    }
    return replaced;
}

enum stoker_status stk_bundle_write(const char *data, size_t n, struct stk_sink *out,
                                    struct stoker_err *err)
{
    const struct stk_asset *html = stk_asset_find("index.html"), *css = stk_asset_find("style.css");
    struct order order = {.count = 0};
    unsigned char random[NONCE_BYTES];
    char nonce[NONCE_CHARS + 1];
    if (!html || !css || !place_module(&order, "main.js", 0)) {
        return stk_err_set(err, STOKER_EBUG,
                           "the built-in pages are incomplete: please report this");
    }
    if (!stk_random_fill(random, sizeof random, true)) {
        return stk_err_set(err, STOKER_EBUG, "the system provides no random bytes");
    }
    for (int i = 0; i < NONCE_BYTES; i++) {
        snprintf(nonce + 2 * i, 3, "%02x", random[i]);
    }
    const struct page page = {out, &order, nonce, data, n};
    if (put_page(&page, html, css) != 2) {
        return stk_err_set(err, STOKER_EBUG,
                           "the built-in page has unexpected parts: please report this");
    }
    return STOKER_OK;
}
