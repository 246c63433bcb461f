// SPDX-License-Identifier: Apache-2.0
// Kernels that only change the layout of a convolution's tensors, from channels first to channels
// last and back: tensor cores want them last.
#include "rules/kernel_rules.h"

enum { FROM };
static const struct stk_threshold thresholds[] = {
    [FROM] = {"changes of layout", "share of the kernels' time", 0.02,
              "the first and the last layer may need one"},
    {0},
};

static const struct stk_rep_fix fixes[] = {
    {"pytorch", "Keep the model and its batches with channels last.",
     "model = model.to(memory_format=torch.channels_last)\n"
     "batch = batch.to(memory_format=torch.channels_last)"},
    {"tensorflow", "Keep images with channels last (NHWC), in the data as in the model.",
     "tf.keras.backend.set_image_data_format('channels_last')"},
    {"jax", "Give convolutions channels last.",
     "dims = ('NHWC', 'HWIO', 'NHWC')\n"
     "y = jax.lax.conv_general_dilated(x, w, (1, 1), 'SAME', dimension_numbers=dims)"},
    {0},
};

static enum stk_rule_state layout_changes_check(const struct stk_rule_ctx *ctx,
                                                struct stk_rep_finding *f, const char **why)
{
    return stk_rule_check_kernels(ctx, f, STK_KERNEL_LAYOUT, &thresholds[FROM], 1,
                                  "only changes the layout of tensors", why);
}

const struct stk_rule stk_rule_layout_changes = {
    .id = "layout-changes",
    .title = "Convolutions change the layout of their tensors",
    .fires = "2 % of the kernels' time is in kernels that change tensors between channels first "
             "and channels last.",
    .matters = "Such a kernel computes nothing; with the layout that tensor cores want there is "
               "none.",
    .priced = "At most their time.",
    .quiet = "Transposes that a model asks for itself.",
    .source = "NVIDIA, Convolutional layers user's guide: tensor layouts; PyTorch tutorial on "
              "channels last.",
    .needs = STK_NEED_BREAKDOWN | STK_NEED_DEVICE,
    .thresholds = thresholds,
    .fixes = fixes,
    .check = layout_changes_check,
};
