// SPDX-License-Identifier: Apache-2.0
// When a bound on a saving is worth stating. A cause that takes nearly all of the step bounds its
// fix by so much that nobody reaches it ("25 times faster"): then only what the cause takes is a
// figure.
#pragma once

#define STK_BOUND_TELLS 0.9 // of the time: a larger bound (ten times faster) is not stated
