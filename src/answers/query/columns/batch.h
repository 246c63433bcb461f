// SPDX-License-Identifier: Apache-2.0
// SELECTs over one table of events, answered by columns: expressions are evaluated for batches of
// 1024 events at a time, on all processors, instead of row by row in SQLite. The result is a few
// rows (groups, or the first rows of an order), which SQLite then sees instead of the table: it
// still handles HAVING, ORDER BY, LIMIT and expressions around aggregates (sql_batch.c).
//
// The values are SQLite's: whole division and remainder, nulls, comparison of whole and real
// numbers. Every expression has one type for all rows; if SQLite's type would change from row to
// row (whole numbers that overflow to real ones, branches of different types), the statement is
// refused, before or while it runs, and SQLite answers it alone. Sums of real numbers are
// compensated, so they may differ from SQLite's in the last digits.
//
// An expression that depends only on an event's name, its track, its kind and way, or the name of
// its launch call is evaluated by SQLite, once for each of those (a dictionary); so are LIKE,
// REGEXP and all functions of texts. Texts are numbers here: ids of distinct strings, in SQLite's
// order if that matters.
#pragma once

#include "answers/query/event_scan.h"
#include "answers/query/columns/sql_parse.h"

#define STK_BATCH_ROWS 1024
#define STK_BATCH_KEYS_MAX 16
#define STK_BATCH_SUMS_MAX 32
#define STK_BATCH_TOP_MAX 100000

enum stk_batch_type { STK_BATCH_NULL, STK_BATCH_INT, STK_BATCH_REAL, STK_BATCH_TEXT };

enum stk_batch_op {
    STK_BATCH_FIELD,
    STK_BATCH_CONSTANT,
    STK_BATCH_ENTRY, // of a dictionary
    STK_BATCH_TO_REAL,
    STK_BATCH_TO_INT,
    STK_BATCH_NEGATE,
    STK_BATCH_ABS,
    STK_BATCH_INVERT, // bits
    STK_BATCH_NOT,
    STK_BATCH_ADD,
    STK_BATCH_SUBTRACT,
    STK_BATCH_MULTIPLY,
    STK_BATCH_DIVIDE,
    STK_BATCH_REMAINDER,
    STK_BATCH_BIT_AND,
    STK_BATCH_BIT_OR,
    STK_BATCH_EQ,
    STK_BATCH_NE,
    STK_BATCH_LT,
    STK_BATCH_LE,
    STK_BATCH_IS, // null is null
    STK_BATCH_AND,
    STK_BATCH_OR,
    STK_BATCH_CASE, // when, then, ..., [else]
    STK_BATCH_COALESCE,
    STK_BATCH_LEAST,
    STK_BATCH_GREATEST
};

// What the entries of a dictionary depend on.
enum stk_batch_class {
    STK_CLASS_CONSTANT,
    STK_CLASS_NAME,
    STK_CLASS_TRACK,
    STK_CLASS_BITS,
    STK_CLASS_CALL,
    STK_CLASS_COUNT
};

struct stk_batch_dict {
    const struct stk_sql_node *source;
    enum stk_batch_class class;
    enum stk_batch_type type;
    int64_t *values; // bits of a real number; id of a text; 0 if null
    uint8_t *nulls;
};

struct stk_batch_node {
    enum stk_batch_op op;
    enum stk_batch_type type;
    uint32_t index;             // of its results
    enum stk_query_field field; // FIELD
    int64_t constant;           // CONSTANT; null where the type is
    const struct stk_batch_dict *dict;
    struct stk_batch_node **args;
    uint32_t arg_count;
    struct stk_batch_node *real; // CASE with whole and real branches: 1 for a real one
};

struct stk_batch_vec {
    union {
        int64_t i[STK_BATCH_ROWS];
        double r[STK_BATCH_ROWS];
    };
    uint8_t null[STK_BATCH_ROWS]; // if has_null
    bool has_null;
    bool uniform; // one value for all rows
    uint64_t epoch;
};

// Events of one track: `rows` of them, from `first` on, or the listed ones.
struct stk_batch {
    struct stk_query_event at; // its trace and track
    uint32_t first, rows;
    const uint32_t *events; // NULL: all from `first`
};

enum stk_batch_sum_kind {
    STK_SUM_ROWS,
    STK_SUM_COUNT,
    STK_SUM_SUM,
    STK_SUM_TOTAL,
    STK_SUM_AVERAGE,
    STK_SUM_LEAST,
    STK_SUM_GREATEST
};
struct stk_batch_sum {
    enum stk_batch_sum_kind kind;
    bool distinct;
    bool may_be_whole;           // if the next sum, of real values, counted none
    struct stk_batch_node *node; // NULL: ROWS
};

struct stk_batch_order {
    struct stk_batch_node *node;
    bool descending, nulls_last;
};

struct stk_batch_plan {
    struct stk_query *q;
    const struct stk_sql_table *table;
    int rows_id; // of the table that SQLite reads
    struct stk_arena *arena;
    int64_t start_min_ns, start_max_ns; // from WHERE
    struct stk_batch_node *filters[STK_SQL_ITEMS_MAX];
    struct stk_batch_node *track_filters[STK_SQL_ITEMS_MAX]; // depend only on the track
    uint32_t filter_count, track_filter_count;
    struct stk_batch_node *keys[STK_BATCH_KEYS_MAX];
    uint32_t key_count;
    struct stk_batch_sum sums[STK_BATCH_SUMS_MAX];
    uint32_t sum_count;
    bool grouped; // by keys; else all rows are one group, which may be empty
    bool sorted;  // groups in order of their keys, else of first occurrence
    uint32_t groups_max;
    bool last_row;  // needs columns of a group's last row ...
    int row_of_sum; // ... or of the one with this extreme; -1: no
    bool top;       // rows by `order` instead of groups
    struct stk_batch_order order[STK_BATCH_KEYS_MAX];
    uint32_t order_count;
    uint64_t top_count;
    // Dictionaries.
    struct stk_batch_dict dicts[STK_SQL_ITEMS_MAX];
    uint32_t dict_count;
    const uint32_t *name_base; // per trace: the start of its names
    const uint32_t *track_base;
    struct stk_strpool texts;
    bool has_texts, text_order;                     // ids are in the order of the texts
    uint32_t *text_at;                              // id -> string of `texts`, where in order
    struct stk_batch_node *fields[STK_FIELD_COUNT]; // those that are read
    uint32_t node_count;
    bool wants_parents;
    bool may_mix; // the next expression may have branches of whole and of real numbers
    bool failed;  // form not supported, or no memory
    bool interrupted;
};

// batch_dict.c. The class that an expression depends on; -1: several.
int stk_batch_class_of(const struct stk_sql_node *n);
// Evaluates the dictionaries in `dicts`. False: refused.
bool stk_batch_fill_dicts(struct stk_batch_plan *p, const struct stk_sql_select *s);
// Gives texts ids in their order; call it after the last expression is compiled.
bool stk_batch_order_texts(struct stk_batch_plan *p);
struct stk_str stk_batch_text(const struct stk_batch_plan *p, int64_t id);

// batch_compile.c. First all expressions are collected, then their dictionaries filled, then each
// is compiled. NULL: refused.
bool stk_batch_collect(struct stk_batch_plan *p, const struct stk_sql_node *n);
struct stk_batch_node *stk_batch_compile(struct stk_batch_plan *p, const struct stk_sql_node *n);
// `value` (NULL: 1) if the condition holds, else null.
struct stk_batch_node *stk_batch_compile_when(struct stk_batch_plan *p,
                                              const struct stk_sql_node *condition,
                                              struct stk_batch_node *value);
bool stk_batch_add_filters(struct stk_batch_plan *p, const struct stk_sql_node *where);

// batch_eval.c. One per thread.
struct stk_batch_eval {
    const struct stk_batch_plan *plan;
    struct stk_batch_vec *vecs; // by node
    uint64_t epoch;
    bool overflow; // the plan can't answer
};
bool stk_batch_eval_init(struct stk_batch_eval *e, const struct stk_batch_plan *plan);
void stk_batch_eval_deinit(struct stk_batch_eval *e);
const struct stk_batch_vec *stk_batch_eval(struct stk_batch_eval *e, const struct stk_batch_node *n,
                                           const struct stk_batch *b);

// batch_groups.c
struct stk_batch_ref {
    uint32_t trace, track, event;
};
struct stk_batch_total {
    int64_t n; // values that are not null
    union {
        int64_t i;
        double r;
    };
    double low; // the rounding error of r
};
struct stk_batch_groups {
    const struct stk_batch_plan *plan;
    size_t count, capacity;
    int64_t *keys;  // key_count for each group
    uint8_t *nulls; // likewise
    int64_t *rows;  // events in the group
    struct stk_batch_ref *refs;
    struct stk_batch_total *totals[STK_BATCH_SUMS_MAX];
    uint32_t *slots; // hash table: group + 1
    size_t slot_count;
    struct stk_batch_set *sets[STK_BATCH_SUMS_MAX]; // of distinct values
    uint32_t *order;                                // the order of groups in the output
    int bits[STK_BATCH_SUMS_MAX];                   // the most in whole numbers
    uint32_t group_of[STK_BATCH_ROWS];              // of the current batch
};
bool stk_batch_groups_init(struct stk_batch_groups *g, const struct stk_batch_plan *plan);
void stk_batch_groups_deinit(struct stk_batch_groups *g);
bool stk_batch_groups_add(struct stk_batch_groups *g, struct stk_batch_eval *e,
                          const struct stk_batch *b);
bool stk_batch_groups_merge(struct stk_batch_groups *g, const struct stk_batch_groups *from);
// After the last row: sums of distinct values, and the order by keys. False: no memory, or a sum
// that may have overflowed.
bool stk_batch_groups_finish(struct stk_batch_groups *g);
void stk_batch_groups_key(const struct stk_batch_groups *g, size_t group, uint32_t key,
                          struct stk_query_value *out);
void stk_batch_groups_sum(const struct stk_batch_groups *g, size_t group, uint32_t sum,
                          struct stk_query_value *out);

// batch_top.c
struct stk_batch_top {
    const struct stk_batch_plan *plan;
    uint64_t count, seen; // rows kept; rows that passed
    size_t capacity;
    int64_t *keys; // order_count for each row
    uint8_t *nulls;
    struct stk_batch_ref *refs;
    uint32_t *heap; // rows, the worst first
};
bool stk_batch_top_init(struct stk_batch_top *t, const struct stk_batch_plan *plan);
void stk_batch_top_deinit(struct stk_batch_top *t);
bool stk_batch_top_add(struct stk_batch_top *t, struct stk_batch_eval *e,
                       const struct stk_batch *b);
bool stk_batch_top_merge(struct stk_batch_top *t, const struct stk_batch_top *from);
void stk_batch_top_finish(struct stk_batch_top *t); // `refs` are then in the order of the scan

// batch_run.c. Over all events that pass. False: refused or interrupted, as the plan says.
bool stk_batch_run(struct stk_batch_plan *p, struct stk_batch_groups *groups,
                   struct stk_batch_top *top);
