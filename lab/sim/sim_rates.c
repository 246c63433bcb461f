// SPDX-License-Identifier: Apache-2.0
// Rates by kernel class. A kernel never takes less than FLOOR_NS, so lower precision gains little
// for small kernels.
#include "sim_rates.h"

#define FLOOR_NS 1800.0

// Speed relative to fp32; the optimizer keeps fp32 master weights.
static const struct {
    double matrix, memory;
} precisions[] = {
    [SIM_FP32] = {1, 1},   [SIM_TF32] = {2.4, 1},  [SIM_FP16] = {4.2, 1.9},
    [SIM_BF16] = {4, 1.9}, [SIM_FP8] = {6.5, 1.9},
};

// In the order of the words of `gpu`: relative to the reference.
static const struct {
    double matrix, memory, link;
} gpus[] = {{1, 1, 1}, {0.7, 0.6, 1}, {1.4, 1.1, 2}, {2.8, 2, 4}, {6, 4.5, 4}};

bool sim_rates_is_matrix_unit(const struct sim_job *job)
{
    return job->precision != SIM_FP32 && job->unaligned == 0;
}

double sim_rates_kernel_ns(const struct sim_job *job, enum sim_class class, double us)
{
    double factor = job->kernel_factor * job->device_factor;
    if (class == SIM_MATRIX) {
        factor *= gpus[job->gpu].matrix;
        factor *= sim_rates_is_matrix_unit(job) ? precisions[job->precision].matrix : 1;
    } else {
        factor *= gpus[job->gpu].memory;
        factor *= class == SIM_MEMORY ? precisions[job->precision].memory : 1;
    }
    double fixed = job->batch_fixed_share;
    double batch = class == SIM_OPTIMIZER ? 1 : fixed + (1 - fixed) * job->batch;
    double ns = us * 1000 * batch / factor;
    return ns < FLOOR_NS && us > 0 ? FLOOR_NS : ns;
}

double sim_rates_link_gbps(const struct sim_job *job, double gbps)
{
    return gbps * gpus[job->gpu].link * job->device_factor;
}
