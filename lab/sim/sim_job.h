// SPDX-License-Identifier: Apache-2.0
// A training job for the simulator: numbers and words (sim_job.def) in a text file of lines `key =
// value`, with # for comments. Missing keys have their defaults.
#ifndef SIM_JOB_H
#define SIM_JOB_H

#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

struct sim_job {
#define N(name, value, least, most, meaning) double name;
#define W(name, choices, meaning) int name; // index of the word
#include "sim_job.def"
#undef N
#undef W
};

enum sim_model { SIM_TRANSFORMER, SIM_CONVNET, SIM_RECOMMENDER, SIM_TINY };
enum sim_framework { SIM_PYTORCH, SIM_TENSORFLOW, SIM_CUDA };
enum sim_lag {
    SIM_LATE_NOWHERE,
    SIM_LATE_INPUT,
    SIM_LATE_FORWARD,
    SIM_LATE_BACKWARD,
    SIM_LATE_PAUSE
};
enum sim_precision { SIM_FP32, SIM_TF32, SIM_FP16, SIM_BF16, SIM_FP8 };

void sim_job_default(struct sim_job *job);
// Sets one key from text; suggests the nearest one for an unknown key, and the bounds for a bad
// value.
enum stoker_status sim_job_set(struct sim_job *job, const char *key, const char *value,
                               struct stoker_err *err);
// The number of a key; 0 for a word.
double sim_job_number(struct sim_job *job, const char *key);
// Lines, or assignments separated by ';'; modifies `text`.
enum stoker_status sim_job_parse(struct sim_job *job, char *text, struct stoker_err *err);
// What differs from the defaults, each followed by `end`: "
// ", or ";" for a table cell.
void sim_job_print(const struct sim_job *job, const char *end, FILE *out);
// All keys with default, bounds and meaning.
void sim_job_help(FILE *out);
// The i-th word of a list of choices, in the caller's buffer.
const char *sim_job_word(const char *choices, int i, char *to, size_t size);

#endif
