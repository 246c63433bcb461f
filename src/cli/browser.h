// SPDX-License-Identifier: Apache-2.0
// Opens an address that holds a token in the user's browser. Every user of a machine can read the
// arguments of its programs, so the opener gets a file that only this user can read, and the file
// leads to the address.
#pragma once

#include "job/capture/parent/scratch.h"

// Makes *folder with the file in it and starts the opener, but only if there is a screen and
// standard output is a terminal. The file must stay until the browser has read it: call
// stk_scratch_remove when the server ends. Failures are silent, since the address was printed.
void stk_browser_open(struct stk_scratch *folder, const char *address);
