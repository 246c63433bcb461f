// SPDX-License-Identifier: Apache-2.0
// Pulling, skipping, random access; see pull.h.
#include "engine/run/pull.h"

#include "engine/memory/block_check.h"
#include "engine/run/account.h"
#include "engine/run/fork.h"

#define SKIP_BLOCK 4096
// Stages number their elements. The limit on elements skipped unmade leaves numbers for those that
// are made.
#define PASSED_OVER_MAX (INT64_MAX - (INT64_C(1) << 40))

bool stk_status_is_of_element(enum stoker_status s)
{
    return s != STOKER_OK && s != STOKER_EINTR && s != STOKER_ENOMEM && s != STOKER_ELIMIT &&
           s != STOKER_EOUTPUT && s != STOKER_EBUG;
}

static enum stoker_status take_pending(struct stk_iter *it, struct stoker_err *err)
{
    enum stoker_status s = it->pending;
    it->pending = STOKER_OK;
    STK_ASSERT(s != STOKER_OK);
    *err = it->pending_err;
    return s;
}

// With the skip policy, the stage where an element failed drops it, so later stages never see the
// error.
static bool leaves_out(struct stk_iter *it, enum stoker_status s)
{
    __atomic_add_fetch(&it->stats.errors, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&it->run->failures, 1, __ATOMIC_RELAXED);
    if (it->run->options.on_error != STK_ON_ERROR_SKIP || !stk_status_is_of_element(s)) {
        return false;
    }
    __atomic_add_fetch(&it->stats.skipped, 1, __ATOMIC_RELAXED);
    return true;
}

// Adds the failing stage and the user's line that made it to the error, once.
static void name_stage(const struct stk_iter *it, enum stoker_status s, struct stoker_err *err)
{
    if (s != STOKER_EINTR && err && err->contexts == 0 && it->ds->where) {
        stk_err_while(err, "%s, %s", it->kind->name, it->ds->where);
    }
}

STK_HOT static enum stoker_status next_of_kind(struct stk_iter *it, int64_t want,
                                               struct stk_block *out, struct stoker_err *err)
{
    enum stoker_status s;
    // An element that is ready at the root takes less than a microsecond; reading clocks would
    // double it.
    bool is_at_hand = !it->parent && !it->run->recorder &&
                      __atomic_load_n(&it->stats.head_ready, __ATOMIC_RELAXED);
    struct stk_iter *before = is_at_hand ? NULL : stk_account_enter(it);
    if (!is_at_hand && !it->parent) {
        __atomic_store_n(&it->run->root_waits, 1, __ATOMIC_RELAXED);
    }
    for (;;) {
        s = it->kind->next(it, want, out, err);
        STK_ASSERT(out->n >= 0 && out->n <= want);
        if (s == STOKER_OK) {
            break;
        }
        bool is_left_out = leaves_out(it, s);
        name_stage(it, s, err);
        if (out->n > 0) {
            STK_ASSERT(it->pending == STOKER_OK);
            it->pending = is_left_out ? STOKER_OK : s;
            it->pending_err = *err;
            s = STOKER_OK;
            break;
        }
        if (!is_left_out) {
            break;
        }
    }
    if (!is_at_hand && !it->parent) {
        __atomic_store_n(&it->run->root_waits, 0, __ATOMIC_RELAXED);
    }
    if (!is_at_hand) {
        stk_account_leave(before, s == STOKER_OK ? out->n : 0);
    }
    return s;
}

STK_HOT enum stoker_status stk_iter_next(struct stk_iter *it, int64_t want, struct stk_block *out,
                                         struct stoker_err *err)
{
    STK_ASSERT(want > 0 && !it->is_aggregate);
    stk_block_clear(out);
    if (it->pending != STOKER_OK) {
        return take_pending(it, err);
    }
    if (stk_run_is_cancelled(it->run)) {
        return stk_err_set(err, STOKER_EINTR, "the iterator was canceled");
    }
    if (it->run->forks != stk_fork_count()) {
        return stk_err_set(
            err, STOKER_EUSAGE,
            "the iterator was made before fork() and can't continue in the child. Open "
            "another one there");
    }
    enum stoker_status s = next_of_kind(it, want, out, err);
    if (s != STOKER_OK) {
        stk_block_clear(out); // what the stage had started to fill
    } else if (out->n > 0) {
        STK_ASSERT(out->count == it->ds->specs->count);
        STK_ASSERT_BLOCK(out);
        __atomic_add_fetch(&it->stats.elements, (uint64_t)out->n, __ATOMIC_RELAXED);
        __atomic_add_fetch(&it->stats.blocks, 1, __ATOMIC_RELAXED);
    }
    return s;
}

enum stoker_status stk_iter_skip(struct stk_iter *it, int64_t n, int64_t *done,
                                 struct stoker_err *err)
{
    STK_ASSERT(n >= 0 && !it->is_aggregate);
    *done = 0;
    if (it->pending != STOKER_OK) {
        return take_pending(it, err);
    }
    if (stk_run_is_cancelled(it->run)) {
        return stk_err_set(err, STOKER_EINTR, "the iterator was canceled");
    }
    if (!it->kind->skip) {
        return stk_iter_drop(it, n, done, err);
    }
    int64_t room = PASSED_OVER_MAX - it->passed_over, most = n < room ? n : room;
    enum stoker_status skipped = it->kind->skip(it, most, done, err);
    STK_ASSERT(*done >= 0 && *done <= most);
    it->passed_over += *done;
    if (skipped != STOKER_OK) {
        name_stage(it, skipped, err);
    } else if (*done == most && most < n) {
        return stk_err_set(err, STOKER_ELIMIT, "more than 2^63 elements would be skipped");
    }
    return skipped;
}

enum stoker_status stk_iter_drop(struct stk_iter *it, int64_t n, int64_t *done,
                                 struct stoker_err *err)
{
    struct stk_block block = {0};
    enum stoker_status s = STOKER_OK;
    *done = 0;
    while (s == STOKER_OK && *done < n) {
        int64_t want = n - *done < SKIP_BLOCK ? n - *done : SKIP_BLOCK;
        s = stk_iter_next(it, want, &block, err);
        *done += block.n;
        if (block.n == 0) {
            break;
        }
    }
    stk_block_free(&block);
    return s;
}

enum stoker_status stk_iter_at(struct stk_iter *it, const int64_t *index, int64_t n,
                               struct stk_block *out, struct stoker_err *err)
{
    stk_block_clear(out);
    STK_ASSERT(n > 0 && it->kind->at);
    enum stoker_status s = it->kind->at(it, index, n, out, err);
    if (s == STOKER_OK) {
        STK_ASSERT(out->n == n && out->count == it->ds->specs->count);
        STK_ASSERT_BLOCK(out);
    }
    return s;
}
