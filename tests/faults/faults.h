// SPDX-License-Identifier: Apache-2.0
// The page that a program under test shares with the test: which call is to fail, which did. The
// test makes the file, STOKER_FAULTS names it, and all processes of the program map it, so that a
// call has one number whichever process makes it. faults.py has the same layout.
#pragma once

#include <stdint.h>

enum faults_kind {
    FAULTS_MEMORY,
    FAULTS_READ,
    FAULTS_WRITE,
    FAULTS_OPEN,
    FAULTS_MAP,
    FAULTS_FORK,
    FAULTS_CLOCK,
    FAULTS_KINDS
};

enum { FAULTS_DEPTH = 24, FAULTS_NAME = 32 };

struct faults_page {
    uint64_t kind, at;                    // the at-th call of that kind fails, from 1; 0: none does
    uint64_t error;                       // its error number
    uint64_t seen[FAULTS_KINDS];          // calls so far
    uint64_t struck;                      // whether it did
    char call[FAULTS_NAME];               // which it was
    uint64_t depth, frames[FAULTS_DEPTH]; // who called it: offsets in the program, innermost first
};
