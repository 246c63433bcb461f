// SPDX-License-Identifier: Apache-2.0
// How precision and GPU affect a kernel's time.
#ifndef SIM_RATES_H
#define SIM_RATES_H

#include <stdbool.h>

#include "sim_job.h"

enum sim_class { SIM_MATRIX, SIM_MEMORY, SIM_OPTIMIZER }; // of a kernel

// Do matrix products run on tensor cores?
bool sim_rates_is_matrix_unit(const struct sim_job *job);
// Nanoseconds of a kernel that takes `us` at fp32 on the reference GPU with a batch of 1.
double sim_rates_kernel_ns(const struct sim_job *job, enum sim_class class, double us);
double sim_rates_link_gbps(const struct sim_job *job, double gbps);

#endif
