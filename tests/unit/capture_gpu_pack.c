// SPDX-License-Identifier: Apache-2.0
// Packing a record of the capture library removes unused preallocated space, through a new file
// next to it. Links at that path are never followed.
#include "job/capture/parent/gpu_pack.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/plain_file.h"
#include "base/remove.h"
#include "check.h"
#include "wire/wire_write.h"

static char folder[] = "/tmp/stk-pack-XXXXXX", path[64], precious[64];
enum { ROOM = 1 << 20 };

// A record with spare room at its end; returns its bytes without that.
static uint64_t make_record(void)
{
    struct stk_wire_file *file = NULL;
    struct stoker_err err;
    struct stat st;
    CHECK_EQ(stk_wire_create(&file, path, "test", &err), STOKER_OK);
    struct stk_wire_writer *w = stk_wire_writer_open(file);
    CHECK(w && stk_wire_string(w, "a name") > 0);
    stk_wire_writer_close(w);
    CHECK_EQ(stk_wire_close(file, true, &err), STOKER_OK);
    CHECK_EQ(stat(path, &st), 0);
    CHECK_EQ(truncate(path, st.st_size + ROOM), 0);
    return (uint64_t)st.st_size;
}

static size_t files(void)
{
    DIR *d = opendir(folder);
    size_t n = 0;
    for (const struct dirent *e; d && (e = readdir(d));) {
        n += e->d_name[0] != '.';
    }
    closedir(d);
    return n;
}

static bool is_precious(void)
{
    size_t n;
    char *text = stk_plain_text(AT_FDCWD, precious, 100, &n);
    bool same = text && strcmp(text, "mine") == 0;
    stk_free(text);
    return same;
}

static void packs(void)
{
    struct stat st;
    uint64_t bytes = make_record();
    CHECK_EQ(stk_gpu_pack(path), bytes);
    CHECK(stat(path, &st) == 0 && (uint64_t)st.st_size == bytes && (st.st_mode & 0777) == 0600);
    CHECK_EQ(stk_gpu_pack(path), bytes); // a second time
    CHECK_EQ(files(), 2);
}

// The name that the packed file had before it was whole, and the record's own, are links.
static void follows_no_link(void)
{
    char part[80];
    uint64_t bytes = make_record();
    snprintf(part, sizeof part, "%s.part", path);
    CHECK_EQ(symlink(precious, part), 0);
    CHECK_EQ(stk_gpu_pack(path), bytes);
    CHECK(is_precious());
    CHECK_EQ(stk_remove_file(AT_FDCWD, part), 0);
    CHECK_EQ(stk_remove_file(AT_FDCWD, path), 0);
    CHECK_EQ(symlink(precious, path), 0);
    CHECK_EQ(stk_gpu_pack(path), 0);
    CHECK(is_precious());
    CHECK_EQ(stk_remove_file(AT_FDCWD, path), 0);
    CHECK_EQ(mkfifo(path, 0600), 0);
    CHECK_EQ(stk_gpu_pack(path), 0); // and nobody waits
    CHECK_EQ(stk_remove_file(AT_FDCWD, path), 0);
    CHECK_EQ(files(), 1);
}

// What is no record stays as it is.
static void leaves_others_alone(void)
{
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    CHECK_EQ(write(fd, "no record", 9), 9);
    close(fd);
    CHECK_EQ(stk_gpu_pack(path), 9);
    CHECK_EQ(files(), 2);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/process-1.gpu.stk", folder);
    snprintf(precious, sizeof precious, "%s/precious", folder);
    int fd = open(precious, O_WRONLY | O_CREAT, 0600);
    CHECK_EQ(write(fd, "mine", 4), 4);
    close(fd);
    CHECK_RUN(packs);
    CHECK_RUN(follows_no_link);
    CHECK_RUN(leaves_others_alone);
    CHECK_EQ(stk_remove_tree(AT_FDCWD, folder), 0);
    return check_done("unit.capture_gpu_pack");
}
