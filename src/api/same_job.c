// SPDX-License-Identifier: Apache-2.0
// See same_job.h. With rank numbers on both sides:
//   distinct, same world size   ranks of one run, even if all else differs: a straggler, a skewed
//                               clock
//   distinct, sizes unknown     the same, unless framework or profiler differ
//   equal                       with world size 1 two jobs; else ranks.c reports two runs
// Otherwise framework, profiler and device must not contradict, and then
//   recorded at the same time   ranks of one run, unless their step times differ
//   one after the other         runs of one job if their steps are similar, or their names except
//                               for digits
//   clocks not comparable       ranks of one run if their steps are similar
// Hosts in one of TensorBoard's folders (plugins/profile/RUN) are ranks of one run.
// Limits: ranks of one run without rank numbers, on clocks further apart than the recording is
// long, look like runs of one job (--as-ranks overrides it).
#include "api/same_job.h"

#include <string.h>

#include "base/sort.h"
#include "profile/model/intervals.h"
#include "profile/store/names.h"

#define DAY_NS (86400 * INT64_C(1000000000))
#define EPOCH_FROM_NS INT64_C(1000000000000000000) // 2001: a clock beyond this counts from 1970
#define ALIKE 1.1                                  // ratio of step times: two runs of one program
#define CLOSE 1.5 // ratio for ranks that run at the same time and wait for each other

static int compare_ns(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return (a > b) - (a < b);
}

static bool see_steps(const struct stk_job *job, struct stk_arena *arena, struct stk_kin *out)
{
    size_t n = 0, all = 0;
    for (uint32_t r = 0; r < job->rank_count; r++) {
        all += job->ranks[r]->step_count;
        uint64_t marks = job->ranks[r]->step_marks;
        out->steps = marks > out->steps ? marks : out->steps;
    }
    int64_t *ns = stk_arena_array(arena, all + 1, sizeof *ns);
    if (!ns) {
        return false;
    }
    for (uint32_t r = 0; r < job->rank_count; r++) {
        for (uint32_t s = 0; s < job->ranks[r]->step_count; s++) {
            if (!job->ranks[r]->steps[s].excluded) {
                ns[n++] = job->ranks[r]->steps[s].dur_ns;
            }
        }
    }
    stk_sort(ns, n, sizeof *ns, compare_ns);
    out->step_ns = n ? ns[(n - 1) / 2] : 0;
    return true;
}

static void see_rank(const struct stk_rank_sum *r, struct stk_kin *out)
{
    int64_t start = stk_add_ns(r->base_ns, r->facts.first_ns);
    int64_t end = stk_add_ns(r->base_ns, r->facts.last_ns);
    out->start_ns = start < out->start_ns ? start : out->start_ns;
    out->end_ns = end > out->end_ns ? end : out->end_ns;
    out->frameworks |= r->facts.frameworks & ((1u << STK_FW_COUNT) - 1);
    out->world_size = r->world_size > out->world_size ? r->world_size : out->world_size;
    for (uint32_t d = 0; d < r->device_count; d++) {
        out->has_device |= r->devices[d].ops > 0;
        if (!*out->device && r->devices[d].ops > 0 && r->devices[d].name) {
            out->device = r->devices[d].name;
        }
    }
}

static bool says_rank(const struct stk_job *job)
{
    for (uint32_t r = 0; r < job->rank_count; r++) {
        if (job->ranks[r]->rank < 0) {
            return job->rank_count == 1 && job->rank_hint >= 0 && !job->is_numbered;
        }
    }
    return job->rank_count > 0;
}

bool stk_kin_of(const struct stk_job *job, struct stk_arena *arena, struct stk_kin *out,
                bool *failed)
{
    const uint32_t plain = 1u << STK_FW_CUDA;
    *out = (struct stk_kin){.job = job, .device = "", .world_size = -1};
    *failed = false;
    if (job->status != STOKER_OK || job->rank_count == 0 || job->info.read == 0) {
        return false;
    }
    out->start_ns = INT64_MAX;
    out->end_ns = INT64_MIN;
    for (uint32_t r = 0; r < job->rank_count; r++) {
        see_rank(job->ranks[r], out);
    }
    if (out->start_ns >= out->end_ns) {
        out->start_ns = out->end_ns = 0;
    }
    if (out->frameworks & ~plain) { // their frameworks call CUDA
        out->frameworks &= ~plain;
    }
    out->says_rank = says_rank(job);
    *failed = !see_steps(job, arena, out);
    return !*failed;
}

// Length of the path of a TensorBoard run's folder, with the slash; 0: another path.
static size_t run_folder(const char *path)
{
    const char *profile = strstr(path, "plugins/profile/"), *slash = strrchr(path, '/');
    const char *run = profile ? profile + strlen("plugins/profile/") : NULL;
    return run && slash >= run ? (size_t)(slash - path) + 1 : 0;
}

static bool same_folder_of_run(const struct stk_job *a, const struct stk_job *b)
{
    size_t n = run_folder(a->path);
    return n > 0 && n == run_folder(b->path) && memcmp(a->path, b->path, n) == 0;
}

static int32_t rank_of(const struct stk_kin *k, uint32_t i)
{
    int32_t rank = k->job->ranks[i]->rank;
    return rank >= 0 ? rank : k->job->rank_hint;
}

static bool share_a_rank(const struct stk_kin *a, const struct stk_kin *b)
{
    for (uint32_t i = 0; i < a->job->rank_count; i++) {
        for (uint32_t k = 0; k < b->job->rank_count; k++) {
            if (rank_of(a, i) == rank_of(b, k)) {
                return true;
            }
        }
    }
    return false;
}

static bool other_program(const struct stk_kin *a, const struct stk_kin *b)
{
    const char *fa = a->job->info.format, *fb = b->job->info.format;
    return (a->frameworks && b->frameworks && !(a->frameworks & b->frameworks)) ||
           (fa && fb && strcmp(fa, fb) != 0);
}

static bool other_device(const struct stk_kin *a, const struct stk_kin *b)
{
    return a->has_device != b->has_device ||
           (*a->device && *b->device && strcmp(a->device, b->device) != 0);
}

// Are number and time of steps within a factor of each other? A side without steps contradicts
// nothing.
static bool steps_within(const struct stk_kin *a, const struct stk_kin *b, double factor)
{
    double na = (double)a->steps, nb = (double)b->steps;
    double ta = (double)a->step_ns, tb = (double)b->step_ns;
    bool counts =
        a->steps == 0 || b->steps == 0 || (na <= nb * factor + 1 && nb <= na * factor + 1);
    bool lengths = a->step_ns == 0 || b->step_ns == 0 || (ta <= tb * factor && tb <= ta * factor);
    return counts && lengths;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// "host_17.1694128201545.pt.trace.json" and "host_18.1694128299999.pt.trace.json".
static bool names_alike(const char *a, const char *b)
{
    const char *sa = strrchr(a, '/'), *sb = strrchr(b, '/');
    a = sa ? sa + 1 : a;
    b = sb ? sb + 1 : b;
    while (*a && *b) {
        if (is_digit(*a) && is_digit(*b)) {
            a += strspn(a, "0123456789");
            b += strspn(b, "0123456789");
        } else if (*a++ != *b++) {
            return false;
        }
    }
    return !*a && !*b;
}

static bool has_time(const struct stk_kin *k)
{
    return k->start_ns < k->end_ns;
}

bool stk_kin_on_one_clock(const struct stk_kin *a, const struct stk_kin *b)
{
    int64_t apart;
    if (!has_time(a) || !has_time(b)) {
        return false;
    }
    return (a->start_ns > EPOCH_FROM_NS && b->start_ns > EPOCH_FROM_NS) ||
           (!__builtin_sub_overflow(a->start_ns, b->start_ns, &apart) && apart < DAY_NS &&
            apart > -DAY_NS);
}

bool stk_kin_overlap(const struct stk_kin *a, const struct stk_kin *b)
{
    return stk_kin_on_one_clock(a, b) && a->start_ns < b->end_ns && b->start_ns < a->end_ns;
}

static enum stk_kinship by_rank(const struct stk_kin *a, const struct stk_kin *b)
{
    bool is_size_known = a->world_size > 0 && b->world_size > 0;
    if (is_size_known && a->world_size != b->world_size) {
        return STK_KIN_NONE;
    }
    bool is_twice = share_a_rank(a, b);
    if (is_size_known && !is_twice) {
        return STK_KIN_SAME_RUN;
    }
    if (is_twice && is_size_known && a->world_size == 1) {
        return STK_KIN_NONE;
    }
    return other_program(a, b) || (is_twice && other_device(a, b)) ? STK_KIN_NONE
                                                                   : STK_KIN_SAME_RUN;
}

enum stk_kinship stk_kinship_of(const struct stk_kin *a, const struct stk_kin *b)
{
    if (a->says_rank && b->says_rank) {
        return by_rank(a, b);
    }
    if (same_folder_of_run(a->job, b->job)) {
        return STK_KIN_SAME_RUN;
    }
    if (other_program(a, b) || other_device(a, b)) {
        return STK_KIN_NONE;
    }
    if (stk_kin_overlap(a, b)) {
        return steps_within(a, b, CLOSE) ? STK_KIN_SAME_RUN : STK_KIN_NONE;
    }
    bool alike = steps_within(a, b, ALIKE);
    if (!stk_kin_on_one_clock(a, b)) {
        return alike ? STK_KIN_SAME_RUN : STK_KIN_NONE;
    }
    return alike || names_alike(a->job->path, b->job->path) ? STK_KIN_OTHER_RUN : STK_KIN_NONE;
}
