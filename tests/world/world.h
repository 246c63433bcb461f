// SPDX-License-Identifier: Apache-2.0
// A simulated world for stoker and its jobs: real processes, files and signals, but one process
// runs at a time and time passes only while all of them wait. Which one goes on, and when
// something goes wrong, follows from a seed.
//
// The page below is a file that STOKER_WORLD names; each process of the program and of the job's
// stand-in maps it. A thread that takes part has a slot. It runs while it holds the turn, and hands
// the turn on in calls that would wait (world_calls.c).
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { WORLD_SLOTS = 64, WORLD_NOTE = 160 };
#define WORLD_NEVER UINT64_MAX

enum world_state {
    WORLD_FREE,
    WORLD_READY,
    WORLD_WAITS,   // for something that another may do: asks again after each step of others
    WORLD_SLEEPS,  // until its time
    WORLD_ON_COND, // until somebody signals, or its time
    WORLD_LEAVES   // is about to end
};

enum world_disaster {
    WORLD_NOTHING,
    WORLD_KILL,     // SIGKILL to a process
    WORLD_SIGNAL,   // SIGINT, SIGTERM or SIGHUP to stoker
    WORLD_STALL,    // a process does not go on for a long time
    WORLD_TRUNCATE, // a file gets shorter
    WORLD_SKEW,     // the calendar's clock jumps
    WORLD_SUSPEND,  // every clock jumps
    WORLD_FULL      // the disk is full from here on
};

struct world_slot {
    int32_t pid, tid;
    uint32_t state, turn; // the turn is what it waits for
    uint64_t until_ns;    // of what it waits for
    uint64_t seen;        // steps of others when it asked last
    uint64_t stalled_ns;  // it does not go on before
    uint64_t cond;
    uint32_t is_interrupted, reserved;
};

struct world {
    uint64_t random;      // the generator's state
    uint64_t now_ns;      // the monotonic clock
    int64_t skew_ns;      // that the calendar's clock is off
    uint64_t at, kind;    // the disaster, and the step at which it comes; 0: never
    uint64_t steps, hash; // calls that others can see; which calls in which order
    uint64_t changes;     // to what waiting threads ask for
    uint64_t is_full, struck, victim;
    uint64_t unsettled;  // a process was started or ended
    uint64_t freed;      // signals to a number that no process has: somebody else's soon
    uint64_t is_stuck;   // all wait, and nothing will happen
    uint64_t wants_kill; // of the victim, by stoker itself: the victim's end may be another's
    char note[WORLD_NOTE];
    struct world_slot slots[WORLD_SLOTS];
};

extern struct world *world;        // NULL: outside
extern _Thread_local int world_me; // this thread's slot; below 0: it takes no part
uint64_t world_random(uint64_t below);
int world_slot_take(void);  // a free one, which is ready
void world_enter(int slot); // this thread is that slot's: waits for the turn
void world_leave(void);     // hands the turn on for good
// Hands the turn on, and returns when this thread is to go on.
void world_wait(enum world_state state, uint64_t until_ns, const void *cond);
void world_step(const char *name); // a call that others can see; a disaster may come
void world_changed(void);
void world_settle(void); // waits for what a signal or an end brings about
