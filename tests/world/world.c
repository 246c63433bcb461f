// SPDX-License-Identifier: Apache-2.0
// Who goes on, when time passes, and what goes wrong; see world.h.
//
// The kernel ends processes in its own time. After anything that may have ended one, whoever has
// the turn waits (in real time) until all others either sleep in their futex or are gone (settle).
#include "world/world.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct world *world;
_Thread_local int world_me = -1;

#define HOUR_NS UINT64_C(3600000000000)

uint64_t world_random(uint64_t below)
{
    uint64_t z = world->random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return below ? (z ^ z >> 31) % below : 0;
}

void world_changed(void)
{
    world->changes++;
}

// ---- what the kernel does ----

// 'S': in its futex; 'Z': gone.
static char state_of(const struct world_slot *s)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", s->pid, s->tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    long n = fd < 0 ? -1 : syscall(SYS_read, fd, text, sizeof text - 1);
    if (fd >= 0) {
        syscall(SYS_close, fd);
    }
    if (n <= 0) {
        return 'Z';
    }
    text[n] = 0;
    const char *end = strrchr(text, ')');
    char state = end ? end[2] : 'Z';
    return state == 'X' || state == 'x' ? 'Z' : state;
}

// Until it is gone, or waits for its turn and no signal is under way to it. True: gone.
static bool settle_one(struct world_slot *s)
{
    char state = 'S';
    while (s->state != WORLD_FREE && s->tid && (state = state_of(s)) != 'Z' &&
           (state != 'S' || s->state == WORLD_LEAVES)) {
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 20000}, NULL);
    }
    if (state != 'Z') {
        return false;
    }
    siginfo_t info; // waits for the kernel's lock: by then the parent has been told
    *s = (struct world_slot){.state = WORLD_FREE};
    syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT, NULL);
    return true;
}

// The end of one may be the end of others.
void world_settle(void)
{
    bool is_gone = true;
    world->unsettled = 0;
    while (is_gone) {
        is_gone = false;
        for (int i = 0; i < WORLD_SLOTS; i++) {
            is_gone |= i != world_me && settle_one(&world->slots[i]);
        }
        world->changes += is_gone;
    }
}

// ---- turns ----

static bool can_go_on(const struct world_slot *s)
{
    if (s->state == WORLD_FREE || s->state == WORLD_LEAVES || s->stalled_ns > world->now_ns) {
        return false;
    }
    return s->state == WORLD_READY || s->until_ns <= world->now_ns || s->is_interrupted ||
           (s->state == WORLD_WAITS && s->seen != world->changes);
}

// -1: nobody can.
static int choose(void)
{
    int count = 0, chosen = -1;
    for (int i = 0; i < WORLD_SLOTS; i++) {
        if (can_go_on(&world->slots[i]) && world_random((uint64_t)++count) == 0) {
            chosen = i;
        }
    }
    return chosen;
}

static uint64_t next_moment(void)
{
    uint64_t next = WORLD_NEVER;
    for (int i = 0; i < WORLD_SLOTS; i++) {
        const struct world_slot *s = &world->slots[i];
        bool is_stalled = s->stalled_ns > world->now_ns;
        bool waits = s->state != WORLD_FREE && s->state != WORLD_LEAVES;
        uint64_t at = is_stalled ? s->stalled_ns : s->until_ns;
        next = waits && at > world->now_ns && at < next ? at : next;
    }
    return next;
}

static void stop_all(void)
{
    world->is_stuck = 1;
    for (int i = 0; i < WORLD_SLOTS; i++) {
        if (world->slots[i].pid > 0 && world->slots[i].pid != getpid()) {
            syscall(SYS_kill, world->slots[i].pid, SIGKILL);
        }
    }
    syscall(SYS_kill, getpid(), SIGKILL);
}

static void give_turn(int next)
{
    __atomic_store_n(&world->slots[next].turn, 1, __ATOMIC_RELEASE);
    if (next != world_me) {
        syscall(SYS_futex, &world->slots[next].turn, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

static void hand_on(void)
{
    int next;
    for (;;) {
        bool leaves = world_me >= 0 && world->slots[world_me].state == WORLD_LEAVES;
        if (world->unsettled && !leaves) {
            world_settle();
        }
        next = choose();
        uint64_t moment = next < 0 ? next_moment() : 0;
        if (next >= 0) {
            break;
        }
        bool is_anybody = false;
        for (int i = 0; i < WORLD_SLOTS; i++) {
            is_anybody |= i != world_me && world->slots[i].state != WORLD_FREE;
        }
        if (moment == WORLD_NEVER && world_me >= 0 &&
            world->slots[world_me].state == WORLD_LEAVES && !is_anybody) {
            return;
        }
        if (moment == WORLD_NEVER || moment > 1000000 * HOUR_NS) {
            stop_all();
        }
        world->now_ns = moment;
    }
    give_turn(next);
}

static void kill_victim(void)
{
    int pid = world->slots[world->victim].pid;
    world->wants_kill = 0;
    world->unsettled = 1;
    world_changed();
    if (pid == getpid()) {
        world->slots[world_me].state = WORLD_LEAVES;
        hand_on();
    }
    syscall(SYS_kill, pid, SIGKILL);
    world_settle();
}

static void await_turn(void)
{
    struct world_slot *s = &world->slots[world_me];
    while (!__atomic_load_n(&s->turn, __ATOMIC_ACQUIRE)) {
        syscall(SYS_futex, &s->turn, FUTEX_WAIT, 0, NULL, NULL, 0);
    }
    s->turn = 0;
    if (world->unsettled) { // whoever had the turn before may have ended
        world_settle();
    }
    s->state = WORLD_READY;
    s->cond = 0;
    s->until_ns = WORLD_NEVER;
    if (world->wants_kill && world_me == 0) {
        kill_victim();
    }
}

void world_wait(enum world_state state, uint64_t until_ns, const void *cond)
{
    struct world_slot *s = &world->slots[world_me];
    int saved = errno;
    s->state = state;
    s->until_ns = until_ns;
    s->cond = (uint64_t)(uintptr_t)cond;
    s->seen = world->changes;
    hand_on();
    await_turn();
    errno = saved;
}

int world_slot_take(void)
{
    for (int i = 0; i < WORLD_SLOTS; i++) {
        if (world->slots[i].state == WORLD_FREE) {
            world->slots[i] = (struct world_slot){.state = WORLD_READY, .until_ns = WORLD_NEVER};
            return i;
        }
    }
    snprintf(world->note, WORLD_NOTE, "more threads than slots");
    stop_all();
    return -1;
}

void world_enter(int slot)
{
    world_me = slot;
    world->slots[slot].pid = getpid();
    __atomic_store_n(&world->slots[slot].tid, (int32_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    await_turn();
}

void world_leave(void)
{
    if (world && world_me >= 0) {
        world->slots[world_me].state = WORLD_LEAVES;
        world->unsettled = 1;
        world_changed();
        hand_on();
        world_me = -1;
    }
}

// ---- what goes wrong ----

static int file_count;
static uint64_t file_chosen;
static char file_path[4096];

static int see_file(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)where;
    if (type == FTW_F && info->st_size > 0 && !strstr(path, "/canary/") &&
        file_count++ == (int)file_chosen) {
        snprintf(file_path, sizeof file_path, "%s", path);
    }
    return 0;
}

// A file below the box, or none.
static void truncate_one(void)
{
    const char *box = getenv("STOKER_WORLD_BOX");
    struct stat info;
    file_count = 0;
    file_chosen = UINT64_MAX >> 1;
    if (!box || nftw(box, see_file, 16, FTW_PHYS) != 0 || !file_count) {
        return;
    }
    file_chosen = world_random((uint64_t)file_count);
    file_count = 0;
    (void)nftw(box, see_file, 16, FTW_PHYS);
    if (stat(file_path, &info) == 0) {
        (void)!truncate(file_path, (off_t)world_random((uint64_t)info.st_size));
        snprintf(world->note, WORLD_NOTE, "%.150s", strrchr(file_path, '/'));
    }
}

static int some_process(void)
{
    int count = 0, chosen = 0;
    for (int i = 0; i < WORLD_SLOTS; i++) {
        const struct world_slot *s = &world->slots[i];
        if (s->state != WORLD_FREE && s->pid == s->tid && world_random((uint64_t)++count) == 0) {
            chosen = i;
        }
    }
    return chosen;
}

static void kill_one(void)
{
    world->victim = (uint64_t)some_process();
    if (world_me == 0 || world->slots[0].state == WORLD_FREE) {
        kill_victim();
        return;
    }
    world->wants_kill = 1;
    world->slots[world_me].state = WORLD_READY;
    give_turn(0);
    await_turn();
}

static void strike(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    static const uint64_t stalls_s[] = {1, 5, 30, 100};
    world->struck = 1;
    switch (world->kind) {
    case WORLD_KILL:
        kill_one();
        break;
    case WORLD_SIGNAL:
        world->slots[0].is_interrupted = 1;
        syscall(SYS_kill, world->slots[0].pid, signals[world_random(3)]);
        world_settle();
        break;
    case WORLD_STALL:
        world->victim = (uint64_t)some_process();
        world->slots[world->victim].stalled_ns =
            world->now_ns + stalls_s[world_random(4)] * 1000000000u;
        break;
    case WORLD_TRUNCATE:
        truncate_one();
        break;
    case WORLD_SKEW:
        world->skew_ns += (int64_t)world_random(48 * HOUR_NS) - (int64_t)(24 * HOUR_NS);
        break;
    case WORLD_SUSPEND:
        world->now_ns += world_random(2 * HOUR_NS);
        break;
    case WORLD_FULL:
        world->is_full = 1;
        break;
    default:
        break;
    }
}

void world_step(const char *name)
{
    if (!world || world_me < 0) {
        return;
    }
    const struct world_slot *s = &world->slots[world_me];
    int saved = errno;
    world_changed();
    world->now_ns += 1000;
    if (s->pid ==
        s->tid) { // the sampler's thread reads what the machine does, which is not simulated
        world->hash = (world->hash ^ (uint64_t)world_me) * 0x100000001b3u;
        for (const char *p = name; *p; p++) {
            world->hash = (world->hash ^ (uint64_t)*p) * 0x100000001b3u;
        }
        world->now_ns += 1000;
        if (++world->steps == world->at) {
            strike();
        }
        if (world->slots[world_me].stalled_ns > world->now_ns || world_random(4) == 0) {
            world_wait(WORLD_READY, WORLD_NEVER, NULL);
        }
    }
    errno = saved;
}

// ---- beginning and end ----

__attribute__((constructor)) static void join(void)
{
    const char *path = getenv("STOKER_WORLD");
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *at =
        fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) {
        syscall(SYS_close, fd);
    }
    if (at == MAP_FAILED) {
        return;
    }
    world = at;
    for (int i = 0; i < WORLD_SLOTS && world_me < 0; i++) { // of an exec: it has the turn
        world_me = world->slots[i].pid == getpid() ? i : -1;
    }
    if (world_me < 0) {
        world_me = world_slot_take();
        world->slots[world_me].pid = getpid();
        world->slots[world_me].tid = (int32_t)syscall(SYS_gettid);
    }
}

__attribute__((destructor)) static void part(void)
{
    world_leave();
}
