// SPDX-License-Identifier: Apache-2.0
// Limits of the process; see process_limits.h. The counts are atomic, so they need no lock.
#include "engine/memory/process_limits.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/err.h"
#include "base/str.h"

static const char *const variables[] = {"STOKER_DATA_CPUS", "STOKER_DATA_THREADS",
                                        "STOKER_DATA_RAM"};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *wrong; // names a variable that isn't a number
static struct stk_limits limits;
static struct {
    uint64_t ram_bytes, ram_peak_bytes, threads, threads_most;
} used;

// A number of bytes, with an optional K, M or G suffix.
static bool parse(const char *text, int64_t *out)
{
    struct stk_str s = stk_str_from(text);
    static const char units[] = "kmg";
    int shift = 0;
    if (s.n > 1) {
        char last = (char)(s.p[s.n - 1] | 0x20);
        for (int i = 0; units[i]; i++) {
            shift = units[i] == last ? 10 * (i + 1) : shift;
        }
        s.n -= shift > 0;
    }
    return stk_str_to_i64(s, out) && *out >= 0 && *out <= INT64_MAX >> shift &&
           ((*out <<= shift), true);
}

static void forget_threads(void) // in a forked child, which has none of them
{
    __atomic_store_n(&used.threads, 0, __ATOMIC_RELAXED);
}

static void read_environment(void)
{
    pthread_atfork(NULL, NULL, forget_threads);
    int64_t values[3] = {0};
    for (int i = 0; i < 3; i++) {
        const char *text = getenv(variables[i]);
        if (text && *text && !parse(text, &values[i])) {
            wrong = variables[i];
            values[i] = 0;
        }
    }
    limits = (struct stk_limits){
        .cpus = values[0] < INT32_MAX ? (int)values[0] : INT32_MAX,
        .threads = values[1] < INT32_MAX ? (int)values[1] : INT32_MAX,
        .ram_bytes = (uint64_t)values[2],
    };
}

struct stk_limits stk_limits_now(void)
{
    pthread_once(&once, read_environment);
    return (struct stk_limits){
        .cpus = __atomic_load_n(&limits.cpus, __ATOMIC_RELAXED),
        .threads = __atomic_load_n(&limits.threads, __ATOMIC_RELAXED),
        .ram_bytes = __atomic_load_n(&limits.ram_bytes, __ATOMIC_RELAXED),
    };
}

void stk_limits_set(const struct stk_limits *l)
{
    pthread_once(&once, read_environment);
    __atomic_store_n(&limits.cpus, l->cpus, __ATOMIC_RELAXED);
    __atomic_store_n(&limits.threads, l->threads, __ATOMIC_RELAXED);
    __atomic_store_n(&limits.ram_bytes, l->ram_bytes, __ATOMIC_RELAXED);
}

enum stoker_status stk_limits_check(struct stoker_err *err)
{
    pthread_once(&once, read_environment);
    return wrong ? stk_err_set(err, STOKER_EINVAL,
                               "%s is '%.100s', not a number of bytes (with K, M or G if you like)",
                               wrong, getenv(wrong) ? getenv(wrong) : "")
                 : STOKER_OK;
}

// Adds to a count that must stay within its limit (0: none), and updates its maximum.
static bool take(uint64_t *count, uint64_t *most, uint64_t n, uint64_t limit)
{
    uint64_t now = __atomic_add_fetch(count, n, __ATOMIC_RELAXED);
    if (limit && now > limit) {
        __atomic_sub_fetch(count, n, __ATOMIC_RELAXED);
        return false;
    }
    uint64_t before = __atomic_load_n(most, __ATOMIC_RELAXED);
    while (now > before && !__atomic_compare_exchange_n(most, &before, now, true, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED)) {
    }
    return true;
}

static void give(uint64_t *count, uint64_t n)
{
    uint64_t before = __atomic_fetch_sub(count, n, __ATOMIC_RELAXED);
    STK_ASSERT(before >= n);
    (void)before;
}

bool stk_limits_take_ram(size_t bytes)
{
    return take(&used.ram_bytes, &used.ram_peak_bytes, bytes, stk_limits_now().ram_bytes);
}

void stk_limits_give_ram(size_t bytes)
{
    give(&used.ram_bytes, bytes);
}

bool stk_limits_take_thread(void)
{
    return take(&used.threads, &used.threads_most, 1, (uint64_t)stk_limits_now().threads);
}

void stk_limits_give_thread(void)
{
    give(&used.threads, 1);
}

struct stk_limits_use stk_limits_use(void)
{
    struct stk_limits_use u = {
        .threads = (int)__atomic_load_n(&used.threads, __ATOMIC_RELAXED),
        .threads_most = (int)__atomic_load_n(&used.threads_most, __ATOMIC_RELAXED),
        .ram_bytes = __atomic_load_n(&used.ram_bytes, __ATOMIC_RELAXED),
        .ram_peak_bytes = __atomic_load_n(&used.ram_peak_bytes, __ATOMIC_RELAXED),
        .ram_left = UINT64_MAX,
    };
    uint64_t most = stk_limits_now().ram_bytes;
    if (most) {
        u.ram_left = most > u.ram_bytes ? most - u.ram_bytes : 0;
    }
    return u;
}
