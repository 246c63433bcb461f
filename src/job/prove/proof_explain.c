// SPDX-License-Identifier: Apache-2.0
// Explains a proof from two profiles; see proof.h. They are recorded after the measurement, since
// profiling slows a run.
#include <stdio.h>
#include <string.h>

#include "job/capture/parent/scratch.h"
#include "job/prove/proof.h"
#include "job/prove/proof_out.h"

static bool has_changed(const struct stk_proof *proof)
{
    return proof->result.verdict == STK_PAIRED_FASTER || proof->result.verdict == STK_PAIRED_SLOWER;
}

static bool stop(void *arg)
{
    const struct stk_proof_plan *plan = arg;
    return plan->stop && plan->stop(plan->arg);
}

// Records a window of one side, in a separate folder. If that fails, proof->mechanism says why.
static enum stoker_status record(const struct stk_proof_plan *plan, int side,
                                 struct stk_mechanism *to, struct stk_scratch *folder,
                                 struct stoker_err *err)
{
    struct stk_measured m;
    struct stk_measure run = {.argv = plan->sides[side].argv,
                              .env = plan->sides[side].env,
                              .warmup = stk_proof_warmup(plan),
                              .window = STK_MECHANISM_STEPS,
                              .timeout_ns = plan->timeout_ns,
                              .stop = stop,
                              .arg = (void *)(uintptr_t)plan};
    enum stoker_status status = stk_scratch_make(NULL, folder, err);
    if (status != STOKER_OK) {
        return status;
    }
    if (plan->begins) {
        plan->begins(plan->arg, STK_PROOF_RECORDS, side);
    }
    run.folder = folder->path;
    status = stk_measure_run(&run, &m, err);
    if (status == STOKER_OK && !m.profile[0] && !to->why[0]) {
        snprintf(to->why, sizeof to->why, "no window of %c was recorded%s%.*s", "AB"[side],
                 m.notes[0] ? ": " : "", (int)strcspn(m.notes, "\n"), m.notes);
    }
    return status;
}

enum stoker_status stk_proof_explain_by(const struct stk_proof_plan *plan, const char *a,
                                        const char *b, struct stk_proof *proof,
                                        struct stoker_err *err)
{
    struct stk_mechanism *m = &proof->mechanism;
    double gained =
        stk_proof_spread(proof, STK_PROOF_A).median - stk_proof_spread(proof, STK_PROOF_B).median;
    if (has_changed(proof) && b) {
        stk_mechanism_check(a, b, (int64_t)(gained * 1e9), m);
    }
    return plan->predict ? stk_mechanism_predict(a, plan->predict, m, err) : STOKER_OK;
}

enum stoker_status stk_proof_explain(const struct stk_proof_plan *plan, struct stk_proof *proof,
                                     struct stoker_err *err)
{
    struct stk_mechanism *m = &proof->mechanism;
    struct stk_scratch folders[STK_PROOF_SIDES] = {STK_NO_SCRATCH, STK_NO_SCRATCH};
    enum stoker_status status = STOKER_OK;
    bool needs_b = has_changed(proof) && !plan->no_profile;
    if (proof->of != STK_PROOF_STEPS || (!needs_b && !plan->predict)) {
        return STOKER_OK;
    }
    for (int side = 0; side < (needs_b ? 2 : 1) && status == STOKER_OK && !m->why[0]; side++) {
        status = record(plan, side, m, &folders[side], err);
    }
    if (status == STOKER_OK && !m->why[0]) {
        status = stk_proof_explain_by(plan, folders[0].path, folders[1].path, proof, err);
    } else if (status == STOKER_OK) {
        snprintf(m->unpredicted, sizeof m->unpredicted, "%s", m->why);
    }
    for (int side = 0; side < STK_PROOF_SIDES; side++) {
        stk_scratch_remove(&folders[side]);
    }
    return status;
}
