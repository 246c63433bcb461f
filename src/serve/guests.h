// SPDX-License-Identifier: Apache-2.0
// Connections that have not shown the token. Anybody on the machine can open them and keep them
// open, so they hold at most STK_GUESTS_MAX of the server's places: one more ends the oldest of
// them. The remaining places are for clients with the token.
#pragma once

#include <pthread.h>
#include <stddef.h>

// More than a browser opens at once by far: what it has just opened is a guest, too, until its
// first request is read.
enum { STK_GUESTS_MAX = 256 };

struct stk_guest {
    struct stk_guest *older, *newer; // NULL: none
    int fd; // a duplicate of the connection's socket; -1: no guest any more
};
struct stk_guests {
    pthread_mutex_t lock;
    struct stk_guest *oldest, *newest;
    size_t count;
};

void stk_guests_open(struct stk_guests *g);
void stk_guests_close(struct stk_guests *g); // once all have left

// A connection begins. NULL: no memory, or no descriptor: it cannot be ended here.
struct stk_guest *stk_guest_enter(struct stk_guests *g, int fd);
// It has shown the token: it is never ended here. Takes NULL, and what is no guest any more.
void stk_guest_trust(struct stk_guests *g, struct stk_guest *guest);
// It is over; frees it. Takes NULL.
void stk_guest_leave(struct stk_guests *g, struct stk_guest *guest);
