// SPDX-License-Identifier: Apache-2.0
// A proof from recorded runs; see recorded.h.
#include "job/prove/recorded.h"

#include <math.h>

#include "base/alloc.h"

static enum stoker_status read_run(const struct stk_proof_plan *plan, const char *folder,
                                   struct stk_measured *m, struct stoker_err *err)
{
    enum stoker_status status =
        stk_measure_read(folder, stk_proof_warmup(plan), plan->steps, m, err);
    if (status == STOKER_OK && !m->judged) {
        return stk_err_set(err, STOKER_EINPUT,
                           "%s has %llu steps. A warm-up of %llu needs at least %d more (--warmup)",
                           folder, (unsigned long long)m->steps,
                           (unsigned long long)stk_proof_warmup(plan), STK_MEASURE_LEAST);
    }
    return status;
}

// For too few pairs: their mean, without an interval.
static struct stk_paired without_verdict(const double *logs, int pairs)
{
    double sum = 0;
    for (int i = 0; i < pairs; i++) {
        sum += logs[i];
    }
    return (struct stk_paired){
        .estimate = exp(sum / pairs), .low = NAN, .high = NAN, .verdict = STK_PAIRED_CANNOT_TELL};
}

enum stoker_status stk_proof_recorded(const struct stk_proof_plan *plan,
                                      char *const *const folders[STK_PROOF_SIDES], int pairs,
                                      struct stk_proof *proof, struct stoker_err *err)
{
    enum stoker_status status = stk_proof_make(plan, pairs, proof, err);
    for (int i = 0; i < pairs && status == STOKER_OK; i++) {
        for (int side = 0; side < STK_PROOF_SIDES && status == STOKER_OK; side++) {
            struct stk_measured m;
            status = read_run(plan, folders[side][i], &m, err);
            if (status == STOKER_OK) {
                stk_proof_know(proof, side, i, &m);
            }
        }
        if (status == STOKER_OK) {
            proof->logs[i] =
                log(proof->runs[STK_PROOF_B][i].value / proof->runs[STK_PROOF_A][i].value);
            proof->pairs = i + 1;
        }
    }
    if (status == STOKER_OK && pairs >= STK_PAIRED_MIN) {
        proof->looks =
            (struct stk_paired_plan){.count = 1, .pairs = {pairs}, .error = {STK_PAIRED_ERROR}};
        stk_proof_look(proof, STK_PAIRED_ERROR);
    } else if (status == STOKER_OK) {
        proof->result = without_verdict(proof->logs, pairs);
    }
    return status;
}
