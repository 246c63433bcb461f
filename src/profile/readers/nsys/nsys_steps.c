// SPDX-License-Identifier: Apache-2.0
// Which NVTX ranges are training steps. Users choose the names, so a range counts as a step only if
// its name says so and its rhythm confirms it:
//   - the name ends, before a number, in the word step, iteration, iter, batch or minibatch
//     ("step 12", "Body of iteration 3", "train_batch_7", "ProfilerStep#4", "epoch 1 step 5"), or
//     without a number it is just such a word or "training step" ("train_step", "iteration");
//   - evaluation, warm-up, optimizer, micro-batch and denoising names are not taken;
// - at least 3 ranges of that family (name with its numbers masked) are on one thread without
// overlap, and their numbers rise (a restart from below, at an epoch, is allowed up to
//     every third time: the numbers are then not unique, and not kept);
//   - of several families of a process one is used: numbered before unnumbered, then the one that
//     covers most time.
// Everything else stays an annotation. O(n log n) in ranges whose name qualifies.
#include "base/assert.h"
#include "profile/readers/nsys/nsys.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"

#define MARKS_MIN 3
#define NAME_MAX_BYTES 120

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static bool is_letter(char c)
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}

// Words that make a step-like name something else.
static bool is_other_loop(struct stk_str name)
{
    static const struct stk_str words[] = {
        {"eval", 4},      {"valid", 5}, {"test", 4},   {"infer", 5},   {"predict", 7},
        {"warm", 4},      {"optim", 5}, {"micro", 5},  {"substep", 7}, {"timestep", 8},
        {"scheduler", 9}, {"sampl", 5}, {"denois", 6}, {"decode", 6},  {"generat", 7}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (stk_str_contains_nocase(name, words[i])) {
            return true;
        }
    }
    return false;
}

static bool is_step_word(struct stk_str word)
{
    static const struct stk_str whole[] = {
        {"step", 4}, {"iteration", 9}, {"iter", 4}, {"batch", 5}, {"minibatch", 9}};
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        if (stk_str_eq_nocase(word, whole[i])) {
            return true;
        }
    }
    // TrainStep, ProfilerStep, trainIteration
    return (word.n > 4 &&
            stk_str_eq_nocase((struct stk_str){word.p + word.n - 4, 4}, STK_STR("step"))) ||
           (word.n > 9 &&
            stk_str_eq_nocase((struct stk_str){word.p + word.n - 9, 9}, STK_STR("iteration")));
}

// The name without separators, in small letters, is one of a few.
static bool is_unnumbered_step(struct stk_str name)
{
    static const char *const known[] = {
        "step", "trainstep", "trainingstep", "iteration",     "trainiteration", "trainingiteration",
        "iter", "trainiter", "trainbatch",   "trainingbatch", "trainonestep",   "trainonebatch"};
    char plain[32];
    size_t n = 0;
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '_' || name.p[i] == '-' || name.p[i] == ' ') {
            continue;
        }
        if (!is_letter(name.p[i]) || n == sizeof plain) {
            return false;
        }
        plain[n++] = (char)(name.p[i] | 32);
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (stk_str_eq((struct stk_str){plain, n}, stk_str_from(known[i]))) {
            return true;
        }
    }
    return false;
}

// Hash of the name with each run of digits masked.
static uint64_t family_of(struct stk_str name)
{
    char masked[NAME_MAX_BYTES];
    size_t n = 0;
    for (size_t i = 0; i < name.n; i++) {
        bool digit = is_digit(name.p[i]);
        if (!digit || i == 0 || !is_digit(name.p[i - 1])) {
            masked[n++] = digit ? '#' : name.p[i];
        }
    }
    return stk_hash_bytes(masked, n);
}

// Cuts the digits off the end; false without digits, or with too many for a number.
static bool cut_number(struct stk_str *s, int64_t *number)
{
    size_t digits = 0;
    while (digits < s->n && is_digit(s->p[s->n - 1 - digits])) {
        digits++;
    }
    if (digits == 0 || digits > 18) {
        return false;
    }
    s->n -= digits;
    return stk_str_to_i64((struct stk_str){s->p + s->n, digits}, number);
}

bool stk_nsys_step_parse(struct stk_str name, uint64_t *family, int64_t *number)
{
    *number = -1;
    while (name.n && name.p[name.n - 1] == ' ') {
        name.n--;
    }
    if (name.n < 4 || name.n > NAME_MAX_BYTES) {
        return false;
    }
    struct stk_str s = name;
    if (s.p[s.n - 1] == ')' || s.p[s.n - 1] == ']') {
        s.n--;
    }
    if (!cut_number(&s, number)) {
        *number = -1;
        *family = family_of(name);
        return is_unnumbered_step(name) && !is_other_loop(name);
    }
    struct stk_str shorter = s;
    int64_t first;
    if (s.n > 1 && s.p[s.n - 1] == '/') { // "step 12/100"
        shorter.n--;
        if (cut_number(&shorter, &first)) {
            *number = first;
            s = shorter;
        }
    }
    while (s.n && !is_letter(s.p[s.n - 1]) && !is_digit(s.p[s.n - 1])) {
        s.n--;
    }
    size_t word = s.n;
    while (word && is_letter(s.p[word - 1])) {
        word--;
    }
    *family = family_of(name);
    return is_step_word((struct stk_str){s.p + word, s.n - word}) && !is_other_loop(s);
}

static int by_family_and_start(const void *pa, const void *pb)
{
    const struct stk_nsys_mark *a = *(struct stk_nsys_mark *const *)pa;
    const struct stk_nsys_mark *b = *(struct stk_nsys_mark *const *)pb;
    if (a->global_tid != b->global_tid) {
        return a->global_tid < b->global_tid ? -1 : 1;
    }
    if (a->family != b->family) {
        return a->family < b->family ? -1 : 1;
    }
    if (a->row.start_ns != b->row.start_ns) {
        return a->row.start_ns < b->row.start_ns ? -1 : 1;
    }
    return a->row.pos < b->row.pos ? -1 : a->row.pos > b->row.pos;
}

struct family {
    size_t first, count;
    int64_t global_pid;
    bool fits, numbered, unique;
    int64_t total_ns;
};

static struct family judge(struct stk_nsys_mark *const *marks, size_t first, size_t end)
{
    STK_ASSERT(first < end);
    const struct stk_nsys_mark *m = marks[first];
    size_t falls = 0;
    struct family f = {.first = first,
                       .count = end - first,
                       .global_pid = stk_nsys_global_pid(m->global_tid),
                       .fits = end - first >= MARKS_MIN,
                       .numbered = m->number >= 0,
                       .unique = true};
    for (size_t i = first; i < end; i++) {
        m = marks[i];
        if (__builtin_add_overflow(f.total_ns, m->row.dur_ns, &f.total_ns)) {
            f.total_ns = INT64_MAX;
        }
        if (i == first) {
            continue;
        }
        const struct stk_nsys_mark *before = marks[i - 1];
        int64_t apart;
        if (!__builtin_sub_overflow(m->row.start_ns, before->row.start_ns, &apart) &&
            apart < before->row.dur_ns) {
            f.fits = false;
        }
        if (f.numbered && m->number <= before->number) {
            f.unique = false;
            f.fits &= m->number < before->number && m->number <= marks[first]->number;
            falls++;
        }
    }
    f.fits &= falls * 3 <= f.count - 1; // mostly rising
    return f;
}

static bool is_better(const struct family *a, const struct family *b)
{
    if (!b->fits || !a->fits) {
        return a->fits;
    }
    if (a->numbered != b->numbered) {
        return a->numbered;
    }
    return a->total_ns > b->total_ns;
}

static void take(struct stk_nsys_mark **marks, const struct family *f)
{
    for (size_t i = f->first; f->fits && i < f->first + f->count; i++) {
        marks[i]->is_step = true;
        marks[i]->keeps_number = f->numbered && f->unique;
    }
}

// marks are sorted by thread, so those of a process are adjacent.
static void choose(struct stk_nsys_mark **marks, size_t count)
{
    STK_ASSERT(marks || count == 0);
    struct family best = {.fits = false};
    for (size_t first = 0, end; first < count; first = end) {
        const struct stk_nsys_mark *m = marks[first];
        end = first + 1;
        while (end < count && marks[end]->global_tid == m->global_tid &&
               marks[end]->family == m->family) {
            end++;
        }
        struct family f = judge(marks, first, end);
        if (best.count && best.global_pid != f.global_pid) {
            take(marks, &best);
            best = (struct family){.fits = false};
        }
        if (best.count == 0 || is_better(&f, &best)) {
            best = f;
        }
    }
    if (best.count) {
        take(marks, &best);
    }
}

static void add_marks(struct stk_nsys_unit *u)
{
    for (size_t i = 0; i < u->marks.count; i++) {
        const struct stk_nsys_mark *m = stk_vec_at(&u->marks, i);
        struct stk_row_ext ext = {.flags = STK_EXT_STEP, .value = m->number};
        if (m->keeps_number) {
            ext.flags |= STK_EXT_VALUE;
        } else {
            ext.value = 0;
        }
        stk_shard_add(u->shard, &m->row, m->is_step ? &ext : NULL);
    }
}

enum stoker_status stk_nsys_steps_add(struct stk_nsys_unit *units, uint32_t count,
                                      struct stoker_err *err)
{
    STK_ASSERT(units || count == 0);
    size_t total = 0, at = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += units[i].marks.count;
    }
    if (total == 0) {
        return STOKER_OK;
    }
    struct stk_nsys_mark **all = stk_alloc_array(total, sizeof *all);
    if (!all) {
        return stk_err_nomem(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        for (size_t k = 0; k < units[i].marks.count; k++) {
            all[at++] = stk_vec_at(&units[i].marks, k);
        }
    }
    stk_sort(all, total, sizeof *all, by_family_and_start);
    choose(all, total);
    stk_free(all);
    for (uint32_t i = 0; i < count; i++) {
        add_marks(&units[i]);
    }
    return STOKER_OK;
}
