// SPDX-License-Identifier: Apache-2.0
// Ends a job that was only run for its window, without a word of its loader's workers.
#pragma once

#include <sys/types.h>

// Sends SIGTERM to `pid`. If that ends it at once, workers of PyTorch's loader that it started are
// ended first: each would print a traceback when it finds the connection to it closed. A process
// that handles SIGTERM ends its workers itself.
void stk_ask_to_end(pid_t pid);
