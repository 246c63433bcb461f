// SPDX-License-Identifier: Apache-2.0
// MPI without its headers (mpi.h). Three binary interfaces cover the implementations in use:
//
//   standard MPI 5's ABI, libmpi_abi.so: handles are pointers with values from the standard
//   Open MPI  libmpi.so.40: handles are the addresses of the library's variables
//   MPICH     libmpi.so.12, the ABI that MPICH, Intel MPI, MVAPICH and Cray MPICH share: handles
//             are ints
//
// Six functions suffice: they send bytes between two processes, and this file builds trees from
// that. The library is loaded with RTLD_GLOBAL, since Open MPI's plug-ins need its symbols.
//
// Limits: an error in MPI ends all processes, which is MPI's default. Counts are ints, so messages
// are cut into pieces of PIECE bytes.
#include "job/cluster/mpi.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"

#define PIECE ((size_t)1 << 28)
#define BYTES_MAX ((size_t)1 << 40)
#define TAG 0x73746b

enum interface { STANDARD, OPEN_MPI, MPICH };

#define CALLS(NAME, HANDLE)                                                                        \
    struct NAME {                                                                                  \
        int (*send)(const void *, int, HANDLE type, int to, int tag, HANDLE comm);                 \
        int (*recv)(void *, int, HANDLE type, int from, int tag, HANDLE comm, void *status);       \
        int (*rank)(HANDLE comm, int *);                                                           \
        int (*size)(HANDLE comm, int *);                                                           \
        HANDLE world;                                                                              \
        HANDLE byte;                                                                               \
    };
CALLS(pointer_calls, void *)
CALLS(number_calls, int)
#undef CALLS

struct stk_mpi {
    void *library;
    int (*init)(int *, char ***);
    int (*finalize)(void);
    bool has_numbers; // handles are ints
    union {
        struct pointer_calls p;
        struct number_calls n;
    };
    int rank, size;
};

static const struct candidate {
    const char *file;
    enum interface is;
    enum stk_launcher by; // NONE: any
} candidates[] = {
    // under Open MPI's launcher its own comes first: another's standard library would find no
    // others
    {"libmpi.so.40", OPEN_MPI, STK_LAUNCHER_OPEN_MPI},
    {"libmpi_abi.so.1", STANDARD, STK_LAUNCHER_NONE},
    {"libmpi_abi.so.0", STANDARD, STK_LAUNCHER_NONE},
    {"libmpi.so.12", MPICH, STK_LAUNCHER_OTHER},
    {"libmpich.so.12", MPICH, STK_LAUNCHER_OTHER},
    {"libmpi.so.40", OPEN_MPI, STK_LAUNCHER_OTHER}, // srun --mpi=pmix
};

static bool find(const struct stk_mpi *m, const char *name, void *to)
{
    void *at = dlsym(m->library, name);
    memcpy(to, &at, sizeof at);
    return at != NULL;
}

static bool find_calls(struct stk_mpi *m, enum interface is)
{
    m->has_numbers = is == MPICH;
    bool ok = find(m, "MPI_Init", &m->init) && find(m, "MPI_Finalize", &m->finalize);
    if (m->has_numbers) {
        m->n.world = 0x44000000;
        m->n.byte = 0x4c00010d;
        return ok && find(m, "MPI_Send", &m->n.send) && find(m, "MPI_Recv", &m->n.recv) &&
               find(m, "MPI_Comm_rank", &m->n.rank) && find(m, "MPI_Comm_size", &m->n.size);
    }
    m->p.world = (void *)(uintptr_t)0x101;
    m->p.byte = (void *)(uintptr_t)0x247;
    if (is == OPEN_MPI) {
        ok = ok && find(m, "ompi_mpi_comm_world", &m->p.world) &&
             find(m, "ompi_mpi_byte", &m->p.byte);
    }
    return ok && find(m, "MPI_Send", &m->p.send) && find(m, "MPI_Recv", &m->p.recv) &&
           find(m, "MPI_Comm_rank", &m->p.rank) && find(m, "MPI_Comm_size", &m->p.size);
}

// The library that belongs to the launcher of this process, if there is one: "BIN/../lib/FILE".
static void *open_beside_launcher(const char *file)
{
    char link[64], exe[PATH_MAX], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/%ld/exe", (long)getppid());
    ssize_t n = readlink(link, exe, sizeof exe - 1);
    exe[n > 0 ? n : 0] = 0;
    char *slash = strrchr(exe, '/');
    if (!slash) {
        return NULL;
    }
    *slash = 0;
    int made = snprintf(path, sizeof path, "%s/../lib/%s", exe, file);
    return made > 0 && (size_t)made < sizeof path && access(path, R_OK) == 0
               ? dlopen(path, RTLD_NOW | RTLD_GLOBAL)
               : NULL;
}

// The interface of a library that the user names.
static enum interface interface_of(void *library, const char *path)
{
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, "libmpi_abi.", 11) == 0 ? STANDARD
           : dlsym(library, "ompi_mpi_comm_world") ? OPEN_MPI
                                                   : MPICH;
}

static bool open_library(struct stk_mpi *m, const struct stk_launch *launch)
{
    const char *wanted = getenv(STK_LAUNCH_VARIABLE);
    if (wanted && *wanted) {
        m->library = dlopen(wanted, RTLD_NOW | RTLD_GLOBAL);
        return m->library && find_calls(m, interface_of(m->library, wanted));
    }
    for (size_t i = 0; i < 2 * (sizeof candidates / sizeof candidates[0]); i++) {
        const struct candidate *c = &candidates[i / 2];
        if (c->by != STK_LAUNCHER_NONE && c->by != launch->by) {
            continue;
        }
        m->library =
            i % 2 ? dlopen(c->file, RTLD_NOW | RTLD_GLOBAL) : open_beside_launcher(c->file);
        if (m->library && find_calls(m, c->is)) {
            return true;
        }
    }
    return false;
}

static enum stoker_status no_library(const struct stk_launch *launch, struct stoker_err *err)
{
    return stk_err_set(
        err, STOKER_ELIMIT,
        "%ld processes were started under MPI (%s), but their launcher's MPI library was not "
        "found. "
        "Install it (%s; or PyPI's mpich with its mpirun), name it with " STK_LAUNCH_VARIABLE
        "=/path/to/libmpi.so, or start stoker without mpirun",
        launch->size, launch->name,
        launch->by == STK_LAUNCHER_OPEN_MPI ? "Debian: libopenmpi3" : "Debian: libmpich12");
}

enum stoker_status stk_mpi_start(struct stk_mpi **out, const struct stk_launch *launch,
                                 struct stoker_err *err)
{
    struct stk_mpi *m = stk_alloc_zero(1, sizeof *m);
    *out = NULL;
    if (!m) {
        return stk_err_nomem(err);
    }
    if (!open_library(m, launch)) {
        stk_free(m);
        return no_library(launch, err);
    }
    m->init(NULL, NULL);
    if (m->has_numbers) {
        m->n.rank(m->n.world, &m->rank);
        m->n.size(m->n.world, &m->size);
    } else {
        m->p.rank(m->p.world, &m->rank);
        m->p.size(m->p.world, &m->size);
    }
    if (m->size != launch->size) {
        stk_mpi_end(m);
        return stk_launch_refuse_singletons(launch, err);
    }
    *out = m;
    return STOKER_OK;
}

int stk_mpi_rank(const struct stk_mpi *m)
{
    return m->rank;
}

static void send_piece(struct stk_mpi *m, const void *bytes, size_t n, int to)
{
    STK_ASSERT(n <= PIECE);
    if (m->has_numbers) {
        m->n.send(bytes, (int)n, m->n.byte, to, TAG, m->n.world);
    } else {
        m->p.send(bytes, (int)n, m->p.byte, to, TAG, m->p.world);
    }
}

static void recv_piece(struct stk_mpi *m, void *bytes, size_t n, int from)
{
    STK_ASSERT(n <= PIECE);
    if (m->has_numbers) { // its "no status" is 1
        m->n.recv(bytes, (int)n, m->n.byte, from, TAG, m->n.world, (void *)(uintptr_t)1);
    } else {
        m->p.recv(bytes, (int)n, m->p.byte, from, TAG, m->p.world, NULL);
    }
}

static void send(struct stk_mpi *m, const struct stk_vec *bytes, int to)
{
    uint64_t n = bytes->count;
    send_piece(m, &n, sizeof n, to);
    for (size_t at = 0; at < n; at += PIECE) {
        send_piece(m, (const char *)bytes->items + at, n - at < PIECE ? n - at : PIECE, to);
    }
}

// Receives bytes and appends them.
static bool recv(struct stk_mpi *m, struct stk_vec *bytes, int from)
{
    uint64_t n = 0;
    recv_piece(m, &n, sizeof n, from);
    char *to = n < BYTES_MAX ? stk_vec_push_n(bytes, n) : NULL;
    for (size_t at = 0; to && at < n; at += PIECE) {
        recv_piece(m, to + at, n - at < PIECE ? n - at : PIECE, from);
    }
    return to || n == 0;
}

bool stk_mpi_spread(struct stk_mpi *m, struct stk_vec *bytes)
{
    int step = 1;
    while (step < m->size && !(m->rank & step)) {
        step *= 2;
    }
    bool ok = m->rank == 0 || recv(m, bytes, m->rank - step);
    for (step /= 2; ok && step > 0; step /= 2) {
        if (m->rank + step < m->size) {
            send(m, bytes, m->rank + step);
        }
    }
    return ok;
}

bool stk_mpi_gather(struct stk_mpi *m, struct stk_vec *bytes)
{
    for (int step = 1; step < m->size; step *= 2) {
        if (m->rank & step) {
            send(m, bytes, m->rank - step);
            return true;
        }
        if (m->rank + step < m->size && !recv(m, bytes, m->rank + step)) {
            return false;
        }
    }
    return true;
}

void stk_mpi_end(struct stk_mpi *m)
{
    if (m) {
        m->finalize();
        stk_free(m);
    }
}
