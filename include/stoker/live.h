// SPDX-License-Identifier: Apache-2.0
// EXPERIMENTAL: the present state of a running job: its steps, what its processes and threads do,
// and what its control group, disks and GPUs allow. The library of `stoker top`.
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
    uint64_t window_ns; // time span of the figures, up to now; 0: five seconds
    int no_gpu;         // don't query NVIDIA's driver when stoker does the sampling
    uint64_t reserved[4];
};

// target: the folder of a run of `stoker run`, or a process id. For a process started by such a
// run, and for `stoker run` itself, the run's folder is found and read. For any other process,
// stoker starts its own sampler for it and its child processes. On success the caller must close
// *out. options may be NULL. STOKER_EUSAGE: the target is neither; STOKER_EINPUT: it doesn't exist.
enum stoker_status stoker_live_open(const char *target, const struct stoker_live_options *options,
                                    struct stoker_live **out, struct stoker_err *err);
void stoker_live_close(struct stoker_live *live); // takes NULL

// Reads what was written since. After opening a process, the first figures take about a second.
enum stoker_status stoker_live_refresh(struct stoker_live *live, struct stoker_err *err);
// Non-zero: the job has ended; from now on its last state is written.
int stoker_live_is_over(const struct stoker_live *live);
// Non-zero: there is something to show.
int stoker_live_is_ready(const struct stoker_live *live);

// format: "json", one object on one line ("stoker.live/1"; unknown fields are absent); "metrics",
// Prometheus's text format; "text", a screen of at most `rows` lines; "line", one line. options may
// be NULL.
struct stoker_live_write_options {
    int colour;  // text: ANSI colors
    int columns; // text, line: width, 0 = 80
    int rows;    // text: 0 = unlimited
    int ascii;   // text, line: only ASCII
    uint64_t reserved[3];
};
enum stoker_status stoker_live_write(const struct stoker_live *live, const char *format,
                                     const struct stoker_live_write_options *options,
                                     stoker_write_fn write, void *arg, struct stoker_err *err);

#ifdef __cplusplus
}
#endif
#endif
