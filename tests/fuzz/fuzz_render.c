// SPDX-License-Identifier: Apache-2.0
// libFuzzer target of what stoker prints: reports and tables made of choices, with any bytes where
// a profile, a path or a query may put them, in every format and at every width.
//
// Text: nothing moves the cursor or turns what is read around, whatever it is called; ASCII where
// that was asked for; a table that an analysis made keeps to the width from 80 columns on. JSON is
// JSON, and ASCII or UTF-8; CSV has a field for each column in each row.
#include "fuzz_output.h"

#include "results/print/out.h"
#include "results/table.h"

enum { TEXT_MAX = 60, LIST_MAX = 4, COLUMNS = 6, ROWS_MAX = 5 };

static struct stk_arena arena;

// ---- what is printed ----

static void *room(size_t count, size_t size)
{
    void *p = stk_arena_array(&arena, count + 1, size);
    FUZZ_REQUIRE(p);
    memset(p, 0, (count + 1) * size);
    return p;
}

// Any bytes but NUL; now and then a character that terminals obey, or a long word.
static const char *text(struct fuzz_choices *c)
{
    static const char *const odd[] = {"",
                                      "\033[2J\033]0;title\a",
                                      "\u202eesrever\u2066\u2069\u200f\u061c",
                                      "\u2028\u2029\xc2\x85\xc2\x9b\x33\x31m",
                                      "=HYPERLINK(\"http://x\")",
                                      "void at::native::(anonymous namespace)::k<float, 4>(float*)",
                                      "/a/very/long/path/of/a/profile/that/does/not/fit/x.json.gz",
                                      "line\nbreak\ttab\rreturn \"quoted\", \\ and comma",
                                      "98% of 4 812 330 ns",
                                      "\xff\xfe\xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80"};
    uint32_t which = fuzz_choose(c, 30);
    size_t n, kept = 0;
    if (which < sizeof odd / sizeof odd[0]) {
        return odd[which];
    }
    const uint8_t *p = fuzz_bytes(c, TEXT_MAX, &n);
    size_t times = which == 29 ? 20 : 1;
    char *out = room(n * times, 1);
    for (size_t i = 0; i < n * times; i++) {
        if (p[i % n]) {
            out[kept++] = (char)p[i % n];
        }
    }
    return out;
}

// One of "a|b|c".
static const char *one_of(struct fuzz_choices *c, const char *choices)
{
    uint32_t count = 1;
    for (const char *p = choices; *p; p++) {
        count += *p == '|';
    }
    for (uint32_t skip = fuzz_choose(c, count); skip > 0; skip--) {
        choices = strchr(choices, '|') + 1;
    }
    size_t n = strcspn(choices, "|");
    char *out = room(n, 1);
    memcpy(out, choices, n);
    return out;
}

static uint32_t words_of(const struct stk_field *f)
{
    char word[STK_FIELD_WORD_MAX];
    uint32_t count = 0;
    while (stk_field_word(f, count, word)) {
        count++;
    }
    return count;
}

// Up to 1 where it is a share.
static double ratio(struct fuzz_choices *c, bool is_share)
{
    static const double some[] = {0, 0.001, 0.25, 0.5, 0.999, 1, 1.5e9, 1e300};
    return some[fuzz_choose(c, is_share ? 6 : 8)];
}

static void fill(const struct stk_struct_info *info, char *object, struct fuzz_choices *c);

static void fill_list(const struct stk_field *f, struct stk_list *list, struct fuzz_choices *c)
{
    size_t n = fuzz_choose(c, LIST_MAX);
    bool is_map = f->shape == STK_SHAPE_MAP, is_text = f->type == STK_TYPE_TEXT;
    size_t size = f->type == STK_TYPE_OBJECT ? f->sub->size
                  : is_map                   ? sizeof(struct stk_entry)
                  : is_text                  ? sizeof(const char *)
                                             : sizeof(int64_t);
    char *items = room(n, size);
    for (size_t i = 0; i < n; i++) {
        char *at = items + i * size;
        if (f->type == STK_TYPE_OBJECT) {
            fill(f->sub, at, c);
        } else if (is_map) {
            *(struct stk_entry *)(void *)at = (struct stk_entry){text(c), {fuzz_number(c)}};
        } else if (is_text) {
            *(const char **)(void *)at = text(c);
        } else {
            *(int64_t *)(void *)at = fuzz_number(c);
        }
    }
    *list = (struct stk_list){.items = items, .count = n, .left_out = fuzz_choose(c, 3)};
}

// Every field of a struct of the report, by its table.
static void fill(const struct stk_struct_info *info, char *object, struct fuzz_choices *c)
{
    for (const struct stk_field *f = info->fields(); f->key; f++) {
        void *at = object + f->offset;
        bool may_lack = f->has_offset == STK_FIELD_IF_SET, is_known = true;
        if (f->has_offset < STK_FIELD_IF_SET) {
            is_known = fuzz_choose(c, 4) > 0;
            *(bool *)(void *)(object + f->has_offset) = is_known;
        }
        if (f->shape == STK_SHAPE_LEFT_OUT || f->shape == STK_SHAPE_VALUES) {
            continue; // of a list that has its own row; of units of their own
        }
        if (f->shape != STK_SHAPE_ONE) {
            fill_list(f, at, c);
            continue;
        }
        switch (f->type) {
        case STK_TYPE_TEXT:
            if (!may_lack || fuzz_choose(c, 3)) {
                *(const char **)at = f->choices ? one_of(c, f->choices) : text(c);
            }
            break;
        case STK_TYPE_WORD:
            *(unsigned *)at = fuzz_choose(c, words_of(f) + may_lack);
            break;
        case STK_TYPE_COUNT:
        case STK_TYPE_BYTES:
        case STK_TYPE_NS:
        case STK_TYPE_NUMBER:
            *(int64_t *)at = fuzz_number(c);
            break;
        case STK_TYPE_BOOL:
            *(bool *)at = fuzz_choose(c, 2);
            break;
        case STK_TYPE_OBJECT:
            fill(f->sub, at, c);
            break;
        default:
            *(double *)at = ratio(c, f->type == STK_TYPE_SHARE);
        }
    }
}

// What the fields do not say: labels, and that the shares of parts are those of one whole.
static void mend_parts(struct stk_list *list, struct fuzz_choices *c)
{
    struct stk_rep_part *p = (struct stk_rep_part *)(uintptr_t)list->items;
    static const char *const groups[] = {"compute", "input", "host", NULL};
    for (size_t i = 0; i < list->count; i++) {
        p[i].share = 1.0 / (double)list->count;
        p[i].group = groups[fuzz_choose(c, 4)];
        p[i].label = fuzz_choose(c, 2) ? "a label" : NULL;
    }
}

static struct stk_report *make_report(struct fuzz_choices *c)
{
    struct stk_report *r = room(1, sizeof *r);
    fill(&stk_report_info, (char *)r, c);
    mend_parts(&r->breakdown.parts, c);
    mend_parts(&r->breakdown.median_step.parts, c);
    return r;
}

static struct stk_cell cell_of(enum stk_type type, struct fuzz_choices *c)
{
    if (fuzz_choose(c, 6) == 1) {
        return stk_cell_unknown();
    }
    switch (type) {
    case STK_TYPE_TEXT:
        return stk_cell_text(text(c));
    case STK_TYPE_SHARE:
    case STK_TYPE_RATE:
    case STK_TYPE_REAL:
        return stk_cell_ratio(ratio(c, type == STK_TYPE_SHARE));
    case STK_TYPE_BOOL:
        return stk_cell_truth(fuzz_choose(c, 2));
    default:
        return stk_cell_number(fuzz_number(c));
    }
}

// As an analysis makes it, with a name first; or as a query does, whose headings the user chose.
static void make_table(struct stk_table_doc *doc, bool is_query, struct fuzz_choices *c)
{
    static const char *const ids[COLUMNS] = {"name",  "total_ns",    "size_bytes",
                                             "share", "bytes_per_s", "id"};
    struct stk_table_info *info = room(1, sizeof *info);
    struct stk_column *columns = room(COLUMNS, sizeof *columns);
    size_t count = 1 + fuzz_choose(c, COLUMNS);
    for (size_t k = 0; k < count; k++) {
        enum stk_type type = (enum stk_type)fuzz_choose(c, STK_TYPE_REAL + 1);
        type = k == 0 ? STK_TYPE_TEXT : type == STK_TYPE_TEXT && !is_query ? STK_TYPE_NS : type;
        columns[k] = (struct stk_column){
            .id = is_query ? text(c) : ids[k],
            .type = type,
            .at = k,
            .doc = "",
            .is_name = type == STK_TYPE_TEXT,
            .is_path = k == 0 && fuzz_choose(c, 4) == 1,
            .is_detail = k > 1 && !is_query, // else numbers alone may fill a line
            .is_given = is_query};
    }
    *info = (struct stk_table_info){"rows", "Rows", columns, count};
    struct stk_table *t = stk_table_add(doc, info);
    for (uint32_t rows = fuzz_choose(c, ROWS_MAX); rows > 0; rows--) {
        struct stk_cell *cells = stk_table_row(t);
        FUZZ_REQUIRE(cells);
        for (size_t k = 0; k < count; k++) {
            cells[k] = cell_of(columns[k].type, c);
        }
    }
}

static void make_tables(struct stk_table_doc *doc, bool is_query, struct fuzz_choices *c)
{
    stk_table_doc_init(doc, &arena, "fuzzed");
    fill(&stk_rep_profile_info, (char *)&doc->profile, c);
    doc->profile.selection.count = 0; // sentences of ours, which may be longer than a line
    for (uint32_t n = 1 + fuzz_choose(c, 2); n > 0; n--) {
        make_table(doc, is_query, c);
    }
    FUZZ_REQUIRE(stk_table_check(doc) == NULL);
}

// ---- what came out ----

static void check_csv(const struct stk_table *t)
{
    size_t fields = 1, lines = 0;
    bool is_quoted = false;
    for (const char *p = fuzz_output.bytes; *p; p++) {
        if (*p == '"') {
            is_quoted = !is_quoted;
        } else if (!is_quoted && *p == ',') {
            fields++;
        } else if (!is_quoted && *p == '\n') {
            FUZZ_REQUIRE(fields == t->column_count);
            fields = 1;
            lines++;
        }
    }
    FUZZ_REQUIRE(!is_quoted && lines == t->row_count + 1);
}

static void print_tables(const struct stk_out_options *o, bool is_query, struct fuzz_choices *c)
{
    struct stk_table_doc doc;
    make_tables(&doc, is_query, c);
    const char *const *names = stk_out_names("table");
    for (size_t i = 0; names[i]; i++) {
        struct stk_sink sink;
        struct stoker_err err;
        fuzz_output.n = 0;
        stk_sink_init(&sink, fuzz_take, NULL);
        stk_out_find("table", names[i])->write(&doc, o, &sink);
        FUZZ_REQUIRE(stk_sink_finish(&sink, &err) == STOKER_OK);
        if (strcmp(names[i], "text") == 0) {
            fuzz_check_text(o->colour, o->ascii, is_query || o->columns < 80 ? 0 : o->columns);
        } else if (strcmp(names[i], "json") == 0) {
            fuzz_check_json();
        } else if (strcmp(names[i], "csv") == 0) {
            check_csv(&doc.tables[0]);
        }
    }
    stk_table_doc_deinit(&doc);
}

static void print_report(const struct stk_out_options *o, struct fuzz_choices *c)
{
    const struct stk_report *r = make_report(c);
    const char *const *names = stk_out_names("report");
    for (size_t i = 0; names[i]; i++) {
        struct stk_sink sink;
        struct stoker_err err;
        fuzz_output.n = 0;
        stk_sink_init(&sink, fuzz_take, NULL);
        stk_out_find("report", names[i])->write(r, o, &sink);
        FUZZ_REQUIRE(stk_sink_finish(&sink, &err) == STOKER_OK);
        if (strcmp(names[i], "text") == 0) {
            fuzz_check_text(o->colour, o->ascii, 0);
        } else if (strcmp(names[i], "json") == 0) {
            fuzz_check_json();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_choices c = {data, size};
    uint8_t how = fuzz_byte(&c);
    struct stk_out_options o = {.colour = how & 1,
                                .ascii = how >> 1 & 1,
                                .verbosity = (int)(how >> 2) % 3 - 1,
                                .columns = 40 + (int)fuzz_choose(&c, 81)};
    stk_arena_init(&arena, 0);
    if (how >> 4 & 1) {
        print_report(&o, &c);
    } else {
        print_tables(&o, how >> 5 & 1, &c);
    }
    stk_arena_deinit(&arena);
    return 0;
}

FUZZ_MAIN(fuzz_once, 3000)
