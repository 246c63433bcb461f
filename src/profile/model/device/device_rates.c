// SPDX-License-Identifier: Apache-2.0
// Peak rates by the device's name (profile/model/device/device_rates.def). A word matches where no
// letter or digit touches it, so that "L4" is not found in "L40S". Unknown names have no rates: no
// share is better than a share of a wrong peak.
#include "profile/model/device/device_rates.h"

#include <string.h>

struct rates_row {
    const char *word;
    double fp32, tf32, fp16, bf16, fp8, int8, memory;
    int generation, lanes;
    double host_link, peer_link;
};
static const struct rates_row rates_rows[] = {
#define D(word, fp32, tf32, fp16, bf16, fp8, int8, memory, generation, lanes, host, peer)          \
    {word, fp32, tf32, fp16, bf16, fp8, int8, memory, generation, lanes, host, peer},
#include "profile/model/device/device_rates.def"
#undef D
};

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool has_word(struct stk_str name, struct stk_str word)
{
    for (size_t i = 0; i + word.n <= name.n; i++) {
        size_t end = i + word.n;
        if ((i == 0 || !is_letter(name.p[i - 1])) && (end == name.n || !is_letter(name.p[end])) &&
            stk_str_starts_nocase((struct stk_str){name.p + i, name.n - i}, word)) {
            return true;
        }
    }
    return false;
}

// One direction, after the line code: 8, 16 and 32 GT/s a lane with 128 of 130 bits.
static double pcie_rate(int generation, int lanes)
{
    static const double transfers[] = {8e9, 16e9, 32e9};
    return generation >= 3 && generation <= 5 ? transfers[generation - 3] / 8 * 128 / 130 * lanes
                                              : 0;
}

struct stk_device_rates stk_device_rates_of(struct stk_str name,
                                            const struct stk_device_limits *limits)
{
    struct stk_device_rates out = {.any = (double)limits->flops_per_s};
    for (size_t i = 0; i < sizeof rates_rows / sizeof rates_rows[0]; i++) {
        const struct rates_row *r = &rates_rows[i];
        if (!has_word(name, stk_str_from(r->word))) {
            continue;
        }
        out.fp32 = r->fp32 * 1e12;
        out.tf32 = r->tf32 * 1e12;
        out.fp16 = r->fp16 * 1e12;
        out.bf16 = r->bf16 * 1e12;
        out.fp8 = r->fp8 * 1e12;
        out.int8 = r->int8 * 1e12;
        out.memory = r->memory * 1e9;
        out.host_link = r->host_link > 0 ? r->host_link * 1e9 : pcie_rate(r->generation, r->lanes);
        out.peer_link = r->peer_link * 1e9;
        break;
    }
    if (limits->memory_bytes_per_s > 0) {
        out.memory = (double)limits->memory_bytes_per_s;
    }
    return out;
}

double stk_device_flops(const struct stk_device_rates *rates, const char *precision)
{
    const struct {
        const char *precision;
        double rate;
    } of[] = {{"fp32", rates->fp32}, {"tf32", rates->tf32}, {"fp16", rates->fp16},
              {"bf16", rates->bf16}, {"fp8", rates->fp8},   {"int8", rates->int8}};
    if (rates->any > 0) {
        return rates->any;
    }
    for (size_t i = 0; precision && i < sizeof of / sizeof of[0]; i++) {
        if (strcmp(precision, of[i].precision) == 0) {
            return of[i].rate;
        }
    }
    return 0;
}
