// SPDX-License-Identifier: Apache-2.0
// A job's memory is that of all its processes, including those in their own groups and sessions,
// and those whose parent has ended.
#include "job/tune/tree_memory.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { MEGABYTES = 32 };
#define MB (1u << 20)

// Holds so much until it is killed, and says when it does.
static void hold(int ready)
{
    size_t n = (size_t)MEGABYTES * MB;
    char *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, 1, n);
    (void)!write(ready, p, 1);
    for (;;) {
        pause();
    }
}

enum how { PLAIN, SESSION, ORPHAN };

// The number of a process whose child holds memory; the orphan's own parent is gone by then.
static pid_t start(enum how how)
{
    int ready[2];
    char byte;
    CHECK_EQ(pipe(ready), 0);
    pid_t root = fork();
    if (root == 0) {
        prctl(PR_SET_CHILD_SUBREAPER, 1);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, how == ORPHAN ? 0 : SIGKILL);
            if (how != PLAIN) {
                setsid();
            }
            if (how == ORPHAN && fork() != 0) {
                _exit(0);
            }
            hold(ready[1]);
        }
        for (;;) {
            pause();
        }
    }
    CHECK_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return root;
}

static void descendants(enum how how)
{
    pid_t root = start(how);
    uint64_t held = stk_tree_memory(root);
    CHECK(held >= (uint64_t)MEGABYTES * MB && held < 20ull * MEGABYTES * MB);
    CHECK(stk_tree_memory(getpid()) >= held / 2); // above it, too
    // Its child is ended by this process' own hand where it is nobody's any more.
    char command[64];
    snprintf(command, sizeof command, "/proc/%d/task/%d/children", root, root);
    FILE *f = fopen(command, "re");
    for (int pid; f && fscanf(f, "%d", &pid) == 1;) {
        kill(pid, SIGKILL);
    }
    if (f) {
        fclose(f);
    }
    kill(root, SIGKILL);
    CHECK_EQ(waitpid(root, NULL, 0), root);
}

static void of_nobody(void)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    CHECK_EQ(waitpid(child, NULL, 0), child);
    CHECK_EQ(stk_tree_memory(child), 0);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(descendants, PLAIN);
    CHECK_RUN(descendants, SESSION);
    CHECK_RUN(descendants, ORPHAN);
    CHECK_RUN(of_nobody);
    return check_done("unit.tune_memory");
}
