// SPDX-License-Identifier: Apache-2.0
// Opens an address that holds a token in the user's browser. Every user of a machine can read the
// arguments of its programs, so the opener gets a file that only this user can read, and the file
// leads to the address.
#pragma once

#include "job/capture/parent/scratch.h"

// Makes *folder, which holds the file, and starts the opener: only where there is a screen and
// standard output is a terminal. The file must stay until the browser has read it:
// stk_scratch_remove when the server ends. Silent where something fails: the address was printed.
void stk_browser_open(struct stk_scratch *folder, const char *address);
