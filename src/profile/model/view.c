// SPDX-License-Identifier: Apache-2.0
// The selection, as sets of time on each device.
#include "profile/model/view.h"

#include <string.h>

#include "base/assert.h"

bool stk_view_has_device(const struct stk_analysis *view, uint32_t line)
{
    STK_ASSERT(line < view->sum->device_count);
    return !view->select->has_device || view->select->device == view->sum->devices[line].ordinal;
}

// Rows of the steps: [*row, end) are the device's. Rows are sorted by device; the host's come last.
static uint32_t rows_of(const struct stk_analysis *view, uint32_t line, uint32_t *row)
{
    const struct stk_step *s = view->sum->steps;
    uint32_t low = 0, high = view->sum->step_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s[middle].device < line) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *row = low;
    while (low < view->sum->step_count && s[low].device == line) {
        low++;
    }
    return low;
}

// The windows of steps tile, in order; those of unselected steps are left out. Device operations
// are clipped to --from and --to already.
bool stk_view_selected(const struct stk_analysis *view, uint32_t line, struct stk_spans *out)
{
    STK_ASSERT(line < view->sum->device_count);
    out->count = 0;
    if (!stk_view_has_device(view, line)) {
        return true;
    }
    if (!view->select->has_steps) {
        return stk_spans_add(out, INT64_MIN, INT64_MAX);
    }
    uint32_t row, end = rows_of(view, line, &row);
    for (; row < end; row++) {
        const struct stk_step *s = &view->sum->steps[row];
        bool selected = !s->excluded || strcmp(s->excluded, STK_EXCLUDED_UNSELECTED) != 0;
        if (selected && !stk_spans_add(out, s->start_ns, s->start_ns + s->dur_ns)) {
            return false;
        }
    }
    return true;
}

bool stk_view_host_steps(const struct stk_analysis *view, bool used_only, struct stk_spans *out)
{
    out->count = 0;
    if (!stk_spans_reserve(out, view->step_count)) {
        return false;
    }
    for (uint32_t i = 0; i < view->step_count && !view->steps_on_device; i++) {
        const struct stk_host_step *s = &view->steps[i];
        bool in = used_only ? !s->excluded
                            : !s->excluded || strcmp(s->excluded, STK_EXCLUDED_UNSELECTED) != 0;
        if (in) {
            out->v[out->count++] = (struct stk_span){s->start_ns, s->end_ns};
        }
    }
    stk_spans_normalize(out); // steps of separate devices may overlap
    return true;
}

bool stk_view_selected_host(const struct stk_analysis *view, struct stk_spans *out)
{
    out->count = 0;
    if (!view->select->has_steps || view->steps_on_device) {
        return stk_spans_add(out, view->from_ns, view->to_ns);
    }
    return stk_view_host_steps(view, false, out);
}

bool stk_view_used(const struct stk_analysis *view, uint32_t line, struct stk_spans *out)
{
    STK_ASSERT(line < view->sum->device_count);
    out->count = 0;
    if (view->sum->step_count == 0) {
        return stk_view_selected(view, line, out);
    }
    if (!stk_view_has_device(view, line)) {
        return true;
    }
    uint32_t row, end = rows_of(view, line, &row);
    for (; row < end; row++) {
        const struct stk_step *s = &view->sum->steps[row];
        if (!s->excluded && !stk_spans_add(out, s->start_ns, s->start_ns + s->dur_ns)) {
            return false;
        }
    }
    return true;
}

bool stk_view_used_host(const struct stk_analysis *view, struct stk_spans *out)
{
    if (view->sum->step_count == 0 || view->steps_on_device) {
        return stk_view_selected_host(view, out);
    }
    return stk_view_host_steps(view, true, out);
}
