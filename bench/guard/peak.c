// SPDX-License-Identifier: Apache-2.0
// stoker_peak COMMAND [ARG...]: runs a command with its output discarded, and prints its peak
// resident memory in KiB as the kernel accounts it.
//
// A child inherits the peak of the process that forked it, so a large caller (Python) hides what a
// small program needs: this one needs almost nothing. Returns the command's exit code.
#define _DEFAULT_SOURCE // wait4
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void run(char **command)
{
    int nothing = open("/dev/null", O_RDWR);
    if (nothing >= 0 && dup2(nothing, 0) == 0 && dup2(nothing, 1) == 1 && dup2(nothing, 2) == 2) {
        execvp(command[0], command);
    }
    _exit(127);
}

int main(int argc, char **argv)
{
    struct rusage used;
    int status;
    if (argc < 2) {
        fprintf(stderr, "usage: stoker_peak COMMAND [ARG...]\n");
        return 2;
    }
    pid_t child = fork();
    if (child == 0) {
        run(argv + 1);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child || !WIFEXITED(status)) {
        fprintf(stderr, "stoker_peak: %s did not run to its end\n", argv[1]);
        return 126;
    }
    printf("%ld\n", used.ru_maxrss);
    return WEXITSTATUS(status);
}
