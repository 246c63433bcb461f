// SPDX-License-Identifier: Apache-2.0
// A step of the training thread: fetch, copy, forward, backward, reduction, optimizer, reading
// values back; and the loaders' batches. Every time is drawn by its key (rank, step, role, layer,
// index), so a fix leaves all other times unchanged.
#include "sim_plan.h"

#include "sim_random.h"
#include "sim_rates.h"

#define EVENT_NS 900 // cudaEventRecord, cudaStreamWaitEvent
#define MALLOC_NS 60000
#define ASK_US 0.5
#define MEMSET_US 2
#define GRAPH_NODE_NS 60 // of the host, for each node of a graph

struct plan {
    struct sim_world *w;
    const struct sim_job *job;
    struct sim_thread *t;
    uint32_t step;
    size_t graph;             // index of the open graph's instruction; SIZE_MAX: none
    uint32_t graphs, buckets; // so far in this step
    double unreduced;         // bytes of gradients not yet in a bucket
};

static struct sim_instr *add(struct plan *p, enum sim_do what)
{
    struct sim_instr *i = stk_vec_push(&p->t->program);
    if (!i) {
        sim_die("program of a thread", "no memory");
    }
    i->what = (uint8_t)what;
    return i;
}

static uint64_t key_of(const struct plan *p, int role, uint32_t layer, uint32_t index)
{
    uint64_t where = (uint64_t)p->t->rank << 32 | p->step;
    return sim_key((uint64_t)p->job->seed, where,
                   (uint64_t)role << 48 | (uint64_t)layer << 16 | index);
}

static int64_t host_ns(const struct plan *p, double us, uint64_t key)
{
    return (int64_t)(us * 1000 * sim_jitter(key, p->job->host_jitter));
}

static int64_t call_ns(const struct plan *p, double us, uint64_t key)
{
    return host_ns(p, us, key) + (p->w->is_profiled ? (int64_t)(p->job->profiler_us * 1000) : 0);
}

static void open_slice(struct plan *p, int role, uint32_t ordinal)
{
    struct sim_instr *i = add(p, SIM_DO_OPEN);
    i->role = (uint8_t)role;
    i->ordinal = ordinal;
}

static void work(struct plan *p, int64_t ns)
{
    if (ns > 0) {
        add(p, SIM_DO_WORK)->ns = ns;
    }
}

static void slice_of_work(struct plan *p, int role, double us, uint32_t index)
{
    if (us > 0) {
        open_slice(p, role, p->step);
        work(p, host_ns(p, us, key_of(p, role, 0, index)));
        add(p, SIM_DO_CLOSE);
    }
}

// From here on, launches are separate calls.
static void end_graph(struct plan *p)
{
    if (p->graph != SIZE_MAX) {
        struct sim_instr *g = stk_vec_at(&p->t->program, p->graph);
        g->ns = call_ns(p, p->job->graph_us, key_of(p, SIM_ROLE_GRAPH_LAUNCH, 0, p->graphs++)) +
                (int64_t)g->count * GRAPH_NODE_NS;
        p->graph = SIZE_MAX;
    }
}

static struct sim_instr *launch(struct plan *p, enum sim_stream_id stream, int kernel, uint64_t key)
{
    struct sim_instr *i = add(p, SIM_DO_LAUNCH);
    i->role = SIM_ROLE_LAUNCH;
    i->stream = (uint8_t)stream;
    i->other = (uint8_t)kernel;
    i->ns = call_ns(p, p->job->launch_us, sim_mix(key));
    return i;
}

// Queries of the runtime by a framework and its libraries before a launch.
static void ask(struct plan *p, enum sim_class class, uint64_t key)
{
    static const uint8_t roles[] = {SIM_ROLE_CAPTURING, SIM_ROLE_ATTRIBUTE, SIM_ROLE_OCCUPANCY,
                                    SIM_ROLE_QUERY};
    for (uint32_t i = 0; i < (uint32_t)p->job->side_calls; i++) {
        struct sim_instr *a = add(p, SIM_DO_ASK);
        a->role = roles[(i + (class != SIM_MATRIX)) % sizeof roles];
        int64_t seen = p->w->asks_are_profiled ? (int64_t)(p->job->profiler_us * 1000) : 0;
        a->ns = host_ns(p, ASK_US, sim_mix(key + 2 + i)) + seen;
    }
}

// Clears the workspace of a matrix product.
static void clear(struct plan *p, enum sim_class class, uint64_t key)
{
    if (p->job->memsets > 0 && class == SIM_MATRIX) {
        struct sim_instr *i = launch(p, SIM_COMPUTE, SIM_ROLE_K_MEMSET, sim_mix(key + 100));
        i->role = SIM_ROLE_MEMSET;
        i->bytes = 4096;
        i->work_ns = MEMSET_US * 1000;
    }
}

// A kernel and the operation of the framework around its launch.
static void kernel(struct plan *p, int op, int role, enum sim_class class, double us,
                   uint32_t layer, uint32_t index)
{
    const struct sim_job *job = p->job;
    uint64_t key = key_of(p, role, layer, index);
    double ns = sim_rates_kernel_ns(job, class, us) * sim_jitter(key, job->jitter);
    if (p->t->rank == job->slow_rank) {
        ns *= job->slow_factor;
    }
    if (us <= 0) {
        return;
    }
    if (job->all_host) {
        open_slice(p, SIM_ROLE_OP_ON_HOST, 0);
        work(p, (int64_t)(ns * job->host_slowness));
        add(p, SIM_DO_CLOSE);
    } else if (job->graph) {
        if (p->graph == SIZE_MAX) {
            p->graph = p->t->program.count;
            struct sim_instr *g = add(p, SIM_DO_GRAPH);
            g->role = SIM_ROLE_GRAPH_LAUNCH;
            g->stream = SIM_COMPUTE;
        }
        clear(p, class, key);
        launch(p, SIM_COMPUTE, role, key)->work_ns = ns;
        struct sim_instr *g = stk_vec_at(&p->t->program, p->graph);
        g->count = (uint32_t)(p->t->program.count - p->graph - 1);
    } else {
        open_slice(p, op, 0);
        work(p, call_ns(p, job->op_us, sim_mix(key + 1)) -
                    (p->w->is_profiled ? (int64_t)(job->profiler_us * 500) : 0));
        ask(p, class, key);
        clear(p, class, key);
        launch(p, SIM_COMPUTE, role, key)->work_ns = ns;
        add(p, SIM_DO_CLOSE);
    }
}

static void event(struct plan *p, enum sim_do what, int stream, int other, enum sim_slot slot)
{
    struct sim_instr *i = add(p, what);
    i->role = what == SIM_DO_RECORD ? SIM_ROLE_RECORD : SIM_ROLE_WAIT;
    i->stream = (uint8_t)stream;
    i->other = (uint8_t)other;
    i->slot = (uint8_t)slot;
    i->ns = EVENT_NS;
}

// Makes `stream` wait for what `other` has queued now.
static void join(struct plan *p, int stream, int other, enum sim_slot slot)
{
    event(p, SIM_DO_RECORD, other, other, slot);
    event(p, SIM_DO_WAIT, stream, other, slot);
}

static void copy(struct plan *p, int stream, enum sim_dir dir, double bytes, bool is_pinned,
                 bool is_waited, uint32_t index)
{
    const struct sim_job *job = p->job;
    if (bytes < 1 || job->all_host) {
        return;
    }
    end_graph(p);
    uint64_t key = key_of(p, SIM_ROLE_COPY, (uint32_t)dir, index);
    double gbps = sim_rates_link_gbps(job, dir == SIM_TO_DEVICE ? job->h2d_gbps : job->d2h_gbps);
    if (!is_pinned && gbps > job->pageable_gbps) {
        gbps = job->pageable_gbps;
    }
    struct sim_instr *i = add(p, SIM_DO_COPY);
    i->role = dir == SIM_TO_DEVICE ? SIM_ROLE_MEMCPY : SIM_ROLE_MEMCPY_BACK;
    i->stream = (uint8_t)stream;
    i->other = SIM_ROLE_COPY;
    i->dir = (uint8_t)dir;
    i->pinned = is_pinned;
    i->is_waited = is_waited;
    i->bytes = (int64_t)bytes;
    i->ns = call_ns(p, job->launch_us, sim_mix(key));
    i->work_ns = 1500 + bytes / gbps * sim_jitter(key, job->jitter);
}

static void read_back(struct plan *p, uint32_t index)
{
    const struct sim_job *job = p->job;
    bool waits = job->async_reads == 0;
    if (job->all_host) {
        return;
    }
    end_graph(p);
    open_slice(p, SIM_ROLE_ITEM, 0);
    copy(p, SIM_COMPUTE, SIM_TO_HOST, 4, !waits, false, 100 + index);
    if (waits) {
        struct sim_instr *i = add(p, SIM_DO_SYNC);
        i->role = SIM_ROLE_SYNC;
        i->stream = SIM_COMPUTE;
    }
    add(p, SIM_DO_CLOSE);
}

// Time the rank loses in this step, us.
static double late_us(const struct plan *p)
{
    const struct sim_job *job = p->job;
    double rank = p->t->rank;
    if ((p->step + 1) % (uint32_t)job->late_every != 0) {
        return 0;
    }
    bool is_late = rank >= job->late_rank && rank < job->late_rank + job->late_ranks;
    return is_late                   ? job->late_us
           : rank == job->late_other ? job->late_us * job->late_other_share
                                     : 0;
}

// A late rank loses time here, if this is the place.
static void lag(struct plan *p, enum sim_lag place)
{
    const struct sim_job *job = p->job;
    double us = (enum sim_lag)job->late_in == place ? late_us(p) : 0;
    if (us <= 0) {
        return;
    }
    uint64_t key = key_of(p, SIM_ROLE_PYTHON, 3, (uint32_t)place);
    if (job->late_on_device && (place == SIM_LATE_FORWARD || place == SIM_LATE_BACKWARD)) {
        kernel(p, SIM_ROLE_OP_ELEMENTWISE, SIM_ROLE_K_ELEMENTWISE, SIM_MEMORY, us, 0,
               2000 + (uint32_t)place);
        return;
    }
    end_graph(p);
    work(p, host_ns(p, us, key));
}

// A pause occurs in forward or backward, and in each step one rank may stall.
static void stop_short(struct plan *p, bool in_backward)
{
    const struct sim_job *job = p->job;
    uint64_t key = sim_key((uint64_t)job->seed, p->step, (uint64_t)SIM_ROLE_PYTHON << 48 | 1);
    if ((sim_mix(key ^ p->t->rank) & 1) == in_backward) {
        lag(p, SIM_LATE_PAUSE);
    }
    if (job->stall_us > 0 && !in_backward && key % (uint64_t)job->ranks == p->t->rank) {
        end_graph(p);
        work(p, host_ns(p, job->stall_us, key));
    }
}

bool sim_plan_has_loaders(const struct sim_job *job)
{
    return job->workers > 0 && !job->constant_input;
}

static int64_t load_ns(const struct plan *p, uint32_t batch)
{
    const struct sim_job *job = p->job;
    uint64_t key = sim_key((uint64_t)job->seed, p->t->rank, (uint64_t)SIM_ROLE_LOAD << 48 | batch);
    double us = job->load_us * (1 - job->on_device_share);
    if (job->load_every > 0 && (batch + 1) % (uint32_t)job->load_every == 0) {
        us += job->load_extra_us;
    }
    return host_ns(p, us * job->batch, key);
}

// The batch of a step, and its copy to the device.
static void input(struct plan *p, uint32_t batch)
{
    const struct sim_job *job = p->job;
    bool loaders = sim_plan_has_loaders(job), own = !loaders && !job->constant_input;
    end_graph(p);
    open_slice(p, own ? SIM_ROLE_FETCH_OWN : SIM_ROLE_FETCH, batch);
    if (loaders) {
        add(p, SIM_DO_FETCH)->ordinal = batch;
    }
    work(p, own ? load_ns(p, batch) : 0);
    lag(p, SIM_LATE_INPUT);
    work(p, host_ns(p, job->fetch_us, key_of(p, SIM_ROLE_FETCH, 0, 0)));
    add(p, SIM_DO_CLOSE);
    if (job->all_host) {
        return;
    }
    int stream = job->copy_ahead ? SIM_INPUT : SIM_COMPUTE;
    open_slice(p, SIM_ROLE_TO_DEVICE, batch);
    for (uint32_t i = 0; i < (uint32_t)job->copies; i++) {
        copy(p, stream, SIM_TO_DEVICE, job->batch_bytes * job->batch / job->copies,
             job->pinned != 0, false, i);
    }
    copy(p, stream, SIM_TO_DEVICE, job->static_bytes, job->pinned != 0, false, 50);
    add(p, SIM_DO_CLOSE);
    if (job->copy_ahead) {
        event(p, SIM_DO_RECORD, SIM_INPUT, SIM_INPUT, batch & 1 ? SIM_SLOT_ODD : SIM_SLOT_EVEN);
    }
}

static void chain(struct plan *p, uint32_t layer, uint32_t first)
{
    const struct sim_job *job = p->job;
    double n = job->elementwise, fused = 1 + 0.15 * (n - 1); // reads one more operand for each
    if (job->fused && n > 1) {
        kernel(p, SIM_ROLE_OP_FUSED, SIM_ROLE_K_FUSED, SIM_MEMORY, job->elementwise_us * fused,
               layer, first);
        return;
    }
    for (uint32_t i = 0; i < (uint32_t)n; i++) {
        kernel(p, SIM_ROLE_OP_ELEMENTWISE, SIM_ROLE_K_ELEMENTWISE, SIM_MEMORY, job->elementwise_us,
               layer, first + i);
    }
}

static void matrices(struct plan *p, uint32_t layer, uint32_t first, uint32_t count)
{
    bool is_conv = p->job->model == SIM_CONVNET;
    for (uint32_t i = 0; i < count; i++) {
        kernel(p, is_conv ? SIM_ROLE_OP_CONV : SIM_ROLE_OP_MATRIX,
               is_conv ? SIM_ROLE_K_CONV : SIM_ROLE_K_MATRIX, SIM_MATRIX, p->job->matmul_us, layer,
               first + i);
    }
}

static void forward(struct plan *p)
{
    const struct sim_job *job = p->job;
    open_slice(p, SIM_ROLE_FORWARD, 0);
    if (job->on_device_share > 0) {
        kernel(p, SIM_ROLE_OP_ELEMENTWISE, SIM_ROLE_K_PREPARE, SIM_MEMORY,
               job->load_us * job->on_device_share / job->on_device_speed, 0, 0);
    }
    for (uint32_t layer = 0; layer < (uint32_t)job->layers; layer++) {
        if (layer == (uint32_t)job->layers / 2) {
            lag(p, SIM_LATE_FORWARD);
            stop_short(p, false);
        }
        if (job->precision >= SIM_FP16) {
            kernel(p, SIM_ROLE_OP_CAST, SIM_ROLE_K_CAST, SIM_MEMORY, job->elementwise_us / 2, layer,
                   0);
        }
        matrices(p, layer, 0, (uint32_t)job->matmuls);
        chain(p, layer, 0);
    }
    end_graph(p);
    add(p, SIM_DO_CLOSE);
}

static void reduce(struct plan *p, double bytes)
{
    const struct sim_job *job = p->job;
    end_graph(p);
    open_slice(p, SIM_ROLE_OP_COLLECTIVE, 0);
    join(p, SIM_COMM, SIM_COMPUTE, SIM_SLOT_GRADIENT);
    uint64_t key =
        sim_key((uint64_t)job->seed, p->step, (uint64_t)SIM_ROLE_K_ALLREDUCE << 48 | p->buckets++);
    struct sim_instr *i = launch(p, SIM_COMM, SIM_ROLE_K_ALLREDUCE, key);
    i->bytes = (int64_t)bytes;
    i->work_ns = sim_collective_ns(job, bytes) * sim_jitter(sim_mix(key), job->jitter);
    add(p, SIM_DO_CLOSE);
}

// Reduces full buckets; with `all` also the rest.
static void reduce_ready(struct plan *p, bool all)
{
    while (p->unreduced >= p->job->bucket_bytes) {
        reduce(p, p->job->bucket_bytes);
        p->unreduced -= p->job->bucket_bytes;
    }
    if (all && p->unreduced >= 1) {
        reduce(p, p->unreduced);
        p->unreduced = 0;
    }
}

static void backward(struct plan *p)
{
    const struct sim_job *job = p->job;
    bool reduces = job->ranks > 1;
    open_slice(p, SIM_ROLE_BACKWARD, 0);
    for (uint32_t layer = (uint32_t)job->layers; layer-- > 0;) {
        if (layer == (uint32_t)job->layers / 2) {
            lag(p, SIM_LATE_BACKWARD);
            stop_short(p, true);
        }
        chain(p, layer, 1000);
        matrices(p, layer, 1000, 2 * (uint32_t)job->matmuls);
        p->unreduced += job->gradient_bytes / job->layers;
        if (reduces && job->comm_overlap) {
            reduce_ready(p, false);
        }
    }
    if (reduces) {
        reduce_ready(p, true);
        join(p, SIM_COMPUTE, SIM_COMM, SIM_SLOT_REDUCED);
    }
    end_graph(p);
    add(p, SIM_DO_CLOSE);
}

static void optimize(struct plan *p)
{
    const struct sim_job *job = p->job;
    if (job->loss_scaling > 0) {
        for (uint32_t layer = 0; layer < (uint32_t)job->layers && job->loss_scaling > 1; layer++) {
            kernel(p, SIM_ROLE_OP_SCALE, SIM_ROLE_K_SCALE, SIM_OPTIMIZER, job->optimizer_us / 2,
                   layer, 0);
        }
        if (job->loss_scaling > 1) {
            read_back(p, 1000);
        }
    }
    open_slice(p, SIM_ROLE_OPTIMIZER, 0);
    for (uint32_t layer = 0; layer < (uint32_t)job->layers; layer++) {
        for (uint32_t i = 0; i < (uint32_t)job->optimizer; i++) {
            kernel(p, SIM_ROLE_OP_OPTIMIZER, SIM_ROLE_K_OPTIMIZER, SIM_OPTIMIZER, job->optimizer_us,
                   layer, i);
        }
    }
    end_graph(p);
    add(p, SIM_DO_CLOSE);
}

static void host_op(struct plan *p)
{
    const struct sim_job *job = p->job;
    if (job->host_op_on_device) {
        kernel(p, SIM_ROLE_OP_HOST, SIM_ROLE_K_HOST_OP, SIM_OPTIMIZER, job->host_op_device_us, 0,
               0);
    } else if (job->host_op_us > 0) {
        end_graph(p);
        open_slice(p, SIM_ROLE_OP_HOST, 0);
        copy(p, SIM_COMPUTE, SIM_TO_HOST, job->host_op_bytes, false, true, 60);
        work(p, host_ns(p, job->host_op_us, key_of(p, SIM_ROLE_OP_HOST, 0, 0)));
        copy(p, SIM_COMPUTE, SIM_TO_DEVICE, job->host_op_bytes, false, false, 61);
        add(p, SIM_DO_CLOSE);
    }
}

static void before_model(struct plan *p)
{
    const struct sim_job *job = p->job;
    uint32_t every = (uint32_t)job->compile_every;
    if (p->step == 0 || (every && p->step % every == 0)) {
        slice_of_work(p, SIM_ROLE_COMPILE, job->compile_ms * 1000, 0);
    }
    if (p->step == 0 && p->w->is_profiled) {
        slice_of_work(p, SIM_ROLE_OVERHEAD, job->profiler_first_us, 0);
    }
    if (!job->copy_ahead || p->step == 0) {
        input(p, p->step);
    }
    if (job->copy_ahead && !job->all_host) {
        event(p, SIM_DO_WAIT, SIM_COMPUTE, SIM_INPUT, p->step & 1 ? SIM_SLOT_ODD : SIM_SLOT_EVEN);
    }
    if (p->step % (uint32_t)job->steps_per_launch == 0) {
        slice_of_work(p, SIM_ROLE_PYTHON, job->python_us, 0);
    }
    for (uint32_t i = 0; i < (uint32_t)job->allocs && !job->all_host; i++) {
        struct sim_instr *m = add(p, SIM_DO_MALLOC);
        m->role = SIM_ROLE_MALLOC;
        m->stream = SIM_STREAMS;
        m->ns = MALLOC_NS;
    }
}

static void after_model(struct plan *p)
{
    const struct sim_job *job = p->job;
    for (uint32_t i = 0; i < (uint32_t)job->syncs; i++) {
        read_back(p, i);
    }
    if (job->copy_ahead && p->step + 1 < job->steps) {
        input(p, p->step + 1);
    }
    if (job->framework == SIM_TENSORFLOW) { // callbacks are outside of its annotation
        add(p, SIM_DO_CLOSE);
    }
    if ((p->step + 1) % (uint32_t)job->callbacks_every == 0) {
        slice_of_work(p, SIM_ROLE_CALLBACK, job->callback_us, 0);
    }
    if (job->framework != SIM_TENSORFLOW) {
        add(p, SIM_DO_CLOSE);
    }
}

static void meet(struct plan *p, enum sim_do what, enum sim_meeting slot)
{
    add(p, what)->slot = (uint8_t)slot;
}

static bool fill_trainer(struct plan *p)
{
    const struct sim_job *job = p->job;
    if (p->step == job->steps) {
        add(p, SIM_DO_STEP)->ordinal = p->step; // where the last one ends
        struct sim_instr *i = add(p, SIM_DO_SYNC);
        i->role = SIM_ROLE_SYNC_ALL;
        i->stream = SIM_STREAMS;
        return true;
    }
    if (p->step > job->steps) {
        return false;
    }
    add(p, SIM_DO_STEP)->ordinal = p->step;
    open_slice(p, SIM_ROLE_STEP, p->step);
    before_model(p);
    forward(p);
    host_op(p);
    end_graph(p);
    if (job->backward_thread) {
        meet(p, SIM_DO_GIVE, SIM_MEET_BACKWARD);
        meet(p, SIM_DO_TAKE, SIM_MEET_DONE);
    } else {
        backward(p);
    }
    optimize(p);
    after_model(p);
    return true;
}

static bool fill_backward(struct plan *p)
{
    if (!p->job->backward_thread || p->step >= p->job->steps) {
        return false;
    }
    meet(p, SIM_DO_TAKE, SIM_MEET_BACKWARD);
    backward(p);
    meet(p, SIM_DO_GIVE, SIM_MEET_DONE);
    return true;
}

// A worker takes every n-th batch, in order.
static bool fill_loader(struct plan *p)
{
    uint32_t workers = (uint32_t)p->job->workers;
    uint32_t batch = p->step * workers + (p->t->number - 2u);
    if (batch >= p->job->steps) {
        return false;
    }
    add(p, SIM_DO_ROOM)->ordinal = batch;
    open_slice(p, SIM_ROLE_LOAD, batch);
    work(p, load_ns(p, batch));
    add(p, SIM_DO_CLOSE);
    add(p, SIM_DO_PUT)->ordinal = batch;
    return true;
}

bool sim_plan_fill(struct sim_world *w, struct sim_thread *t)
{
    struct plan p = {.w = w, .job = &w->job, .t = t, .step = t->filled++, .graph = SIZE_MAX};
    return t->number == 0 ? fill_trainer(&p) : t->number == 1 ? fill_backward(&p) : fill_loader(&p);
}
