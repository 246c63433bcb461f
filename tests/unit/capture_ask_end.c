// SPDX-License-Identifier: Apache-2.0
// How `stoker run --stop` ends a job with processes of its own: workers of PyTorch's loader never
// see the job die, other children do, and a job that handles SIGTERM ends its workers itself.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "job/capture/parent/ask_end.h"

static int said[2];      // what the processes say, a letter each
static int to_worker[2]; // the job's end, and its workers'

static void say(char letter)
{
    if (write(said[1], &letter, 1) != 1) {
        _exit(2);
    }
}

// Says 'r' when it is ready, and `letter` once the job has closed its end, as it does by dying.
static void start_child(const char *name, char letter)
{
    if (fork() != 0) {
        return;
    }
    char byte;
    prctl(PR_SET_NAME, name);
    close(to_worker[0]);
    say('r');
    while (read(to_worker[1], &byte, 1) > 0) {
    }
    say(letter);
    _exit(0);
}

static void on_term(int number)
{
    (void)number;
    say('t');
    close(to_worker[0]);
    while (wait(NULL) > 0) {
    }
    _exit(0);
}

static pid_t start_job(bool handles)
{
    pid_t job = fork();
    if (job == 0) {
        if (handles) {
            signal(SIGTERM, on_term);
        }
        start_child("pt_data_worker", 'w');
        start_child("helper", 'h');
        close(to_worker[1]);
        for (;;) {
            pause();
        }
    }
    close(to_worker[0]);
    close(to_worker[1]);
    return job;
}

static bool was_said(const char *text, char letter)
{
    return strchr(text, letter) != NULL;
}

static void ends(bool handles)
{
    char heard[16] = "";
    int status = 0, at = 0;
    if (pipe(said) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, to_worker) != 0) {
        check_skip("no pipe or socket");
        return;
    }
    pid_t job = start_job(handles);
    close(said[1]);
    while (at < 2 && read(said[0], heard, 1) == 1) { // both are ready
        at++;
    }
    CHECK_EQ(at, 2);
    stk_ask_to_end(job);
    CHECK(waitpid(job, &status, 0) == job);
    CHECK(handles ? WIFEXITED(status) : WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    memset(heard, 0, sizeof heard);
    for (at = 0; at < 8 && read(said[0], heard + at, 1) == 1;) { // to the last process's end
        at++;
    }
    CHECK(was_said(heard, 'h'));
    CHECK_EQ(was_said(heard, 'w'), handles);
    CHECK_EQ(was_said(heard, 't'), handles);
    close(said[0]);
}

// Under qemu-user every process catches every signal, by the emulator.
static bool shows_its_own_handlers(void)
{
    char path[64], line[256];
    unsigned long long caught = ~0ull;
    pid_t pid = fork();
    if (pid == 0) {
        for (;;) {
            pause();
        }
    }
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f) && sscanf(line, "SigCgt: %llx", &caught) != 1) {
    }
    if (f) {
        fclose(f);
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return (caught >> (SIGTERM - 1) & 1) == 0;
}

int main(int argc, char **argv)
{
    enum { LONGEST_S = 60 };
    check_begin(argc, argv);
    alarm(LONGEST_S); // a process that doesn't end fails the test
    if (!shows_its_own_handlers()) {
        check_skip("an emulator catches the signals of all processes");
        return check_done("unit.capture_ask_end");
    }
    CHECK_RUN(ends, false);
    CHECK_RUN(ends, true);
    return check_done("unit.capture_ask_end");
}
