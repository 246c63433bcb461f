// SPDX-License-Identifier: Apache-2.0
// Disks: time with requests, bytes, pending requests (/proc/diskstats). Leaves out partitions and
// virtual disks (loop, RAM, device mapper, RAID). Limits: network file systems have no disk; a disk
// that serves many requests in parallel may be "busy" all the time long before it reaches its
// limit.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "job/capture/parent/small_file.h"
#include "job/capture/parent/watch.h"

#define DISKS_MAX 64
#define TEXT 65536
#define SECTOR 512 // bytes, on any disk

struct disk {
    char name[32];
    unsigned number; // major and minor
    uint32_t track;
    uint64_t read, written, busy_ms, queue_ms;
};
struct disks {
    struct stk_small_file file;
    char *text;
    struct disk disks[DISKS_MAX];
    uint32_t count;
};

static bool disks_open(struct stk_sampling *s, void **state, char *why, size_t size)
{
    struct disks *d = stk_alloc_zero(1, sizeof *d);
    char *text = stk_alloc(TEXT);
    bool is_open = d && text && stk_small_open(&d->file, s->proc, "diskstats");
    if (!is_open) {
        snprintf(why, size, "%s", d && text ? "/proc/diskstats can't be read" : "out of memory");
        stk_free(d);
        stk_free(text);
        return false;
    }
    d->text = text;
    *state = d;
    return true;
}

static void disks_close(void *state)
{
    struct disks *d = state;
    stk_small_close(&d->file);
    stk_free(d->text);
    stk_free(d);
}

// "sda1" of "sda", "nvme0n1p2" of "nvme0n1".
static bool is_partition(const char *name, const char *disk)
{
    size_t n = strlen(disk);
    if (n == 0 || strncmp(name, disk, n) != 0) {
        return false;
    }
    const char *rest = name + n + (name[n] == 'p');
    return *rest && rest[strspn(rest, "0123456789")] == 0;
}

static bool stands_for_others(const char *name)
{
    static const char *const kinds[] = {"loop", "ram", "zram", "dm-", "md", "fd", "sr", "nbd"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strncmp(name, kinds[i], strlen(kinds[i])) == 0) {
            return true;
        }
    }
    return false;
}

static struct disk *disk_of(struct stk_sampling *s, struct disks *d, const char *name,
                            unsigned number)
{
    STK_ASSERT(d->count <= DISKS_MAX);
    for (uint32_t i = 0; i < d->count; i++) {
        if (d->disks[i].number == number) {
            return &d->disks[i];
        }
    }
    if (d->count == DISKS_MAX) {
        return NULL;
    }
    struct disk *disk = &d->disks[d->count++];
    *disk = (struct disk){.number = number,
                          .track = stk_watch_thing(s, STK_SAMPLE_DISK, number, name),
                          .read = STK_WATCH_UNSEEN,
                          .written = STK_WATCH_UNSEEN,
                          .busy_ms = STK_WATCH_UNSEEN,
                          .queue_ms = STK_WATCH_UNSEEN};
    snprintf(disk->name, sizeof disk->name, "%.31s", name);
    return disk;
}

static void put(struct stk_sampling *s, enum stk_sampled id, const struct disk *d, double value)
{
    if (value > 0) {
        stk_watch_put(s, id, d->track, value);
    }
}

static void look_disk(struct stk_sampling *s, struct disk *d, const unsigned long long *f)
{
    double busy = stk_watch_rate(&d->busy_ms, f[9], s->look_s) * 1e-3;
    put(s, STK_SAMPLE_OF_DISK_BUSY, d, busy < 1 ? busy : 1);
    put(s, STK_SAMPLE_OF_DISK_READ, d, stk_watch_rate(&d->read, f[2], s->look_s) * SECTOR);
    put(s, STK_SAMPLE_OF_DISK_WRITE, d, stk_watch_rate(&d->written, f[6], s->look_s) * SECTOR);
    put(s, STK_SAMPLE_OF_DISK_QUEUE, d, stk_watch_rate(&d->queue_ms, f[10], s->look_s) * 1e-3);
}

static void disks_look(struct stk_sampling *s, void *state)
{
    struct disks *d = state;
    char last[32] = "";
    stk_small_read(&d->file, d->text, TEXT);
    for (char *line = d->text, *end; *line; line = end + (*end == '\n')) {
        unsigned major, minor;
        unsigned long long f[11];
        char name[32];
        end = line + strcspn(line, "\n");
        int n = sscanf(line, "%u %u %31s %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu",
                       &major, &minor, name, &f[0], &f[1], &f[2], &f[3], &f[4], &f[5], &f[6], &f[7],
                       &f[8], &f[9], &f[10]);
        if (n != 14 || stands_for_others(name) || is_partition(name, last)) {
            continue;
        }
        memcpy(last, name, sizeof last);
        struct disk *disk = disk_of(s, d, name, (major << 20 | minor) & 0x7fffffff);
        if (disk) {
            look_disk(s, disk, f);
        }
    }
}

const struct stk_watch stk_watch_disks = {
    .name = "disks", .open = disks_open, .look = disks_look, .close = disks_close};
