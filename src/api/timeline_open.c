// SPDX-License-Identifier: Apache-2.0
// Frees a timeline of either origin.
#include "api/timeline_open.h"

#include "base/alloc.h"

static void free_file(struct stk_timeline_file *file)
{
    if (file) {
        stk_query_args_free(&file->args);
        stk_query_close(file->query);
        stk_thaw_close(&file->map);
        stk_free(file);
    }
}

void stoker_timeline_free(struct stoker_timeline *timeline)
{
    if (timeline) {
        stk_timeline_free(&timeline->index);
        free_file(timeline->file);
        stk_free(timeline);
    }
}

void stoker_blob_free(struct stoker_blob *blob)
{
    if (blob) {
        stk_free(blob->data);
        *blob = (struct stoker_blob){.data = NULL};
    }
}
