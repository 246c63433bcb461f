// SPDX-License-Identifier: Apache-2.0
// The words used in every answer: severity, confidence, framework, verdict. Each list below is the
// only place that names them: its enum, its names and the choices of a contract (results/rows.h)
// come from it. Code compares the enums; names are for people and for JSON. They are in base
// because the model, the fixes and the results use them, and don't include each other.
#pragma once

#include "base/str.h"

// W(ID, name). Confidence of a finding, highest first.
#define STK_LEVELS(W) W(HIGH, "high") W(MEDIUM, "medium") W(LOW, "low")
// Severity of a finding, worst first.
#define STK_SEVERITIES(W) STK_LEVELS(W) W(INFO, "info")
// What an issue of a profile costs: nothing, events or values, or the whole answer.
#define STK_ISSUE_SEVERITIES(W) W(INFO, "info") W(LOSS, "data_loss") W(ERROR, "error")
#define STK_VERDICTS(W)                                                                            \
    W(INPUT, "input-bound")                                                                        \
    W(HOST, "host-bound")                                                                          \
    W(SYNC, "sync-bound")                                                                          \
    W(TRANSFER, "transfer-bound")                                                                  \
    W(COMMUNICATION, "communication-bound")                                                        \
    W(STRAGGLER, "straggler")                                                                      \
    W(COMPUTE, "compute-bound")                                                                    \
    W(COLD, "cold-start")                                                                          \
    W(MIXED, "mixed")                                                                              \
    W(CANNOT_TELL, "cannot-tell")
// Its third field is the spelling for people.
#define STK_FRAMEWORKS(W)                                                                          \
    W(TENSORFLOW, "tensorflow", "TensorFlow")                                                      \
    W(PYTORCH, "pytorch", "PyTorch")                                                               \
    W(JAX, "jax", "JAX")                                                                           \
    W(CUDA, "cuda", "CUDA")
// The framework of a fix, or ANY.
#define STK_FIX_FRAMEWORKS(W) STK_FRAMEWORKS(W) W(ANY, "any", "any")

// The effort of a fix, for fixes that come in sizes.
#define STK_EFFORTS(W)                                                                             \
    W(ONE_WORKER, "one-worker")                                                                    \
    W(TWICE, "twice")                                                                              \
    W(WORKERS, "workers")                                                                          \
    W(REQUESTS, "requests")                                                                        \
    W(HALF, "half")                                                                                \
    W(EIGHTH, "eighth")
// What a finding is about. A problem of the recording costs the job nothing.
#define STK_TOPICS(W) W(JOB, "job") W(RECORDING, "recording")

// NONE isn't a word: in a contract, the value is absent.
#define STK_WORD(id, ...) STK_LEVEL_##id,
enum stk_level { STK_SEVERITIES(STK_WORD) STK_LEVEL_NONE };
#undef STK_WORD
#define STK_WORD(id, ...) STK_SEVERITY_##id,
enum stk_severity { STK_ISSUE_SEVERITIES(STK_WORD) STK_SEVERITY_COUNT };
#undef STK_WORD
#define STK_WORD(id, ...) STK_VERDICT_##id,
enum stk_verdict_kind { STK_VERDICTS(STK_WORD) STK_VERDICT_COUNT };
#undef STK_WORD
#define STK_WORD(id, ...) STK_EFFORT_##id,
enum stk_effort { STK_EFFORTS(STK_WORD) STK_EFFORT_COUNT };
#undef STK_WORD
#define STK_WORD(id, ...) STK_TOPIC_##id,
enum stk_topic { STK_TOPICS(STK_WORD) STK_TOPIC_COUNT };
#undef STK_WORD
#define STK_WORD(id, ...) STK_FW_##id,
enum stk_framework { STK_FIX_FRAMEWORKS(STK_WORD) STK_FW_COUNT = STK_FW_ANY };
#undef STK_WORD

#define STK_WORD_NAME(id, name, ...) name,
// The names of a list as a text for a field table: "high|medium|low".
#define STK_WORD_CHOICE(id, name, ...) "|" name
#define STK_CHOICES(list) (&(list(STK_WORD_CHOICE))[1])

// NULL for STK_LEVEL_NONE.
const char *stk_level_key(enum stk_level level);
const char *stk_severity_key(enum stk_severity severity);
const char *stk_verdict_key(enum stk_verdict_kind kind);
const char *stk_framework_key(enum stk_framework framework);
const char *stk_framework_title(enum stk_framework framework);
// The framework with this name, among those a profile can have; STK_FW_COUNT: none.
enum stk_framework stk_framework_find(struct stk_str name);
