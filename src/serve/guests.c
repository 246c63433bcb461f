// SPDX-License-Identifier: Apache-2.0
// A list by age; see guests.h. A connection is ended by shutting its socket down, which its thread
// sees at its next read. The HTTP library closes a socket before it reports it, and its number may
// then belong to another file: hence the duplicates.
#include "serve/guests.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"

void stk_guests_open(struct stk_guests *g)
{
    *g = (struct stk_guests){.oldest = NULL};
    pthread_mutex_init(&g->lock, NULL);
}

void stk_guests_close(struct stk_guests *g)
{
    STK_ASSERT(!g->oldest && g->count == 0);
    pthread_mutex_destroy(&g->lock);
}

static void take_out(struct stk_guests *g, struct stk_guest *guest)
{
    if (guest->fd < 0) {
        return;
    }
    *(guest->older ? &guest->older->newer : &g->oldest) = guest->newer;
    *(guest->newer ? &guest->newer->older : &g->newest) = guest->older;
    close(guest->fd);
    guest->fd = -1;
    g->count--;
}

struct stk_guest *stk_guest_enter(struct stk_guests *g, int fd)
{
    struct stk_guest *guest = stk_alloc_zero(1, sizeof *guest);
    if (!guest) {
        return NULL;
    }
    guest->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (guest->fd < 0) {
        stk_free(guest);
        return NULL;
    }
    pthread_mutex_lock(&g->lock);
    if (g->count == STK_GUESTS_MAX) {
        struct stk_guest *oldest = g->oldest;
        (void)shutdown(oldest->fd, SHUT_RDWR);
        take_out(g, oldest);
    }
    guest->older = g->newest;
    *(g->newest ? &g->newest->newer : &g->oldest) = guest;
    g->newest = guest;
    g->count++;
    pthread_mutex_unlock(&g->lock);
    return guest;
}

void stk_guest_trust(struct stk_guests *g, struct stk_guest *guest)
{
    if (guest) {
        pthread_mutex_lock(&g->lock);
        take_out(g, guest);
        pthread_mutex_unlock(&g->lock);
    }
}

void stk_guest_leave(struct stk_guests *g, struct stk_guest *guest)
{
    stk_guest_trust(g, guest);
    stk_free(guest);
}
