// SPDX-License-Identifier: Apache-2.0
// The record of this process. Addresses for its maximum size are reserved at once; the file is
// allocated and mapped there piece by piece, by the service's thread only, so that a full disk is
// an error there and never a signal in a thread of the job.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "base/remove.h"
#include "job/capture/inject/inject.h"
#include "stoker/version.h"

enum { PIECE_SLABS = 64, MARGIN_SLABS = 32 }; // allocated at a time; kept for threads of the job

static struct {
    int fd;
    uint8_t *base;
    uint64_t most, laid_out; // bytes
    bool is_open, is_stopped;
} file;

static int rank_of(void)
{
    static const char *const names[] = {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    const char *tasks = getenv("SLURM_NTASKS");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *text = getenv(names[i]);
        if (i == 3 && (!tasks || strcmp(tasks, "1") == 0)) {
            break; // with one task the number says nothing
        }
        if (text && *text && strlen(text) < 9 && strspn(text, "0123456789") == strlen(text)) {
            return atoi(text);
        }
    }
    return -1;
}

// Allocates `bytes` of the file and maps the new part; errno, or 0. Checks the limit on file sizes
// first, since exceeding it raises a signal.
static int lay_out(uint64_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        bytes > limit.rlim_cur) {
        return EFBIG;
    }
    int error = posix_fallocate(file.fd, 0, (off_t)bytes);
    if (error) {
        return error;
    }
    uint64_t from = file.laid_out & ~(uint64_t)65535; // whole pages on any machine
    void *at = mmap(file.base + from, bytes - from, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                    file.fd, (off_t)from);
    if (at == MAP_FAILED) {
        return errno;
    }
    file.laid_out = bytes;
    return 0;
}

static void refuse(const char *what, int error)
{
    char why[200];
    snprintf(why, sizeof why, "%.80s: %.100s", what, strerror(error));
    stk_inject_refuse(STK_CAPTURE_REFUSED, why);
}

static bool make(const char *path)
{
    uint64_t bytes = stk_wire_slabs_bytes(PIECE_SLABS);
    file.most = stk_wire_slabs_bytes(stk_inject.control->limit_bytes / STK_WIRE_SLAB_BYTES + 1);
    file.most = file.most > bytes ? file.most : bytes;
    file.laid_out = 0;
    file.fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file.fd < 0) {
        refuse("its record file can't be created", errno);
        return false;
    }
    file.base =
        mmap(NULL, file.most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int error = file.base == MAP_FAILED ? errno : lay_out(bytes);
    if (error) {
        refuse("its record file can't be allocated", error);
        close(file.fd);
        (void)stk_remove_file(AT_FDCWD, path);
        if (file.base != MAP_FAILED) {
            munmap(file.base, file.most);
        }
        return false;
    }
    return true;
}

bool stk_file_open(void)
{
    struct stk_control *c = stk_inject.control;
    char path[sizeof c->folder + sizeof stk_inject.slot->file], name[sizeof stk_inject.slot->file];
    char producer[24];
    if (file.is_open) {
        return !file.is_stopped;
    }
    int rank = rank_of();
    if (rank >= 0) {
        snprintf(name, sizeof name, "rank%d-%lld.gpu.stk", rank, (long long)getpid());
    } else {
        snprintf(name, sizeof name, "process-%lld.gpu.stk", (long long)getpid());
    }
    snprintf(path, sizeof path, "%s/%s", c->folder, name);
    if (!make(path)) {
        return false;
    }
    (void)stk_crc32c(0, name, sizeof name); // detects the available instructions now
    snprintf(producer, sizeof producer, "stoker capture %d.%d.%d", STOKER_VERSION_MAJOR,
             STOKER_VERSION_MINOR, STOKER_VERSION_PATCH);
    stk_wire_slabs_begin(&stk_inject.slabs, file.base, file.laid_out, producer, (uint64_t)getpid(),
                         stk_clock_ns(), stk_clock_of(CLOCK_REALTIME));
    stk_inject.writer = (struct stk_wire_slab){.slabs = &stk_inject.slabs};
    stk_inject.epilogue = stk_wire_slabs_epilogue(&stk_inject.slabs);
    memcpy(stk_inject.slot->file, name, sizeof name);
    file.is_open = true;
    file.is_stopped = false;
    stk_names_reset();
    stk_clocks_reset();
    return true;
}

static void stop(int error)
{
    char why[200];
    if (error == 0) {
        snprintf(why, sizeof why, "the record of process %lld reached its limit of %llu MB",
                 (long long)getpid(), (unsigned long long)(file.most >> 20));
    } else {
        snprintf(why, sizeof why, "the record of process %lld couldn't grow: %.100s",
                 (long long)getpid(), strerror(error));
    }
    file.is_stopped = true;
    stk_file_note(STK_WIRE_REMARK, 1, why);
    stk_inject_refuse(STK_CAPTURE_STOPPED, why);
}

// Uses up the allocated part before it stops recording.
bool stk_file_reserve(uint64_t slabs)
{
    while (!file.is_stopped && stk_wire_slabs_left(&stk_inject.slabs) < slabs + MARGIN_SLABS) {
        uint64_t bytes = file.laid_out + (uint64_t)PIECE_SLABS * STK_WIRE_SLAB_BYTES;
        int error = bytes > file.most ? 0 : lay_out(bytes);
        if (bytes > file.most || error) {
            if (stk_wire_slabs_left(&stk_inject.slabs) >= slabs + 1) {
                break;
            }
            stop(error);
        } else {
            stk_wire_slabs_grow(&stk_inject.slabs, bytes);
        }
    }
    stk_slot_set64(&stk_inject.slot->bytes, file.laid_out);
    return !file.is_stopped;
}

// Writes to the epilogue, which always has room for some of these.
void stk_file_note(enum stk_wire_loss_kind kind, uint64_t count, const char *what)
{
    struct stk_wire_slab *w = &stk_inject.epilogue;
    if (!file.is_open) {
        return;
    }
    struct stk_wire_loss loss = {.count = count, .kind = kind};
    loss.what = stk_wire_slab_string(w, what, strlen(what));
    void *room = stk_wire_slab_put(w, STK_WIRE_LOSSES, sizeof loss, 0, 0);
    if (room) {
        memcpy(room, &loss, sizeof loss);
    }
    stk_wire_slab_commit(w);
}

void stk_file_end(bool is_whole)
{
    if (!file.is_open) {
        return;
    }
    stk_wire_slab_commit(&stk_inject.writer);
    if (is_whole) {
        stk_wire_slab_end(&stk_inject.epilogue);
    }
    close(file.fd); // the mapping stays: threads of the job may still write
    file.is_open = false;
}

void stk_file_forget(void)
{
    if (file.is_open) {
        close(file.fd);
    }
    file.is_open = false;
}
