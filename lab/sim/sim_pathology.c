// SPDX-License-Identifier: Apache-2.0
// Pathologies: each costs a share of a step that its cure restores. Sizes are relative to the
// healthy job's step, so they matter equally in all kinds of jobs.
#include "sim_pathology.h"

#include <math.h>

#include "sim_random.h"

static double between(double u, double low, double high)
{
    return low + u * (high - low);
}

static void input_slow(struct sim_job *j, double step_us, double u)
{
    j->workers = 1 + floor(u * 4);
    j->load_us = step_us * j->workers * between(u, 1.4, 2.6);
    j->cores = 16;
}

static void input_inline(struct sim_job *j, double step_us, double u)
{
    j->workers = 0;
    j->load_us = step_us * between(u, 0.9, 1.7); // kernels queued ahead hide less than a step of it
    j->syncs = 1;
}

static void input_spikes(struct sim_job *j, double step_us, double u)
{
    j->workers = 1;
    j->prefetch = 2;
    j->load_us = step_us * 0.6;
    j->load_every = 5;
    j->load_extra_us = step_us * between(u, 5, 9);
}

static void input_decode(struct sim_job *j, double step_us, double u)
{
    j->workers = 4;
    j->cores = 4;
    j->load_us = step_us * 4 * between(u, 1.5, 2.5);
}

static void pageable(struct sim_job *j, double step_us, double u)
{
    j->pinned = 0;
    j->copy_ahead = 0;
    j->batch_bytes = floor(step_us * 1e3 * j->pageable_gbps * between(u, 0.2, 0.6));
}

static void transfer_serial(struct sim_job *j, double step_us, double u)
{
    j->copy_ahead = 0;
    j->batch_bytes = floor(step_us * 1e3 * j->h2d_gbps * between(u, 0.15, 0.5));
}

static void slow_link(struct sim_job *j, double step_us, double u)
{
    j->copy_ahead = 1;
    j->h2d_gbps = 3;
    j->batch_bytes = floor(step_us * 1e3 * j->h2d_gbps * between(u, 1.3, 2));
}

static void static_data(struct sim_job *j, double step_us, double u)
{
    j->copy_ahead = 0;
    j->static_bytes = floor(step_us * 1e3 * j->h2d_gbps * between(u, 0.15, 0.5));
}

static void launches(struct sim_job *j, double step_us, double u)
{
    (void)step_us;
    j->matmul_us = between(u, 6, 12);
    j->elementwise_us = between(u, 2, 5);
    j->optimizer_us = 3;
    j->batch_bytes = 1e5; // copies of a large batch would be longer than such a step
    j->op_us = between(u, 12, 30);
}

static void small_batch(struct sim_job *j, double step_us, double u)
{
    (void)step_us;
    j->matmul_us = between(u, 12, 20);
    j->elementwise_us = between(u, 6, 10);
    j->batch_fixed_share = between(u, 0.6, 0.9);
    j->batch_bytes = 1e5;
    j->op_us = 25;
}

static void unfused(struct sim_job *j, double step_us, double u)
{
    (void)step_us;
    j->fused = 0;
    j->elementwise = 6 + floor(u * 10);
    j->elementwise_us = between(u, 40, 80);
}

static void precision(struct sim_job *j, double step_us, double u)
{
    (void)step_us;
    j->precision = SIM_FP32;
    j->matmul_us *= between(u, 0.7, 1.2);
}

static void unaligned(struct sim_job *j, double step_us, double u)
{
    (void)step_us;
    j->unaligned = 1;
    j->matmul_us *= between(u, 0.7, 1.2);
}

// The CPU no longer runs ahead of the GPU: its work before the next launches is exposed.
static void syncs(struct sim_job *j, double step_us, double u)
{
    j->syncs = 1 + floor(u * 4);
    j->python_us = step_us * between(u, 0.2, 0.45);
}

static void loss_scaling(struct sim_job *j, double step_us, double u)
{
    j->precision = SIM_FP16;
    j->loss_scaling = 2;
    j->python_us = step_us * between(u, 0.2, 0.4);
    j->optimizer_us *= 2;
}

static void callbacks(struct sim_job *j, double step_us, double u)
{
    j->callback_us = step_us * between(u, 1.1, 1.8);
}

static void program(struct sim_job *j, double step_us, double u)
{
    j->python_us = step_us * between(u, 1.1, 1.8);
}

static void contention(struct sim_job *j, double step_us, double u)
{
    j->cores = 4;
    j->hogs = 8 + floor(u * 8);
    j->load_us = step_us * 0.2;
    j->op_us = between(u, 0.5, 0.8) * step_us / (j->layers * (3 * j->matmuls + 4)); // of all calls
}

static void host_op(struct sim_job *j, double step_us, double u)
{
    j->host_op_us = step_us * between(u, 0.2, 0.6);
    j->host_op_bytes = 2e6;
    j->host_op_device_us = 40;
}

static void several_ranks(struct sim_job *j, double ranks)
{
    j->ranks = ranks;
    j->cores = 8 * ranks;
}

// As many small collectives as take the step's time by their fixed cost alone.
static void buckets(struct sim_job *j, double step_us, double u)
{
    several_ranks(j, 4);
    j->alpha_us = 250;
    j->gradient_bytes = floor(step_us * 1e3 * j->bus_gbps * 0.25);
    j->bucket_bytes = floor(j->gradient_bytes / (step_us / j->alpha_us * between(u, 1, 1.6)));
}

static void no_overlap(struct sim_job *j, double step_us, double u)
{
    several_ranks(j, 2 + 2 * floor(u * 2));
    j->comm_overlap = 0;
    j->gradient_bytes = floor(step_us * 1e3 * j->bus_gbps * between(u, 0.25, 0.5));
}

static void straggler(struct sim_job *j, double step_us, double u)
{
    (void)step_us;
    several_ranks(j, 4);
    j->slow_rank = floor(u * 4);
    j->slow_factor = between(u, 1.2, 1.6);
}

const struct sim_pathology sim_pathologies[] = {
    {"input-slow", "input-free", input_slow},
    {"input-inline", "input-overlap", input_inline},
    {"input-spikes", "input-free", input_spikes},
    {"input-decode", "input-on-device=0.7", input_decode},
    {"pageable", "transfer-pinned", pageable},
    {"transfer-serial", "transfer-overlap", transfer_serial},
    {"slow-link", "link-faster=2", slow_link},
    {"static-data", "data-on-device", static_data},
    {"launches", "launch-graph", launches},
    {"small-batch", "batch=2", small_batch},
    {"unfused", "fuse", unfused},
    {"fp32", "precision=bf16", precision},
    {"unaligned", "align=8", unaligned},
    {"syncs", "no-sync", syncs},
    {"loss-scaling", "loss-scale-static", loss_scaling},
    {"callbacks", "callbacks-every=10", callbacks},
    {"program", "steps-per-launch=10", program},
    {"contention", "launch-thread", contention},
    {"host-op", "place=op:device", host_op},
    {"buckets", "comm-bucket=25000000", buckets},
    {"no-overlap", "comm-overlap", no_overlap},
    {"straggler", "no-straggler", straggler},
};
const int sim_pathology_count = sizeof sim_pathologies / sizeof sim_pathologies[0];

// In the order of sim_model.
static const struct {
    double layers_low, layers_high, matmuls, matmul_low, matmul_high, chain, elementwise_us, bytes;
} models[] = {
    [SIM_TRANSFORMER] = {4, 10, 4, 300, 900, 6, 45, 4e5},
    [SIM_CONVNET] = {12, 30, 1, 400, 1100, 3, 60, 2.4e7},
    [SIM_RECOMMENDER] = {4, 8, 2, 400, 900, 4, 70, 8e6},
    [SIM_TINY] = {10, 24, 1, 220, 400, 3, 40, 2e5},
};

void sim_pathology_healthy(struct sim_job *job, uint64_t seed)
{
    double u[8];
    for (int i = 0; i < 8; i++) {
        u[i] = sim_unit(sim_key(seed, (uint64_t)i, 0x4a6f62));
    }
    sim_job_default(job);
    job->seed = (double)seed;
    job->model = (int)(sim_mix(seed) % 4);
    job->framework = (int)(sim_mix(seed) / 4 % 3);
    job->steps = 12 + floor(u[0] * 13);
    job->layers =
        floor(between(u[1], models[job->model].layers_low, models[job->model].layers_high));
    job->matmuls = models[job->model].matmuls;
    job->matmul_us =
        floor(between(u[2], models[job->model].matmul_low, models[job->model].matmul_high));
    job->elementwise = models[job->model].chain;
    job->elementwise_us = models[job->model].elementwise_us;
    job->batch_bytes = models[job->model].bytes;
    job->precision = u[3] < 0.5 ? SIM_BF16 : SIM_TF32;
    job->fused = 1;
    job->copy_ahead = 1;
    job->backward_thread = job->framework == SIM_PYTORCH && u[4] < 0.5;
    job->jitter = between(u[5], 0.005, 0.04);
    job->load_us = floor(between(u[6], 2000, 6000));
    job->prefetch = 4 + floor(u[7] * 8);
    // A trait, not a fault: half of the jobs query the runtime between launches.
    double asks = sim_unit(sim_key(seed, 8, 0x4a6f62));
    job->side_calls = asks < 0.5 ? 0 : 1 + floor((asks - 0.5) * 8);
    job->memsets = asks > 0.75;
}
