// SPDX-License-Identifier: Apache-2.0
// include/stoker/data.h: limits of the process.
#include "base/err.h"
#include "engine/memory/process_limits.h"
#include "engine/run/permits.h"
#include "stoker/data.h"

enum stoker_status stoker_data_limits_set(const struct stoker_data_limits *limits,
                                          struct stoker_err *err)
{
    struct stoker_err own;
    err = stk_err_begin(err, &own);
    if (!limits || limits->cpus < 0 || limits->threads < 0) {
        return stk_err_misuse(err, "stoker_data_limits_set needs limits of 0 or more");
    }
    stk_limits_set(&(struct stk_limits){
        .cpus = limits->cpus, .threads = limits->threads, .ram_bytes = limits->ram_bytes});
    stk_permits_wake();
    return STOKER_OK;
}

int stoker_data_lend_processor(void)
{
    return stk_permit_lend_of_all();
}

void stoker_data_take_processor(void)
{
    stk_permit_take_of_all();
}

void stoker_data_limits_get(struct stoker_data_limits *limits, struct stoker_data_use *use)
{
    struct stk_limits l = stk_limits_now();
    struct stk_limits_use u = stk_limits_use();
    if (limits) {
        *limits = (struct stoker_data_limits){
            .cpus = l.cpus, .threads = l.threads, .ram_bytes = l.ram_bytes};
    }
    if (use) {
        *use = (struct stoker_data_use){.threads = u.threads,
                                        .threads_most = u.threads_most,
                                        .ram_bytes = u.ram_bytes,
                                        .ram_peak_bytes = u.ram_peak_bytes};
    }
}
