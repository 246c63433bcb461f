// SPDX-License-Identifier: Apache-2.0
// EXPERIMENTAL: a job that runs, as it is now: its steps, what its processes and threads do, what
// its control group, disks and GPUs allow. The library of `stoker top`.
//
//   struct stoker_live *l; struct stoker_err e;
//   if (stoker_live_open("stoker-runs/2026-11-23_15-30-12", NULL, &l, &e) == STOKER_OK) {
//       while (!stoker_live_is_over(l) && stoker_live_refresh(l, &e) == STOKER_OK) {
//           stoker_live_write(l, "json", NULL, write_to_file, file, &e);
//           sleep(1);
//       }
//       stoker_live_close(l);
//   }
#ifndef STOKER_LIVE_H
#define STOKER_LIVE_H

#include <stdint.h>

#include "stoker/report.h"

#ifdef __cplusplus
extern "C" {
#endif

// For one thread at a time.
struct stoker_live;

struct stoker_live_options {
    uint64_t window_ns; // figures are of the last so many; 0: five seconds
    int no_gpu;         // do not ask NVIDIA's driver, where stoker samples by itself
    uint64_t reserved[4];
};

// target: the folder of a run of `stoker run`, or the number of a process. Of a process that such a
// run started, and of `stoker run` itself, the run's folder is found and read; beside any other one
// its own sampler is started, for it and the processes below it. On success *out is the caller's to
// close. options may be NULL. STOKER_EUSAGE: the target is neither; STOKER_EINPUT: it is not there.
enum stoker_status stoker_live_open(const char *target, const struct stoker_live_options *options,
                                    struct stoker_live **out, struct stoker_err *err);
void stoker_live_close(struct stoker_live *live); // takes NULL

// Reads what was written since; the first figures are there about a second after opening a process.
enum stoker_status stoker_live_refresh(struct stoker_live *live, struct stoker_err *err);
// Non-zero: the job has ended; what is written from now on is its last state.
int stoker_live_is_over(const struct stoker_live *live);
// Non-zero: there is something to show.
int stoker_live_is_ready(const struct stoker_live *live);

// format: "json", one object on one line ("stoker.live/1"; what is not known is absent);
// "metrics", Prometheus' text format; "text", a screen of at most `rows` lines; "line", one line.
// options may be NULL.
struct stoker_live_write_options {
    int colour;  // text: ANSI colors
    int columns; // text, line: width, 0 = 80
    int rows;    // text: 0 = as many as there are
    int ascii;   // text, line: no character beyond ASCII
    uint64_t reserved[3];
};
enum stoker_status stoker_live_write(const struct stoker_live *live, const char *format,
                                     const struct stoker_live_write_options *options,
                                     stoker_write_fn write, void *arg, struct stoker_err *err);

#ifdef __cplusplus
}
#endif
#endif
