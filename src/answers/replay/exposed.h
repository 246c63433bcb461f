// SPDX-License-Identifier: Apache-2.0
// The device's work in the replayed steps, and the host's work while the device waits.
#pragma once

#include "answers/replay/critical.h"

// Adds the time of the used steps by class; the classes sum to these steps. With a device, all
// streams of the rank count together: work has priority over collectives, these over copies, and
// all of them over waiting, which gets the class of the driving thread's work. Without a device,
// only that thread counts.
void stk_exposed_sum(const struct stk_scene *s, const struct stk_times *t,
                     const int64_t *borders_ns, int64_t ns[STK_CRITICAL_COUNT]);
