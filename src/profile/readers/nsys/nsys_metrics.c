// SPDX-License-Identifier: Apache-2.0
// Names of the metrics that Nsight Systems samples on a GPU. A row of GPU_METRICS holds two numbers
// which TARGET_INFO_GPU_METRICS explains; the same metric has another number in another report.
#include "profile/readers/nsys/nsys.h"

#define METRICS_MAX (1u << 16)

enum stoker_status stk_nsys_metrics_open(struct stk_nsys_schema *schema, struct stk_nsys_file *file,
                                         struct stoker_err *err)
{
    if (!(file->wants & STK_WANT_COUNTERS)) {
        return STOKER_OK;
    }
    stk_map_init(&file->metrics, METRICS_MAX);
    if (stk_strpool_init(&file->metric_names, 0)) {
        return stk_err_nomem(err);
    }
    file->has_metrics = true;
    sqlite3_stmt *st =
        stk_nsys_select(schema, "TARGET_INFO_GPU_METRICS", "!typeId,!metricId,!metricName", "");
    enum stoker_status status = STOKER_OK;
    while (st && status == STOKER_OK && sqlite3_step(st) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(st, 2);
        uint32_t id = text ? stk_strpool_intern(&file->metric_names, text, strlen(text)) : 0;
        if (file->metrics.count == METRICS_MAX) {
            break;
        }
        if (id == STK_STRPOOL_FAILED ||
            !stk_map_put(&file->metrics, (uint64_t)sqlite3_column_int64(st, 0),
                         (uint64_t)sqlite3_column_int64(st, 1), id, NULL)) {
            status = stk_err_nomem(err);
        }
    }
    sqlite3_finalize(st);
    return status;
}

void stk_nsys_metrics_close(struct stk_nsys_file *file)
{
    if (!file->has_metrics) {
        return;
    }
    stk_map_deinit(&file->metrics);
    stk_strpool_deinit(&file->metric_names);
}

struct stk_str stk_nsys_metric_name(const struct stk_nsys_file *file, int64_t type, int64_t metric)
{
    const uint32_t *id = stk_map_get(&file->metrics, (uint64_t)type, (uint64_t)metric);
    return id ? stk_strpool_get(&file->metric_names, *id) : STK_STR("");
}
