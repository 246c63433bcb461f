// SPDX-License-Identifier: Apache-2.0
// `stoker stats ops --by KEY`: the same operations, summed by a key other than their name. To add a
// key: a file passes/stats/ops_by_<name>.c that ends in its descriptor `const struct stk_stats
// stk_ops_by_<name>`, and one line X(<name>) in ops_by.def. The file defines the group of an
// operation (stk_op_group_fn in answers/passes/sums.h) and the name of its table; the rest is here.
#pragma once

#include "answers/passes/stats/stats.h"
#include "answers/passes/sums.h"

#define X(name) extern const struct stk_stats stk_ops_by_##name;
#include "answers/passes/stats/ops_by.def"
#undef X
extern const struct stk_stats *const stk_ops_keys[]; // NULL at the end

// A row; nested groups ("a/b" in "a") have two more columns.
struct stk_ops_by_row {
    struct stk_cell group, rank, ops, self_ns, self_share, device_ops, device_ns, device_share;
};
struct stk_ops_by_nested_row {
    struct stk_ops_by_row own;
    struct stk_cell within_ns, device_within_ns;
};
#define STK_OPS_BY_COLUMNS(row, at, key, ...)                                                      \
    STK_COLUMN_AT(key, offsetof(struct row, at group), TEXT, __VA_ARGS__, .is_name = true),        \
        STK_COLUMN_AT("rank", offsetof(struct row, at rank), COUNT, STK_DOC_RANK,                  \
                      .is_detail = true),                                                          \
        STK_COLUMN_AT("ops", offsetof(struct row, at ops), COUNT, "operations on the CPU"),        \
        STK_COLUMN_AT("self_ns", offsetof(struct row, at self_ns), NS,                             \
                      "their durations without the operations nested inside, summed"),             \
        STK_COLUMN_AT("self_share", offsetof(struct row, at self_share), SHARE,                    \
                      "share of the self time of all operations on the CPU", .is_detail = true),   \
        STK_COLUMN_AT("device_ops", offsetof(struct row, at device_ops), COUNT,                    \
                      "kernels, collectives, memsets and copies that they launched",               \
                      .is_detail = true),                                                          \
        STK_COLUMN_AT("device_ns", offsetof(struct row, at device_ns), NS,                         \
                      "durations of these, summed"),                                               \
        STK_COLUMN_AT("device_share", offsetof(struct row, at device_share), SHARE,                \
                      "share of the durations of all device operations")
#define STK_OPS_BY_NESTED_COLUMNS(key, ...)                                                        \
    STK_OPS_BY_COLUMNS(stk_ops_by_nested_row, own., key, __VA_ARGS__, .is_path = true),            \
        STK_COLUMN(stk_ops_by_nested_row, within_ns, NS,                                           \
                   "`self_ns` of it and of everything inside"),                                    \
        STK_COLUMN(stk_ops_by_nested_row, device_within_ns, NS,                                    \
                   "`device_ns` of it and of everything inside")

extern const struct stk_summary_info stk_ops_keyed_figures;
extern const struct stk_missing
    stk_ops_keyed_missing; // neither operators nor device work: of `ops` itself, too

// A group in a rank's partial.
struct stk_ops_by_group {
    struct stk_op_group sums;
    int64_t within_ns, device_within_ns;
};
struct stk_ops_by {
    struct stk_ops_by_group *rows;
    size_t count;
    int64_t host_ns, device_ns;
};

// *partial: struct stk_ops_by. parted: the separator of nested groups; NULL: groups aren't nested.
// With it, enclosing groups also become rows.
STK_MUST_CHECK enum stoker_status stk_ops_by_see(const struct stk_analysis *view,
                                                 stk_op_group_fn *group, const char *parted,
                                                 struct stk_arena *arena, void **partial,
                                                 struct stoker_err *err);
// `untold`: the missing data, if no operation has a group.
void stk_ops_by_describe(const struct stk_pass_ctx *ctx, const struct stk_table_info *info,
                         const struct stk_missing *untold, struct stk_table_doc *doc);
