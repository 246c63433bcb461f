// SPDX-License-Identifier: Apache-2.0
// Collectives over all ranks: a rank's kernel is resident from its own start; the transfer starts
// when the last rank has arrived, and ends for all at once. It is slower alongside kernels, by the
// share of ranks that compute.
//
// The time of a transfer: a ring within a host, a tree between hosts (what-if forms of nccl-tests):
//   alpha + 2(m-1) hop + 2 log2(hosts) net_hop + bytes * 2(n-1)/n / bandwidth
// for n ranks, m of them on a host; the bandwidth is that of the slower link used.
#include "sim_world.h"

#include <math.h>

double sim_collective_ns(const struct sim_job *job, double bytes)
{
    double n = job->ranks, within = n < job->ranks_per_host ? n : job->ranks_per_host;
    double hosts = ceil(n / job->ranks_per_host), levels = 0;
    while (ldexp(1, (int)levels) < hosts) {
        levels++;
    }
    double gbps = hosts > 1 && job->net_gbps < job->bus_gbps ? job->net_gbps : job->bus_gbps;
    double us = job->alpha_us + 2 * (within - 1) * job->hop_us + 2 * levels * job->net_hop_us;
    return us * 1000 + bytes * 2 * (n - 1) / n / gbps / job->device_factor;
}

static double rate_of(const struct sim_world *w)
{
    if (w->job.comm_contention == 0) {
        return 1;
    }
    uint32_t busy = 0;
    // Above a number of ranks, use a sample: each kernel's start and end calls this.
    uint32_t step = w->rank_count > 64 ? w->rank_count / 64 : 1, seen = 0;
    for (uint32_t i = 0; i < w->rank_count; i += step, seen++) {
        busy += w->ranks[i].kernels > 0;
    }
    return 1 / (1 + w->job.comm_contention * busy / seen);
}

static struct sim_collective *slot_of(struct sim_world *w, uint32_t ordinal)
{
    struct sim_collective *c = &w->collectives[ordinal % w->collective_ring];
    if (c->ordinal != ordinal) {
        c->ordinal = ordinal;
        c->arrived = 0;
        c->is_running = false;
    }
    return c;
}

void sim_collective_arrive(struct sim_world *w, const struct sim_op *op)
{
    struct sim_collective *c = slot_of(w, op->ordinal);
    if (++c->arrived == w->rank_count) {
        c->is_running = true;
        sim_task_start(w, &c->task, op->work_ns, rate_of(w), SIM_AT_COLLECTIVE,
                       op->ordinal % w->collective_ring);
    }
}

// Only one runs at a time: a rank's are queued in one stream.
void sim_collective_share(struct sim_world *w)
{
    for (uint32_t i = 0; i < w->collective_ring; i++) {
        if (w->collectives[i].is_running) {
            sim_task_rate(w, &w->collectives[i].task, rate_of(w), SIM_AT_COLLECTIVE, i);
        }
    }
}

void sim_collective_end(struct sim_world *w, uint32_t slot)
{
    w->collectives[slot].is_running = false;
    for (uint32_t rank = 0; rank < w->rank_count; rank++) {
        sim_device_end(w, rank, SIM_COMM);
    }
}
