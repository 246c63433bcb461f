// SPDX-License-Identifier: Apache-2.0
// Functions that give datasets which cost time, for tests of the tuner.
#ifndef STK_TESTS_DATA_SPIN_H
#define STK_TESTS_DATA_SPIN_H

#include "base/clock.h"
#include "data_make.h"

// x -> a dataset of x elements again and again that cost spin_ns each. calls: its map's
// num_parallel_calls; 0: none.
UNUSED static struct stk_fn *spinning_fn(int64_t calls)
{
    static const char *const kinds[] = {"range", "repeat"};
    struct stk_spec x = {.dtype = STK_DT_I64};
    struct stk_fn *fn = NULL;
    struct stoker_err err;
    int value = 0, count;
    struct stk_bytes stop = {(const uint8_t *)"stop", 4};
    CHECK(stk_fn_open(&fn, &x, 1, "f", &err) == STOKER_OK);
    for (int k = 0; k < 2; k++) {
        struct stk_attrs *a = stk_attrs_new();
        CHECK(stk_attrs_set_text(a, "kind", kinds[k], strlen(kinds[k])));
        if (k == 0) {
            CHECK(stk_attrs_set(
                a, &(struct stk_attr){
                       .name = "bound", .kind = STK_ATTR_TEXTS, .count = 1, .texts = &stop}));
        } else {
            CHECK(stk_attrs_set_int(a, "n_in", 1));
        }
        CHECK(stk_fn_add(fn, "make_dataset", &value, 1, a, NULL, &value, &count, &err) ==
              STOKER_OK);
        stk_attrs_drop(a);
    }
    struct stk_attrs *a = stk_attrs_new();
    struct stk_specs *specs = stk_specs_new(1);
    specs->items[0].dtype = STK_DT_I64;
    struct stk_fn *spins = test_fn(specs, OP_SPIN);
    CHECK(stk_attrs_set_text(a, "kind", "map", 3) && stk_attrs_set_int(a, "n_in", 1));
    CHECK(stk_attrs_set(a, &(struct stk_attr){.name = "fn", .kind = STK_ATTR_FN, .fn = spins}));
    CHECK(calls == 0 || stk_attrs_set_int(a, "num_parallel_calls", calls));
    CHECK(stk_fn_add(fn, "make_dataset", &value, 1, a, NULL, &value, &count, &err) == STOKER_OK);
    stk_attrs_drop(a);
    stk_specs_drop(specs);
    stk_fn_drop(spins);
    CHECK(stk_fn_finish(fn, &value, 1, &err) == STOKER_OK);
    return fn;
}

#endif
