// SPDX-License-Identifier: Apache-2.0
// What tests tell the fake management library of NVIDIA's driver (fake_nvml.c). Found with dlsym.
#ifndef STK_TESTS_FAKE_NVML_H
#define STK_TESTS_FAKE_NVML_H

struct fake_nvml {
    unsigned devices;
    int init_result; // of nvmlInit_v2
    int lacks;       // all that may be missing answers NOT_SUPPORTED (3)
    int has_gpm;
    unsigned utilisation;                          // percent, of all devices
    unsigned sm_clock, sm_clock_max, memory_clock; // MHz
    unsigned long long reasons;
    unsigned milliwatts, limit_milliwatts, celsius;
    unsigned long long memory_used, memory_total;
    unsigned kilobytes_sent, kilobytes_received;
    double sm_active;                            // percent, of GPM
    unsigned inits, shutdowns, samples, misuses; // what was called; read by the test
};
struct fake_nvml *fake_nvml_state(void);

#endif
