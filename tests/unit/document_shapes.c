// SPDX-License-Identifier: Apache-2.0
// Each type and shape of a row, as JSON, as JSON Schema and on a page: known values, unknown
// values, and how these describe each other. Every contract of stoker has only rows that a schema
// can express.
#include "check.h"

#include "results/contracts.h"
#include "results/print/document.h"
#include "results/print/schema.h"
#include "results/view.h"

#include "results/rows_struct.h"

#include "document_shapes.def"

#include "results/rows_end.h"
#include "results/rows_fields.h"

#include "document_shapes.def"

static char output[8192];
static size_t used;

static int take(void *arg, const char *bytes, size_t n)
{
    (void)arg;
    if (used + n + 1 > sizeof output) {
        return -1;
    }
    memcpy(output + used, bytes, n);
    used += n;
    output[used] = 0;
    return 0;
}

static const char *print(const struct stk_sample *s, bool in_line)
{
    struct stk_sink sink;
    used = 0;
    stk_sink_init(&sink, take, NULL);
    stk_json_document(&stk_sample_info, s, in_line, &sink);
    CHECK(stk_sink_finish(&sink, NULL) == STOKER_OK);
    return output;
}

static void little_is_known(void)
{
    const struct stk_inner inner_object = {1, "i"};
    const struct stk_sample s = {
        .schema = "s", .merged = {.object = &inner_object}, .real = 0.1, .word = 9};
    CHECK_STR(print(&s, true),
              "{\"schema\": \"s\", \"count\": 0, \"real\": 0.1, \"share\": 0.0, \"word\": \"\", "
              "\"nullable\": "
              "null, \"texts\": [], "
              "\"line\": [], \"tuples\": [], \"list\": [], \"number\": 1, \"text\": \"i\", "
              "\"apart\": null}\n");
}

static void all_is_known(void)
{
    const struct stk_inner rows[] = {{1, "a"}, {-2, "\"b\""}};
    const char *texts[] = {"x", "y"};
    const int64_t numbers[] = {3, 4};
    const struct stk_entry entries[] = {{.key = "k", .real = 0.5}};
    const struct stk_list list = {.items = rows, .count = 2};
    const struct stk_sample s = {.schema = "s",
                                 .has = true,
                                 .whole = -5,
                                 .count = 3,
                                 .real = 1e300,
                                 .share = 1.0 / 3,
                                 .word = 2,
                                 .maybe = "m",
                                 .nullable = "n",
                                 .here = "h",
                                 .texts = {.items = texts, .count = 2},
                                 .line = {.items = numbers, .count = 2},
                                 .MEMBER = {.items = entries, .count = 1},
                                 .tuples = list,
                                 .list = list,
                                 .merged = {.json = "{\n  \"number\": 7, \"text\": \"t\"\n}\n"},
                                 .apart = {.object = &rows[0]}};
    CHECK_STR(print(&s, true),
              "{\"schema\": \"s\", \"whole\": -5, \"count\": 3, \"real\": 1e+300, \"share\": "
              "0.333333, \"word\": "
              "\"two\", "
              "\"maybe\": \"m\", \"nullable\": \"n\", \"here\": \"h\", \"texts\": [\"x\", \"y\"], "
              "\"line\": [3, 4], \"k\": 0.5, \"tuples\": [[1, \"a\"], [-2, \"\\\"b\\\"\"]], "
              "\"list\": [{\"number\": 1, \"text\": \"a\"}, {\"number\": -2, \"text\": "
              "\"\\\"b\\\"\"}], \"number\": 7, \"text\": \"t\"\n, \"apart\": {\"number\": 1, "
              "\"text\": \"a\"}}\n");
    CHECK(strstr(print(&s, false), "\n  \"texts\": [\n    \"x\",\n    \"y\"\n  ],\n"));
    CHECK(strstr(output, "\n  \"line\": [3, 4],\n  \"k\": 0.5,\n  \"tuples\": [\n    [1, \"a\"],"));
}

static void the_schema_says_so(void)
{
    static const char *const wanted[] = {
        "\"word\": {\"description\": \"of a list\", \"type\": \"string\", \"enum\": [\"zero\", "
        "\"one\", \"two\"]}",
        "\"nullable\": {\"description\": \"null\", \"type\": [\"string\", \"null\"]}",
        "\"share\": {\"description\": \"six decimals\", \"type\": \"number\", \"minimum\": 0, "
        "\"maximum\": 1}",
        "\"whole\": {\"description\": \"known where `has`\", \"type\": \"integer\"}",
        "\"count\": {\"description\": \"never below 0\", \"type\": \"integer\", \"minimum\": 0}",
        "\"required\": [\"schema\", \"count\", \"real\", \"share\", \"word\", \"nullable\", "
        "\"texts\", "
        "\"line\", "
        "\"tuples\", \"list\", \"number\", \"text\", \"apart\"]",
        "\"additionalProperties\": {\"type\": \"number\"}",
        "\"type\": [\"object\", \"null\"]",
    };
    struct stk_sink sink;
    used = 0;
    stk_sink_init(&sink, take, NULL);
    stk_schema_write(&stk_sample_info, &sink);
    CHECK(stk_sink_finish(&sink, NULL) == STOKER_OK);
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        CHECK_SAY(strstr(output, wanted[i]) != NULL, "%s", wanted[i]);
    }
    CHECK(strstr(output, "MEMBER") == NULL && strstr(output, "merged") == NULL);
    used = 0;
    stk_schema_describe(&stk_sample_info, "sample", &sink);
    CHECK(stk_sink_finish(&sink, NULL) == STOKER_OK);
    CHECK(strncmp(output, "\n## The sample\n", 15) == 0 && !strstr(output, "not_in_the_contract"));
    CHECK(strstr(output, "| `MEMBER` | members of real | if known | any |\n"));
    CHECK(strstr(output, "| `number` | number | always | a number |\n"));
    CHECK(strstr(output, "| `apart` | object | or null | elsewhere |\n"));
}

// A type that the printer knows in its shape, a text for people, a structure where one is needed.
static void check_rows(const struct stk_struct_info *info, const char *name, int depth)
{
    CHECK(depth < 12 && info->size > 0);
    for (const struct stk_field *f = info->fields(); f->key && depth < 12; f++) {
        bool is_object = f->type == STK_TYPE_OBJECT;
        CHECK_SAY(*f->key && f->doc && *f->doc, "%s.%s", name, f->key);
        CHECK_SAY(is_object == (f->sub != NULL), "%s.%s", name, f->key);
        CHECK_SAY(f->type != STK_TYPE_WORD || f->choices, "%s.%s", name, f->key);
        if (f->sub) {
            check_rows(f->sub, f->key, depth + 1);
        }
    }
}

static void contracts_are_whole(void)
{
    size_t count = 0;
    for (const struct stk_contract *c = stk_contracts; c->name; c++, count++) {
        char schema[64];
        snprintf(schema, sizeof schema, "stoker.%s/", c->name);
        CHECK_STR(c->info->fields()[0].key, "schema");
        CHECK(strncmp(c->info->fields()[0].choices, schema, strlen(schema)) == 0);
        CHECK(c->page_end > c->page + 20 && *c->page == '#');
        CHECK(stk_contract_find(c->name) == c);
        CHECK_RUN(check_rows, c->info, c->name, 0);
    }
    CHECK(count >= 12 && !stk_contract_find("nothing") && !stk_contract_find(""));
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(little_is_known);
    CHECK_RUN(all_is_known);
    CHECK_RUN(the_schema_says_so);
    CHECK_RUN(contracts_are_whole);
    return check_done("unit.document_shapes");
}
