// SPDX-License-Identifier: Apache-2.0
// Time accounts; see account.h.
#include "engine/run/account.h"

#include "base/assert.h"
#include "base/clock.h"
#include "engine/run/recorder.h"

#define RATIO_ONE 1024u
#define RATIO_EVERY_NS 1000000u
#define OUTSIDE_NS 20000u

static _Thread_local struct stk_account account;

static uint64_t cpu_clock_ns(void)
{
    return stk_clock_of(CLOCK_THREAD_CPUTIME_ID);
}

static void begin_measure(struct stk_account *a)
{
    a->cpu_ns = cpu_clock_ns();
    a->worked_ns = a->charged_ns = 0;
    a->ratio = RATIO_ONE;
}

// CPU time used since the last measurement and not yet charged to a stage.
static uint64_t measure(struct stk_account *a)
{
    uint64_t cpu = cpu_clock_ns(), used = cpu - a->cpu_ns;
    used = used < a->worked_ns ? used : a->worked_ns; // the rest was between stages
    uint64_t ratio = a->worked_ns ? used * RATIO_ONE / a->worked_ns : RATIO_ONE;
    a->ratio = ratio < 1 ? 1 : (uint32_t)ratio;
    uint64_t missing = used > a->charged_ns ? used - a->charged_ns : 0;
    a->debt_ns += used < a->charged_ns ? a->charged_ns - used : 0;
    a->cpu_ns = cpu;
    a->worked_ns = a->charged_ns = 0;
    return missing;
}

// Charges the time since the last change to the current stage; returns the time now.
static uint64_t charge(struct stk_account *a)
{
    uint64_t now = stk_clock_ns();
    if (a->stage) {
        uint64_t passed = now - a->since_ns, cpu;
        STK_ASSERT(now >= a->since_ns);
        a->worked_ns += passed;
        if (a->worked_ns > RATIO_EVERY_NS) {
            cpu = measure(a);
        } else {
            cpu = passed * a->ratio / RATIO_ONE;
            a->charged_ns += cpu;
        }
        uint64_t paid = cpu < a->debt_ns ? cpu : a->debt_ns;
        a->debt_ns -= paid;
        struct stk_stage_stats *s = &a->stage->stats;
        __atomic_add_fetch(&s->busy_ns, cpu - paid, __ATOMIC_RELAXED);
        __atomic_add_fetch(&s->held_ns, passed, __ATOMIC_RELAXED);
    }
    a->since_ns = now;
    return now;
}

struct stk_iter *stk_account_enter(struct stk_iter *it)
{
    struct stk_account *a = &account;
    struct stk_iter *before = a->stage;
    uint64_t left_ns = a->since_ns, now_ns = charge(a);
    if (!before && (!a->ratio || now_ns - left_ns > OUTSIDE_NS)) {
        begin_measure(a); // don't count what the thread did outside of the engine
    }
    a->before = before;
    a->stage = it;
    if (it && it->run->recorder) {
        stk_recorder_begin(it->run->recorder);
    }
    return before;
}

void stk_account_leave(struct stk_iter *before, int64_t given)
{
    struct stk_iter *it = account.stage;
    STK_ASSERT(it && given >= 0); // leave follows an enter
    if (it && it->run->recorder) {
        stk_recorder_end(it->run->recorder, it, given);
    }
    charge(&account);
    account.before = NULL;
    account.stage = before;
}

struct stk_account stk_account_set_aside(void)
{
    struct stk_account was = account;
    if (was.stage) {
        account = (struct stk_account){0};
    }
    return was;
}

void stk_account_take_up(const struct stk_account *was)
{
    if (was->stage) {
        account = *was;
    }
}

void stk_account_settle(struct stk_iter *it)
{
    struct stk_account *a = &account;
    uint64_t missing = measure(a), paid = missing < a->debt_ns ? missing : a->debt_ns;
    a->debt_ns -= paid;
    __atomic_add_fetch(&it->stats.busy_ns, missing - paid, __ATOMIC_RELAXED);
}

void stk_account_add(uint64_t cpu_ns)
{
    if (account.stage) {
        __atomic_add_fetch(&account.stage->stats.busy_ns, cpu_ns, __ATOMIC_RELAXED);
    }
}

struct stk_wait stk_wait_begin(void)
{
    return (struct stk_wait){charge(&account), stk_permit_return()};
}

void stk_wait_end(struct stk_wait w, struct stk_iter *it)
{
    if (w.had) {
        stk_permit_take(w.had);
    }
    uint64_t now = stk_clock_ns();
    account.since_ns = now;
    if (it) {
        __atomic_add_fetch(&it->stats.starve_ns, now - w.since_ns, __ATOMIC_RELAXED);
    }
    struct stk_iter *who = it && account.stage == it ? account.before : account.stage;
    if (who) {
        __atomic_add_fetch(&who->stats.wait_ns, now - w.since_ns, __ATOMIC_RELAXED);
    }
}
