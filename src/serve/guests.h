// SPDX-License-Identifier: Apache-2.0
// Connections that haven't shown the token. Anyone on the machine can open them and keep them open,
// so they take at most STK_GUESTS_MAX of the server's places: one more ends the oldest. The
// remaining places are for clients with the token.
#pragma once

#include <pthread.h>
#include <stddef.h>

// Far more than a browser opens at once: its new connections are guests, too, until the first
// request is read.
enum { STK_GUESTS_MAX = 256 };

struct stk_guest {
    struct stk_guest *older, *newer; // NULL: none
    int fd; // a duplicate of the connection's socket; -1: no longer a guest
};
struct stk_guests {
    pthread_mutex_t lock;
    struct stk_guest *oldest, *newest;
    size_t count;
};

void stk_guests_open(struct stk_guests *g);
void stk_guests_close(struct stk_guests *g); // after all have left

// A connection starts. NULL: no memory, or no descriptor: it can't be ended here.
struct stk_guest *stk_guest_enter(struct stk_guests *g, int fd);
// It has shown the token: it is never ended here. Takes NULL, and those that are no longer guests.
void stk_guest_trust(struct stk_guests *g, struct stk_guest *guest);
// It is over; frees it. Takes NULL.
void stk_guest_leave(struct stk_guests *g, struct stk_guest *guest);
