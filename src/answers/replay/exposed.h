// SPDX-License-Identifier: Apache-2.0
// What the device does in the replayed steps, and what the host does while the device waits.
#pragma once

#include "answers/replay/critical.h"

// Adds the time of the used steps by class; the classes sum to these steps. Device: the streams of
// the rank together. Work counts before collectives, these before copies, all of them before
// waiting, which is what the driving thread does meanwhile. Without a device: that thread alone.
void stk_exposed_sum(const struct stk_scene *s, const struct stk_times *t,
                     const int64_t *borders_ns, int64_t ns[STK_CRITICAL_COUNT]);
