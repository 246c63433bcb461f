// SPDX-License-Identifier: Apache-2.0
// STK_ASSERT when on and off: a true condition passes; a false one aborts with its place and text
// or, if off, isn't evaluated.
#include "check.h"

#include "base/assert.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int evaluated;

static int see(int value)
{
    evaluated++;
    return value;
}

static void fail_at_once(void)
{
    stk_assert_fail("a == b", "somewhere.c", 1207, "some_function");
}

static void fail_long(void)
{
    static char cond[5000];
    memset(cond, 'x', sizeof cond - 1);
    stk_assert_fail(cond, "somewhere.c", 0, "some_function");
}

static void assert_false(void)
{
    STK_ASSERT(see(0) == 1);
}

static void assert_true(void)
{
    STK_ASSERT(see(1) == 1);
}

// Runs f in a process of its own; what it wrote to standard error is in `said`. Its wait status.
static int run_apart(void (*f)(void), char *said, size_t size)
{
    int ends[2], status = -1;
    said[0] = '\0';
    if (pipe(ends) != 0) {
        return -1;
    }
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = {0, 0}; // the abort leaves no core file
        setrlimit(RLIMIT_CORE, &none);
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        f();
        _exit(0);
    }
    close(ends[1]);
    size_t len = 0;
    for (ssize_t n; len + 1 < size && (n = read(ends[0], said + len, size - 1 - len)) > 0;) {
        len += (size_t)n;
    }
    said[len] = '\0';
    close(ends[0]);
    if (pid > 0) {
        waitpid(pid, &status, 0);
    }
    return status;
}

static void message(void)
{
    char said[4096];
    int status = run_apart(fail_at_once, said, sizeof said);
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(WTERMSIG(status), SIGABRT);
    CHECK_STR(said, "somewhere.c:1207: some_function: assertion failed: a == b\n");
    status = run_apart(fail_long, said, sizeof said);
    CHECK(WIFSIGNALED(status));
    CHECK_EQ(strlen(said), 1024);
    CHECK(strstr(said, "somewhere.c:0: some_function: assertion failed: xxx") == said);
    CHECK_EQ(said[1023], '\n');
}

static void on_and_off(void)
{
    char said[4096];
    int status = run_apart(assert_true, said, sizeof said);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_STR(said, "");
    status = run_apart(assert_false, said, sizeof said);
#if STOKER_ASSERTIONS
    CHECK(WIFSIGNALED(status));
    CHECK(strstr(said, "base_assert.c:") != NULL);
    CHECK(strstr(said, ": assert_false: assertion failed: see(0) == 1\n") != NULL);
#else
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_STR(said, "");
#endif
    evaluated = 0;
    assert_true();
    CHECK_EQ(evaluated, STOKER_ASSERTIONS);
}

// The build's kind decides, and NDEBUG goes with it.
static void agrees_with_ndebug(void)
{
#ifdef NDEBUG
    CHECK_EQ(STOKER_ASSERTIONS, 0);
#else
    CHECK_EQ(STOKER_ASSERTIONS, 1);
#endif
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(message);
    CHECK_RUN(on_and_off);
    CHECK_RUN(agrees_with_ndebug);
    return check_done("unit.base_assert");
}
