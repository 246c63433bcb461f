// SPDX-License-Identifier: Apache-2.0
// Categories by spelling: Kineto's, old and new, other producers' with the same meaning, and
// stoker's own.
#include "profile/readers/trace_event/chrome_raw.h"

static const struct {
    const char *name;
    enum stk_chrome_cat cat;
} cats[] = {
    {"cpu_op", STK_CHROME_CAT_OP},
    {"operator", STK_CHROME_CAT_OP},
    {"user_annotation", STK_CHROME_CAT_ANNOTATION},
    {"cuda_runtime", STK_CHROME_CAT_RUNTIME},
    {"cuda_driver", STK_CHROME_CAT_RUNTIME},
    {"runtime", STK_CHROME_CAT_RUNTIME},
    {"hip_runtime", STK_CHROME_CAT_RUNTIME},
    {"xpu_runtime", STK_CHROME_CAT_RUNTIME},
    {"xpu_driver", STK_CHROME_CAT_RUNTIME},
    {"python_function", STK_CHROME_CAT_PYTHON},
    {"kernel", STK_CHROME_CAT_KERNEL},
    {"gpu_memcpy", STK_CHROME_CAT_MEMCPY},
    {"memcpy", STK_CHROME_CAT_MEMCPY},
    {"gpu_memset", STK_CHROME_CAT_MEMSET},
    {"memset", STK_CHROME_CAT_MEMSET},
    {"gpu_user_annotation", STK_CHROME_CAT_DERIVED},
    {"cuda_profiler_range", STK_CHROME_CAT_DERIVED},
    {"xpu_scope_profiler", STK_CHROME_CAT_DERIVED},
    {"cuda_sync", STK_CHROME_CAT_SYNC},
    {"xpu_sync", STK_CHROME_CAT_SYNC},
    {"cuda_event", STK_CHROME_CAT_EVENT},
    {"overhead", STK_CHROME_CAT_OVERHEAD},
    {"cpu_instant_event", STK_CHROME_CAT_INSTANT},
    {"trace", STK_CHROME_CAT_SPAN},
    {"mtia_runtime", STK_CHROME_CAT_FOREIGN_HOST},
    {"glow_runtime", STK_CHROME_CAT_FOREIGN_HOST},
    {"privateuse1_runtime", STK_CHROME_CAT_FOREIGN_HOST},
    {"privateuse1_driver", STK_CHROME_CAT_FOREIGN_HOST},
    {"mtia_ccp_events", STK_CHROME_CAT_FOREIGN_DEVICE},
    {"mtia_insight", STK_CHROME_CAT_FOREIGN_DEVICE},
    {"hpu_op", STK_CHROME_CAT_FOREIGN_DEVICE},
    {"ac2g", STK_CHROME_CAT_FLOW},
    {"fwdbwd", STK_CHROME_CAT_FLOW},
    {"async", STK_CHROME_CAT_FLOW},
    {"async_gpu", STK_CHROME_CAT_FLOW},
    {"async_cpu_to_gpu", STK_CHROME_CAT_FLOW},
#define C(id, category, what) {category, STK_CHROME_CAT_##id},
#include "profile/store/chrome_cats.def"
#undef C
};

enum stk_chrome_cat stk_chrome_cat_find(const char *p, size_t n)
{
    struct stk_str s = {p, n};
    for (size_t i = 0; i < sizeof cats / sizeof *cats; i++) {
        if (stk_str_eq_nocase(s, stk_str_from(cats[i].name))) {
            return cats[i].cat;
        }
    }
    return n == 0 ? STK_CHROME_CAT_NONE : STK_CHROME_CAT_UNKNOWN;
}
