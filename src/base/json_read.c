// SPDX-License-Identifier: Apache-2.0
// Checks the text as a whole first (json_check.h), so the code after it only has to split it.
#include "base/json_read.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/json_check.h"

struct reading {
    char *p;
    struct stk_json_value *values;
    size_t count, most;
};

static void skip(struct reading *r)
{
    r->p += strspn(r->p, " \t\r\n");
}

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        to[0] = (char)(0xe0 | c >> 12);
        to[1] = (char)(0x80 | (c >> 6 & 0x3f));
        to[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    to[0] = (char)(0xf0 | c >> 18);
    to[1] = (char)(0x80 | (c >> 12 & 0x3f));
    to[2] = (char)(0x80 | (c >> 6 & 0x3f));
    to[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

static uint32_t hex4(const char *p)
{
    char digits[5] = {p[0], p[1], p[2], p[3], 0};
    return (uint32_t)strtoul(digits, NULL, 16);
}

// After \u; *p moves past its digits, and past those of a second half. An unpaired half: U+FFFD.
static uint32_t code_point(char **p)
{
    uint32_t c = hex4(*p);
    *p += 4;
    if (c >= 0xd800 && c < 0xdc00 && (*p)[0] == '\\' && (*p)[1] == 'u') {
        uint32_t low = hex4(*p + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            *p += 6;
            return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return c >= 0xd800 && c < 0xe000 ? 0xfffd : c;
}

// The decoded text is never longer than the source. NULL: it contains U+0000.
static char *string(struct reading *r)
{
    static const char escapes[] = "b\bf\fn\nr\rt\t";
    char *start = ++r->p, *to = start;
    while (*r->p != '"') {
        char c = *r->p++;
        if (c == '\\' && *r->p == 'u') {
            r->p++;
            uint32_t code = code_point(&r->p);
            if (code == 0) {
                return NULL;
            }
            to += put_utf8(to, code);
            continue;
        }
        if (c == '\\') {
            const char *escape = strchr(escapes, *r->p++);
            c = escape && (escape - escapes) % 2 == 0 ? escape[1] : r->p[-1];
        }
        *to++ = c;
    }
    r->p++;
    *to = 0;
    return start;
}

static bool value(struct reading *r);

static bool members(struct reading *r, bool is_object)
{
    char end = is_object ? '}' : ']';
    for (r->p++, skip(r); *r->p != end; skip(r)) {
        if (!value(r)) {
            return false;
        }
        skip(r);
        if (*r->p == ':' || *r->p == ',') {
            r->p++;
        }
    }
    r->p++;
    return true;
}

static bool value(struct reading *r)
{
    if (r->count == r->most) {
        return false;
    }
    struct stk_json_value *v = &r->values[r->count++];
    size_t first = r->count - 1;
    bool is_good = true;
    *v = (struct stk_json_value){0};
    skip(r);
    if (*r->p == '{' || *r->p == '[') {
        v->kind = *r->p == '{' ? STK_JSON_OBJECT : STK_JSON_ARRAY;
        is_good = members(r, *r->p == '{');
    } else if (*r->p == '"') {
        v->kind = STK_JSON_STRING;
        v->text = string(r);
        is_good = v->text != NULL;
    } else {
        v->kind = *r->p == 'n'   ? STK_JSON_NULL
                  : *r->p == 'f' ? STK_JSON_FALSE
                  : *r->p == 't' ? STK_JSON_TRUE
                                 : STK_JSON_NUMBER;
        v->text = v->kind == STK_JSON_NUMBER ? r->p : NULL;
        r->p += strcspn(r->p, " \t\r\n,:]}");
    }
    v->after = r->count - first;
    return is_good;
}

// Numbers end where something else starts: their terminators are written after everything is read.
bool stk_json_read(char *text, size_t n, struct stk_json_value *values, size_t most)
{
    struct reading r = {text, values, 0, most};
    STK_ASSERT(text && values && most > 0 && text[n] == 0);
    if (strlen(text) != n || !stk_json_is_value(text, n) || !value(&r)) {
        return false;
    }
    for (size_t i = 0; i < r.count; i++) {
        if (values[i].kind == STK_JSON_NUMBER) {
            values[i].text[strspn(values[i].text, "+-.0123456789eE")] = 0;
        }
    }
    return true;
}

const struct stk_json_value *stk_json_member(const struct stk_json_value *object, const char *name)
{
    STK_ASSERT(name);
    if (!object || object->kind != STK_JSON_OBJECT) {
        return NULL;
    }
    const struct stk_json_value *end = object + object->after;
    for (const struct stk_json_value *key = object + 1; key < end; key += 1 + key[1].after) {
        if (strcmp(key->text, name) == 0) {
            return key + 1;
        }
    }
    return NULL;
}

const char *stk_json_member_text(const struct stk_json_value *object, const char *name)
{
    const struct stk_json_value *v = stk_json_member(object, name);
    return v && v->kind == STK_JSON_STRING ? v->text : NULL;
}
