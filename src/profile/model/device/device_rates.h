// SPDX-License-Identifier: Apache-2.0
// What a device can compute and move at most. Peaks of data sheets: a lower clock, a slower slot or
// a card that is shared reach less.
#pragma once

#include "profile/store/trace.h"

// Of the peak of links between devices, what large messages reach.
#define STK_LINK_REACHED 0.75

struct stk_device_rates {
    double fp32, tf32, fp16, bf16, fp8, int8; // operations per second, 0 not known
    double any;                               // of every precision, as the file says; 0 not known
    double memory, host_link, peer_link; // bytes per second (links: one direction), 0 not known
};
// What the file says of the device goes before what its name tells.
struct stk_device_rates stk_device_rates_of(struct stk_str name,
                                            const struct stk_device_limits *limits);
// Operations per second with operands of a precision of profile/model/device/kernel_names.h (NULL:
// not known); 0: not known.
double stk_device_flops(const struct stk_device_rates *rates, const char *precision);
