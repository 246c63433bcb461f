// SPDX-License-Identifier: Apache-2.0
// What putting the gradients of replicas together, and splitting them again, costs.
#ifndef STK_RULES_PACK_SIGNS_H
#define STK_RULES_PACK_SIGNS_H

#include "rules/finding.h"

// The cure, as a row for the tables of the rules that print it.
#define STK_FIX_PACK_SIGNS                                                                         \
    {"tensorflow",                                                                                 \
     "Around the all-reduce of several replicas the gradients are put together, and split again "  \
     "behind it: each byte is copied twice. Other ways put them together otherwise, or not at "    \
     "all; measure which is quickest here.",                                                       \
     "strategy = tf.distribute.MirroredStrategy(\n"                                                \
     "    cross_device_ops=tf.distribute.ReductionToOneDevice())  # or HierarchicalCopyAllReduce(" \
     "num_packs=1)"}

// The row of a rule's thresholds from which on it is worth a word.
#define STK_THRESHOLD_PACK_SIGNS                                                                   \
    {"tensors put together and split again, with replicas", "share of the step", 0.05,             \
     "less is lost in the noise of a step"}

// Says it where it is worth a word. True: it was.
bool stk_pack_signs_say(const struct stk_rule_ctx *ctx, struct stk_rep_finding *f,
                        const struct stk_threshold *worth);

#endif
