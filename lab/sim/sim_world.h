// SPDX-License-Identifier: Apache-2.0
// The state of a simulated run: ranks with their CPU threads and device, shared cores, collectives,
// and the event queue. Times are nanoseconds from the start of the run.
//
// Everything that takes time is a task: remaining work, and its rate. Rates change while tasks run
// (a core is shared, a collective runs alongside a kernel); a task with a new rate gets a new end,
// and its old event is stale (`version`).
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "base/arena.h"
#include "base/vec.h"
#include "sim_job.h"
#include "sim_row.h"

enum sim_stream_id { SIM_COMPUTE, SIM_INPUT, SIM_COMM, SIM_STREAMS };
enum { SIM_SLOTS = 4, SIM_DEPTH = 8, SIM_THREADS_MAX = 2 + 256 };
enum sim_slot { SIM_SLOT_EVEN, SIM_SLOT_ODD, SIM_SLOT_GRADIENT, SIM_SLOT_REDUCED };
enum sim_meeting { SIM_MEET_BACKWARD, SIM_MEET_DONE, SIM_MEETINGS }; // between threads of a rank

struct sim_task {
    double left, rate;
    int64_t since_ns;
    uint32_t version;
    bool is_running;
};

// What a CPU thread does, in order. Filled for one step at a time (sim_plan.h).
enum sim_do {
    SIM_DO_WORK,   // ns of CPU time
    SIM_DO_OPEN,   // start of a slice
    SIM_DO_CLOSE,  // its end
    SIM_DO_LAUNCH, // a kernel or collective: `ns` on the CPU, `work_ns` on the device
    SIM_DO_GRAPH,  // a graph of the `count` following instructions, which are launches
    SIM_DO_COPY,
    SIM_DO_SYNC, // wait for `stream`; SIM_STREAMS: for all
    SIM_DO_MALLOC,
    SIM_DO_RECORD, // stores how far `stream` is filled, in `slot`
    SIM_DO_ASK,    // a call that queues nothing
    SIM_DO_WAIT,   // `stream` waits until `other` reaches `slot`
    SIM_DO_STEP,   // start of step `ordinal`
    SIM_DO_FETCH,  // wait for batch `ordinal`
    SIM_DO_ROOM,   // a loader: wait until batch `ordinal` may be prepared
    SIM_DO_PUT,    // it is ready
    SIM_DO_GIVE,   // meeting `slot`: one more
    SIM_DO_TAKE    // wait for one, and take it
};

struct sim_instr {
    uint8_t what, role, stream, other, slot, dir;
    bool pinned, is_waited; // of copies
    uint32_t ordinal, count;
    int64_t ns, bytes;
    double work_ns;
};

struct sim_op { // in a stream
    uint8_t role, kind, dir, other;
    bool pinned, is_graph, is_wait, ends_call;
    uint32_t step, ordinal;
    int64_t ready_ns, bytes;
    uint64_t corr, until; // until: a wait's mark in `other`
    double work_ns;
};

struct sim_stream {
    struct sim_op *ring; // the operations done..queued - 1
    uint32_t capacity;
    uint64_t queued, done;
    uint64_t calls, calls_done;         // that queued operations: a graph is one
    int64_t free_ns, start_ns, pump_ns; // end of the last; start of the running one; next check
    struct sim_task task;
    bool is_busy;
    uint32_t next_mark; // the rank's first step mark that this stream hasn't reached
};

struct sim_mark {             // a step's start
    int64_t host_ns, work_ns; // on the CPU, and the end of all work launched before
    uint64_t queued[SIM_STREAMS];
};

enum sim_block {
    SIM_FREE,
    SIM_FOR_DONE,  // `block_count` operations of the stream
    SIM_FOR_QUEUE, // as many calls that queued them
    SIM_FOR_ALL,   // all streams
    SIM_FOR_BATCH,
    SIM_FOR_ROOM,
    SIM_FOR_MEETING
};

struct sim_thread {
    uint32_t rank;
    uint16_t number;
    bool is_pinned; // has a dedicated core
    bool is_done;
    struct stk_vec program; // of struct sim_instr
    size_t pc;
    uint32_t filled; // steps, or batches of a loader, so far
    uint8_t phase;   // of the instruction
    enum sim_block block;
    uint8_t block_on; // stream or meeting
    uint64_t block_count;
    int64_t call_ns; // start of the running call
    uint64_t call_corr;
    struct sim_task task;
    struct sim_row slices[SIM_DEPTH]; // open ones
    int depth;
};

struct sim_rank {
    struct sim_stream streams[SIM_STREAMS];
    uint32_t first_thread, threads;
    uint32_t kernels; // running concurrently, without collectives
    bool has_collective;
    bool engines[2]; // busy, by direction
    uint64_t slots[SIM_SLOTS];
    uint32_t meetings[SIM_MEETINGS];
    uint8_t *is_ready; // ring of batches, sized by `prefetch` and the workers
    uint32_t ready_ring, fetched;
    uint32_t step;
    struct stk_vec marks; // of struct sim_mark
    uint64_t corr;
    uint32_t launched_collectives;
};

struct sim_collective {
    uint32_t ordinal, arrived;
    struct sim_task task;
    bool is_running;
};

struct sim_event {
    int64_t at_ns;
    uint64_t order; // breaks ties: first come, first served
    uint32_t what, id, version;
};

enum sim_event_kind { SIM_AT_THREAD, SIM_AT_STREAM, SIM_AT_PUMP, SIM_AT_COLLECTIVE };

struct sim_world {
    struct sim_job job;
    bool is_profiled;       // adds the profiler's overhead
    bool asks_are_profiled; // also to calls that queue nothing
    struct stk_arena arena;
    int64_t now_ns;
    struct stk_vec queue; // heap of struct sim_event
    uint64_t order, events;
    struct sim_rank *ranks;
    struct sim_thread *threads;
    uint32_t rank_count, thread_count, host_count;
    uint32_t *host_running;             // tasks on a host's shared cores, including other programs'
    double shared_cores;                // cores not dedicated to a thread
    struct sim_collective *collectives; // ring of running and waiting ones
    uint32_t collective_ring, collectives_done;
    void (*see)(void *arg, const struct sim_row *row);
    void *arg;
};

_Noreturn void sim_die(const char *what, const char *detail);

// sim_queue.c
void sim_queue_push(struct sim_world *w, int64_t at_ns, enum sim_event_kind what, uint32_t id,
                    uint32_t version);
bool sim_queue_pop(struct sim_world *w, struct sim_event *out);
// Starts a task, or continues it at another rate.
void sim_task_start(struct sim_world *w, struct sim_task *t, double work, double rate,
                    enum sim_event_kind what, uint32_t id);
void sim_task_rate(struct sim_world *w, struct sim_task *t, double rate, enum sim_event_kind what,
                   uint32_t id);
// Is the event the task's end, which it has then reached?
bool sim_task_ends(struct sim_task *t, const struct sim_event *e);

// sim_device.c: streams and copy engines. Queueing takes effect at once; pump starts all work that
// can run.
void sim_device_queue(struct sim_world *w, uint32_t rank, int stream, const struct sim_op *op);
void sim_device_pump(struct sim_world *w, uint32_t rank);
void sim_device_end(struct sim_world *w, uint32_t rank, int stream); // of the operation at the head
// Sets the rate of a rank's kernels from the work that runs at the same time.
void sim_device_share(struct sim_world *w, uint32_t rank);

// sim_collective.c
void sim_collective_arrive(struct sim_world *w, const struct sim_op *op);
void sim_collective_end(struct sim_world *w, uint32_t slot);
void sim_collective_share(struct sim_world *w);
double sim_collective_ns(const struct sim_job *job, double bytes);

// sim_host.c: threads
void sim_host_advance(struct sim_world *w, uint32_t thread);
void sim_host_end(struct sim_world *w, uint32_t thread); // of its task
// What waits for work of the rank's device looks again.
void sim_host_wake(struct sim_world *w, uint32_t rank);

#endif
