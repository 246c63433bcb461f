// SPDX-License-Identifier: Apache-2.0
// Error records and checked allocation: truncation, wrapping, overflow, fault injection.
#include "check.h"

#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/err.h"
#include "base/vec.h"

static void records(void)
{
    struct stoker_err err;
    stk_err_init(&err);
    CHECK_EQ(err.code, STOKER_OK);
    CHECK_EQ(err.offset, -1);
    CHECK_EQ(stk_err_set_at(&err, STOKER_EINPUT, 77, "%s is %d bytes", "x", 3), STOKER_EINPUT);
    CHECK_STR(err.message, "x is 3 bytes");
    CHECK_EQ(err.offset, 77);
    for (int i = 0; i < STOKER_ERR_CONTEXTS + 3; i++) {
        stk_err_while(&err, "step %d", i);
    }
    CHECK_EQ(err.contexts, STOKER_ERR_CONTEXTS);
    CHECK_STR(err.context[0], "step 0");
    CHECK_EQ(stk_err_set(&err, STOKER_ELIMIT, "wrapped: %s", err.message), STOKER_ELIMIT);
    CHECK_STR(err.message, "wrapped: x is 3 bytes");
    CHECK_EQ(err.contexts, 0);
    CHECK_EQ(err.offset, -1);
    CHECK_EQ(stk_err_set(NULL, STOKER_EUSAGE, "nobody listens"), STOKER_EUSAGE);
    stk_err_while(NULL, "nobody listens");
    CHECK_EQ(stk_err_nomem(NULL), STOKER_ENOMEM);
    CHECK_EQ(stk_err_set(&err, STOKER_EBUG, "%1000d", 5), STOKER_EBUG);
    CHECK_EQ(strlen(err.message), sizeof err.message - 1);
}

static void entries(void)
{
    struct stoker_err theirs, own;
    memset(&theirs, 0x5a, sizeof theirs);
    CHECK(stk_err_begin(NULL, &own) == &own && own.code == STOKER_OK && own.offset == -1);
    struct stoker_err *err = stk_err_begin(&theirs, &own);
    CHECK(err == &theirs && !err->message[0] && err->contexts == 0);
    stk_err_set(err, STOKER_EINPUT, "tried in vain");
    CHECK_EQ(stk_err_end(err, STOKER_OK), STOKER_OK); // it did without
    CHECK(err->code == STOKER_OK && !err->message[0]);
    CHECK_EQ(stk_err_end(err, STOKER_ELIMIT), STOKER_EBUG); // nobody said what failed
    CHECK(err->code == STOKER_EBUG && err->message[0]);
    stk_err_set(err, STOKER_ELIMIT, "a cap");
    CHECK_EQ(stk_err_end(err, STOKER_ELIMIT), STOKER_ELIMIT);
    CHECK_EQ(stk_err_fail(err), STOKER_ELIMIT);
    CHECK_STR(err->message, "a cap");
}

static void allocation(void)
{
    CHECK(stk_alloc_array(SIZE_MAX / 2, 3) == NULL);
    CHECK(stk_alloc_zero(SIZE_MAX / 2, 3) == NULL);
    CHECK(stk_alloc(SIZE_MAX) == NULL);
    void *none = stk_alloc(0);
    CHECK(none != NULL);
    CHECK(stk_realloc_array(none, SIZE_MAX, 2) == NULL); // the block lives on
    none = stk_realloc_array(none, 10, 10);
    CHECK(none != NULL);
    stk_free(none);
    stk_free(NULL);
    char *zero = stk_alloc_zero(100, 10);
    CHECK(zero && zero[0] == 0 && zero[999] == 0);
    stk_free(zero);
}

static void injection(void)
{
    uint64_t before = stk_alloc_count();
    void *p[4];
    stk_alloc_fail_at(2, 0);
    for (int i = 0; i < 4; i++) {
        p[i] = stk_alloc(1);
    }
    CHECK(p[0] && !p[1] && p[2] && p[3]);
    CHECK_EQ(stk_alloc_count() - before, 4);
    for (int i = 0; i < 4; i++) {
        stk_free(p[i]);
    }
    stk_alloc_fail_at(1, 1);
    CHECK(!stk_alloc(1) && !stk_alloc_zero(1, 1) && !stk_alloc_array(1, 1) &&
          !stk_realloc_array(NULL, 1, 1));
    stk_alloc_fail_at(0, 0);
    p[0] = stk_alloc(1);
    CHECK(p[0] != NULL);
    stk_free(p[0]);
}

// The advice fits what is short.
static void lacks(void)
{
    struct stoker_err err;
    struct stk_vec v;
    stk_vec_init(&v, 1, 3);
    CHECK(stk_vec_push_n(&v, 3) != NULL);
    CHECK(stk_vec_push(&v) == NULL);
    CHECK_EQ(stk_alloc_lack(), STK_LACK_CAP);
    CHECK_EQ(stk_err_nomem(&err), STOKER_ENOMEM);
    CHECK(strstr(err.message, "more items of one kind than stoker can hold") &&
          !strstr(err.message, "other programs"));
    stk_vec_deinit(&v);
    CHECK(stk_alloc_array(SIZE_MAX / 2, 3) == NULL);
    CHECK_EQ(stk_alloc_lack(), STK_LACK_MACHINE);
    CHECK_EQ(stk_err_nomem(&err), STOKER_ENOMEM);
    CHECK(strstr(err.message, "than the machine has") && !strstr(err.message, "other programs"));
    stk_alloc_fail_at(1, 0);
    CHECK(stk_alloc(1) == NULL);
    struct rlimit before, small;
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    if (before.rlim_cur == RLIM_INFINITY) {
        CHECK_EQ(stk_alloc_lack(), STK_LACK_MEMORY);
        CHECK_EQ(stk_err_nomem(&err), STOKER_ENOMEM);
        CHECK(strstr(err.message, "close other programs") != NULL);
        // Less than it has, and less than the machine has: the system is asked for more than
        // malloc.
        rlim_t limits[] = {1, (rlim_t)sysconf(_SC_PHYS_PAGES) * (rlim_t)sysconf(_SC_PAGESIZE) / 2};
        for (int i = 0; i < 2; i++) {
            small = (struct rlimit){limits[i], before.rlim_max};
            CHECK(setrlimit(RLIMIT_AS, &small) == 0);
            CHECK(getrlimit(RLIMIT_AS, &small) == 0);
            if (small.rlim_cur != limits[i]) { // qemu-user, whose own memory it would be
                check_skip("the limit of the address space cannot be set");
                return;
            }
            enum stk_alloc_lack lack = stk_alloc_lack();
            stk_err_nomem(&err);
            CHECK(setrlimit(RLIMIT_AS, &before) == 0);
            CHECK_EQ(lack, STK_LACK_LIMIT);
            CHECK(strstr(err.message, "ulimit -v") && !strstr(err.message, "other programs"));
        }
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(records);
    CHECK_RUN(entries);
    CHECK_RUN(allocation);
    CHECK_RUN(injection);
    CHECK_RUN(lacks);
    return check_done("unit.base_err");
}
