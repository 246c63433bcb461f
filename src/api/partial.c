// SPDX-License-Identifier: Apache-2.0
// Makes one partial of profiles and partials: finds the inputs (collect.c), and packs or copies
// them (partial_write.c).
#include "stoker/partial.h"

#include "answers/partial/partial.h"
#include "api/api.h"

enum stoker_status stoker_partial(const char *const *paths, size_t count,
                                  const struct stoker_why_options *options, stoker_write_fn write,
                                  void *arg, struct stoker_err *err)
{
    struct stoker_why_options defaults;
    struct stk_collected c = {0};
    if (!paths || count == 0 || !write) {
        return stk_err_misuse(err, "stoker_partial needs paths and a callback");
    }
    stoker_why_options_default(&defaults);
    err = stk_err_begin(err, &(struct stoker_err){0});
    stk_arena_init(&c.arena, 0);
    enum stoker_status status =
        stk_collect_items(&c, paths, count, options ? options : &defaults, &stk_partial_hook, err);
    if (status == STOKER_OK) {
        status = stk_partials_check(&c.select, err);
    }
    if (status == STOKER_OK) {
        status = stk_partials_write(&c, write, arg, err);
    }
    stk_collected_free(&c);
    return status == STOKER_OK ? STOKER_OK : stk_err_fail(err);
}
