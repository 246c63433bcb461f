// SPDX-License-Identifier: Apache-2.0
// A device's peak rates of computing and copying, from data sheets. A lower clock, a slower slot or
// a shared GPU reach less.
#pragma once

#include "profile/store/trace.h"

// The share of the peak of device links that large messages reach.
#define STK_LINK_REACHED 0.75

struct stk_device_rates {
    double fp32, tf32, fp16, bf16, fp8, int8; // operations per second, 0 not known
    double any;                               // of every precision, from the file; 0 not known
    double memory, host_link, peer_link; // bytes per second (links: one direction), 0 not known
};
// The file's figures take precedence over those that the name implies.
struct stk_device_rates stk_device_rates_of(struct stk_str name,
                                            const struct stk_device_limits *limits);
// Operations per second with operands of a precision of profile/model/device/kernel_names.h (NULL:
// not known); 0: not known.
double stk_device_flops(const struct stk_device_rates *rates, const char *precision);
