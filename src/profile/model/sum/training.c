// SPDX-License-Identifier: Apache-2.0
// Does the recording contain training? Operator names show it: gradients are computed, or an
// optimizer updates weights (phases.def). Passes over the data, evaluations and inference do
// neither.
//
// Limits: PyTorch and TensorFlow, where the operators themselves are recorded; compiled code (XLA,
// torch.compile) hides them, and so does Keras' fit, which always counts as training. For JAX, the
// hooks of `stoker run` tell whether gradients were computed before the window.
#include "profile/model/analysis.h"
#include "profile/model/phase_names.h"
#include "profile/model/thresholds.h"
#include "profile/store/tf_name.h"

static bool is_operator(struct stk_str name)
{
    return stk_str_starts(name, STK_STR("aten::")) || stk_phase_is_eager(name) ||
           stk_tf_name_parse(name).type.n > 0;
}

void stk_training_find(struct stk_analysis *a)
{
    const uint32_t hides = STK_NAME_XLA_RUN | STK_NAME_COMPILED;
    const uint32_t trains = 1u << STK_PHASE_BACKWARD | 1u << STK_PHASE_OPTIMIZER;
    struct stk_facts *f = &a->sum->facts;
    uint32_t operators = 0;
    if (a->t->told.numbers[STK_TOLD_UNTRAINED] && (a->t->framework_hint & 1u << STK_FW_JAX)) {
        f->sees_operators = true; // the hooks saw that no function of gradients was called
        return;
    }
    for (uint32_t s = 0; s < a->t->strings.count; s++) {
        if (a->classes[s] & hides) {
            return;
        }
        struct stk_str name = stk_strpool_get(&a->t->strings, s);
        if (!(a->classes[s] & STK_NAME_MODEL_OP)) {
            continue;
        }
        operators += is_operator(name);
        if (stk_phases_of_name(name) & trains) {
            f->sees_training = true;
            return;
        }
    }
    f->sees_operators = operators >= stk_threshold_value(STK_T_TRAINING_OPERATORS) &&
                        f->signs[STK_SIGN_KERAS].count == 0;
}
