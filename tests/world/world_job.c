// SPDX-License-Identifier: Apache-2.0
// Stands for a job in the simulated world: leaves the files that the hooks of a Python job leave,
// step by step. Usage: world_job STEP_MS STEPS [EXIT_STATUS]
//
// It steps twice as fast where STOKER_TUNE has a fix, and stops where that or STOKER_RUN says.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "job/capture/parent/step_record.h"

static void append(const char *folder, const char *name, const char *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (fd >= 0) {
        (void)!write(fd, text, strlen(text));
        close(fd);
    }
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// The facts that `stoker tune` looks for, and that its fix took hold.
static void tell(const char *folder, const char *tune)
{
    char name[64], text[512];
    snprintf(name, sizeof name, "tune-%ld.txt", (long)getpid());
    append(folder, name,
           "fact\ttorch.dataloader.num_workers\t0\nfact\ttorch.dataloader.items\t1000\n"
           "place\ttorch.dataloader\t/job.py\t12\n");
    const char *fix = strstr(tune, "fix=");
    if (fix && fix[4]) {
        snprintf(text, sizeof text, "applied\t%.*s\n", (int)strcspn(fix + 4, "=; "), fix + 4);
        append(folder, name, text);
    }
    for (int i = 0; i < 16; i++) {
        snprintf(text, sizeof text, "loss\t%d\t%.3f\n", i, 1.0 / (i + 1));
        append(folder, name, text);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        return 2;
    }
    uint64_t step_ns = strtoull(argv[1], NULL, 10) * 1000000u, steps = strtoull(argv[2], NULL, 10);
    const char *run = getenv("STOKER_RUN"), *dir = run ? strstr(run, "dir=") : NULL;
    const char *tune = getenv("STOKER_TUNE"), *hooks = getenv("PYTHONPATH");
    const char *stop = tune ? strstr(tune, "stop=") : NULL;
    char folder[4096] = ".", path[4200], pid[32];
    struct stk_steps_header h = {.magic = STK_STEPS_MAGIC,
                                 .version = STK_STEPS_VERSION,
                                 .header_bytes = STK_STEPS_HEADER_BYTES,
                                 .pid = (uint64_t)getpid(),
                                 .rank = -1,
                                 .source = STK_STEPS_OPTIMIZER,
                                 .has_wait = 1,
                                 .framework = "pytorch",
                                 .hooks = "pytorch"};
    snprintf(folder, sizeof folder, "%s", dir ? dir + 4 : ".");
    if (hooks) {
        char first[4096];
        snprintf(first, sizeof first, "%.*s", (int)strcspn(hooks, ":"), hooks);
        snprintf(pid, sizeof pid, "%ld\n", (long)getpid());
        append(first, "seen", pid);
    }
    if (tune) {
        tell(folder, tune);
        const char *fix = strstr(tune, "fix=");
        step_ns = fix && fix[4] ? step_ns / 2 : step_ns;
    }
    if (stop && strtoull(stop + 5, NULL, 10)) {
        steps = strtoull(stop + 5, NULL, 10);
    }
    snprintf(path, sizeof path, "%s/steps-%ld.rec", folder, (long)getpid());
    int fd = dir ? open(path, O_RDWR | O_CREAT | O_EXCL, 0666) : -1;
    h.first_ns = h.last_ns = now_ns();
    for (uint64_t i = 0; i < steps; i++) {
        nanosleep(
            &(struct timespec){(time_t)(step_ns / 1000000000u), (long)(step_ns % 1000000000u)},
            NULL);
        uint64_t end = now_ns();
        struct stk_steps_record r = {end, end - h.last_ns, (end - h.last_ns) / 2, 0};
        h.step_ns += r.dur_ns;
        h.wait_ns += r.wait_ns;
        h.last_ns = end;
        h.count = h.kept = i + 1;
        if (fd >= 0) {
            (void)!pwrite(fd, &r, sizeof r, (off_t)(STK_STEPS_HEADER_BYTES + i * sizeof r));
            (void)!pwrite(fd, &h, sizeof h, 0);
        }
    }
    printf("done\n");
    fflush(stdout);
    return argc > 3 ? atoi(argv[3]) : 0;
}
