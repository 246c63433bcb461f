// SPDX-License-Identifier: Apache-2.0
// What was selected, as sets of time on each device.
#include "model/view.h"

#include <string.h>

bool stk_view_has_device(const struct stk_analysis *view, uint32_t line)
{
    return !view->select->has_device || view->select->device == view->sum->devices[line].ordinal;
}

// The windows of steps tile, in order; those of unselected steps are left out. Device operations
// are clipped to --from and --to already.
bool stk_view_selected(const struct stk_analysis *view, uint32_t line, struct stk_spans *out)
{
    out->count = 0;
    if (!stk_view_has_device(view, line))
        return true;
    if (!view->select->has_steps)
        return stk_spans_add(out, INT64_MIN, INT64_MAX);
    for (uint32_t i = 0; i < view->sum->step_count; i++) {
        const struct stk_step *s = &view->sum->steps[i];
        bool selected = !s->excluded || strcmp(s->excluded, STK_EXCLUDED_UNSELECTED) != 0;
        if (s->device == line && selected &&
            !stk_spans_add(out, s->start_ns, s->start_ns + s->dur_ns))
            return false;
    }
    return true;
}
