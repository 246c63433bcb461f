// SPDX-License-Identifier: Apache-2.0
// Turns conditions from SQLite (xBestIndex, xFilter) into filters of a scan, with SQLite's own
// rules for mixed types: a number is less than any text, null is equal to nothing. Patterns (LIKE,
// GLOB) are matched once per distinct name.
#include <math.h>

#include "base/alloc.h"
#include "answers/query/sql_impl.h"

static const char operators[] = "=>g<l"; // by enum stk_query_op

static char number_operator(unsigned char op)
{
    switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
        return '=';
    case SQLITE_INDEX_CONSTRAINT_GT:
        return '>';
    case SQLITE_INDEX_CONSTRAINT_GE:
        return 'g';
    case SQLITE_INDEX_CONSTRAINT_LT:
        return '<';
    case SQLITE_INDEX_CONSTRAINT_LE:
        return 'l';
    default:
        return 0;
    }
}

static char text_operator(enum stk_query_field field, unsigned char op)
{
    if (field != STK_FIELD_NAME && field != STK_FIELD_KIND && field != STK_FIELD_DEVICE) {
        return 0;
    }
    if (op == SQLITE_INDEX_CONSTRAINT_EQ) {
        return '=';
    }
    if (field != STK_FIELD_NAME) {
        return 0;
    }
    return op == SQLITE_INDEX_CONSTRAINT_LIKE ? 'L' : op == SQLITE_INDEX_CONSTRAINT_GLOB ? 'G' : 0;
}

bool stk_sql_filter_takes(const struct stk_sql_table *table, sqlite3_index_info *info, int i,
                          char pair[2])
{
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    if (!c->usable || c->iColumn >= (int)table->column_count) {
        return false;
    }
    enum stk_query_field field =
        c->iColumn < 0 ? STK_FIELD_ID : (enum stk_query_field)table->columns[c->iColumn].field;
    bool text = stk_query_field_is_text(field);
    if (text && c->op == SQLITE_INDEX_CONSTRAINT_EQ &&
        strcmp(sqlite3_vtab_collation(info, i), "BINARY") != 0) {
        return false;
    }
    pair[0] = (char)('A' + field);
    pair[1] = text ? text_operator(field, c->op) : number_operator(c->op);
    return pair[1] != 0;
}

void stk_sql_names_free(struct stk_sql_names *n, const struct stk_query *q)
{
    for (uint32_t i = 0; n->takes && i < q->trace_count; i++) {
        stk_free(n->takes[i]);
    }
    stk_free(n->takes);
    stk_free(n->names);
    stk_free(n->pattern);
    *n = (struct stk_sql_names){.names = NULL};
}

static bool add_number(struct stk_query_scan *s, enum stk_query_field field, enum stk_query_op op,
                       sqlite3_value *arg)
{
    double real, whole;
    switch (sqlite3_value_numeric_type(arg)) {
    case SQLITE_INTEGER:
        return stk_query_scan_add(s, field, op, sqlite3_value_int64(arg));
    case SQLITE_NULL:
        s->nothing = true;
        return true;
    case SQLITE_FLOAT:
        break;
    default: // text, blob: above every number
        s->nothing |= op == STK_OP_EQ || op == STK_OP_GT || op == STK_OP_GE;
        return s->nothing || stk_query_scan_add(s, field, STK_OP_LE, INT64_MAX); // not null
    }
    real = sqlite3_value_double(arg);
    if (real >= 9223372036854775808.0 || real < -9223372036854775808.0) {
        bool above = real > 0;
        bool all = above ? op == STK_OP_LT || op == STK_OP_LE : op == STK_OP_GT || op == STK_OP_GE;
        s->nothing |= !all;
        return s->nothing || stk_query_scan_add(s, field, STK_OP_LE, INT64_MAX);
    }
    whole = floor(real);
    if (whole == real) {
        return stk_query_scan_add(s, field, op, (int64_t)whole);
    }
    s->nothing |= op == STK_OP_EQ;
    return s->nothing ||
           stk_query_scan_add(s, field, op == STK_OP_GT || op == STK_OP_GE ? STK_OP_GT : STK_OP_LE,
                              (int64_t)whole);
}

// Allocates a filter on the names of every trace, which first lets all pass.
static bool names_begin(struct stk_query_scan *s, struct stk_sql_names *n)
{
    if (!n->names) {
        n->names = stk_alloc_zero((size_t)s->q->trace_count + 1, sizeof *n->names);
    }
    if (!n->names) {
        return false;
    }
    for (uint32_t i = 0; !s->names && i < s->q->trace_count; i++) {
        n->names[i] = (struct stk_scan_names){.any = true};
    }
    s->names = n->names;
    return true;
}

// The id of a text among a trace's names, or STK_NONE.
static uint32_t name_id(const struct stk_trace *t, struct stk_str text)
{
    if (text.n == 0) {
        return 0;
    }
    uint32_t id = stk_strpool_find(&t->strings, text.p, text.n);
    if (id != STK_STRPOOL_FAILED) {
        return id;
    }
    for (id = 0; id < t->strings.count; id++) { // replaced strings are not found above
        if (stk_str_eq(stk_strpool_get(&t->strings, id), text)) {
            return id;
        }
    }
    return STK_NONE;
}

static bool filter_add_name(struct stk_query_scan *s, struct stk_sql_names *n, struct stk_str text)
{
    if (!names_begin(s, n)) {
        return false;
    }
    for (uint32_t i = 0; i < s->q->trace_count; i++) {
        struct stk_scan_names *names = &n->names[i];
        uint32_t id = name_id(s->q->traces[i].t, text);
        bool passed =
            names->any || (names->takes ? id != STK_NONE && names->takes[id] : names->only == id);
        *names = (struct stk_scan_names){.only = passed ? id : STK_NONE};
    }
    return true;
}

static bool filter_matches(char op, const char *pattern, const char *text)
{
    return op == 'G' ? sqlite3_strglob(pattern, text) == 0 : sqlite3_strlike(pattern, text, 0) == 0;
}

// Keeps a single pattern with the cursor: joins use the same one repeatedly.
static bool add_pattern(struct stk_query_scan *s, struct stk_sql_names *n, char op,
                        const char *pattern)
{
    size_t size = strlen(pattern) + 2;
    bool fresh = s->names == NULL;
    bool known = fresh && n->pattern && n->pattern[0] == op && strcmp(n->pattern + 1, pattern) == 0;
    if (!names_begin(s, n)) {
        return false;
    }
    if (!n->takes) {
        n->takes = stk_alloc_zero((size_t)s->q->trace_count + 1, sizeof *n->takes);
    }
    if (!n->takes) {
        return false;
    }
    for (uint32_t i = 0; i < s->q->trace_count; i++) {
        const struct stk_trace *t = s->q->traces[i].t;
        struct stk_scan_names *names = &n->names[i];
        if (!names->any && !names->takes) { // only one name is left: check just that
            if (names->only != STK_NONE &&
                !filter_matches(op, pattern, stk_strpool_get(&t->strings, names->only).p)) {
                names->only = STK_NONE;
            }
            continue;
        }
        if (!n->takes[i]) {
            n->takes[i] = stk_alloc_array((size_t)t->strings.count + 1, 1);
        }
        if (!n->takes[i]) {
            return false;
        }
        for (uint32_t id = 0; id < t->strings.count && !known; id++) {
            if (names->any || n->takes[i][id]) {
                n->takes[i][id] = filter_matches(op, pattern, stk_strpool_get(&t->strings, id).p);
            } else {
                n->takes[i][id] = 0;
            }
        }
        *names = (struct stk_scan_names){.takes = n->takes[i]};
    }
    stk_free(n->pattern);
    n->pattern = fresh ? stk_alloc(size) : NULL;
    if (n->pattern) {
        n->pattern[0] = op;
        memcpy(n->pattern + 1, pattern, size - 1);
    }
    return true;
}

static void add_kind(struct stk_query_scan *s, struct stk_str text)
{
    uint32_t mask = 0;
    for (int k = 0; k < STK_KIND_COUNT; k++) {
        if (stk_str_eq(text, stk_str_from(stk_kind_key((enum stk_kind)k)))) {
            mask |= 1u << k;
        }
    }
    s->kinds &= mask;
}

// The device's id is in the query's arena, so it outlives the scan.
static void add_device(struct stk_query_scan *s, struct stk_str text)
{
    for (uint32_t i = 0; i < s->q->trace_count; i++) {
        for (uint32_t k = 0; k < s->q->traces[i].t->track_count; k++) {
            const char *device = s->q->traces[i].tracks[k].device;
            if (!device || !stk_str_eq(stk_str_from(device), text)) {
                continue;
            }
            s->nothing |= s->device.p && !stk_str_eq(s->device, text);
            s->device = stk_str_from(device);
            return;
        }
    }
    s->nothing = true;
}

static bool add_text(struct stk_query_scan *s, struct stk_sql_names *names,
                     enum stk_query_field field, char op, sqlite3_value *arg)
{
    struct stk_str text = {(const char *)sqlite3_value_text(arg), 0};
    if (!text.p) {
        s->nothing = sqlite3_value_type(arg) == SQLITE_NULL;
        return s->nothing;
    }
    text.n = (size_t)sqlite3_value_bytes(arg);
    // A blob never equals a text.
    if (op == '=' && sqlite3_value_type(arg) == SQLITE_BLOB) {
        s->nothing = true;
    } else if (op != '=') {
        return add_pattern(s, names, op, text.p);
    } else if (field == STK_FIELD_NAME) {
        return filter_add_name(s, names, text);
    } else if (field == STK_FIELD_KIND) {
        add_kind(s, text);
    } else {
        add_device(s, text);
    }
    return true;
}

int stk_sql_filter_apply(struct stk_query_scan *s, struct stk_sql_names *names, const char *plan,
                         int argc, sqlite3_value **argv)
{
    for (int i = 0; i < argc; i++) {
        enum stk_query_field field = (enum stk_query_field)(plan[2 * i] - 'A');
        char op = plan[2 * i + 1];
        bool ok = stk_query_field_is_text(field)
                      ? add_text(s, names, field, op, argv[i])
                      : add_number(s, field, (enum stk_query_op)(strchr(operators, op) - operators),
                                   argv[i]);
        if (!ok) {
            return SQLITE_NOMEM;
        }
    }
    return SQLITE_OK;
}
