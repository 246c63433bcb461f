// SPDX-License-Identifier: Apache-2.0
// Removes what was made, and no more: links of every kind are removed themselves, their targets
// stay. Plain files are distinguished from lookalikes.
#include "base/remove.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/atomic_file.h"
#include "base/plain_file.h"
#include "check.h"

static char top[] = "/tmp/stk-remove-XXXXXX";
static int here; // a descriptor of it

static void put(int folder, const char *name, const char *text)
{
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static bool is_there(const char *name)
{
    struct stat info;
    return fstatat(here, name, &info, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool holds(const char *name, const char *text)
{
    size_t n;
    char *found = stk_plain_text(here, name, 100, &n);
    bool same = found && strcmp(found, text) == 0 && n == strlen(text);
    stk_free(found);
    return same;
}

// outside/precious, and a tree that leads to it in every way.
static void make_tree(void)
{
    mkdirat(here, "outside", 0700);
    put(here, "outside/precious", "x");
    CHECK_EQ(mkdirat(here, "tree", 0700), 0);
    CHECK_EQ(mkdirat(here, "tree/inner", 0700), 0);
    CHECK_EQ(mkdirat(here, "tree/inner/.hidden", 0700), 0);
    put(here, "tree/file", "f");
    put(here, "tree/mark", "m");
    put(here, "tree/inner/.hidden/file", "f");
    CHECK_EQ(symlinkat("../outside", here, "tree/to_folder"), 0);
    CHECK_EQ(symlinkat("../outside/precious", here, "tree/to_file"), 0);
    CHECK_EQ(symlinkat("../../outside", here, "tree/inner/to_folder"), 0);
    CHECK_EQ(symlinkat("nowhere", here, "tree/inner/to_nothing"), 0);
    CHECK_EQ(symlinkat("..", here, "tree/inner/up"), 0);
    CHECK_EQ(mkfifoat(here, "tree/pipe", 0600), 0);
    CHECK_EQ(linkat(here, "outside/precious", here, "tree/same", 0), 0);
}

static void trees(void)
{
    make_tree();
    CHECK_EQ(stk_remove_tree(here, "tree"), 0);
    CHECK(!is_there("tree") && holds("outside/precious", "x"));
    CHECK_EQ(stk_remove_tree(here, "tree"), ENOENT);
    put(here, "file", "f");
    CHECK_EQ(stk_remove_tree(here, "file"), ENOTDIR);
    CHECK_EQ(symlinkat("outside", here, "link"), 0);
    int error = stk_remove_tree(here, "link");
    CHECK(error == ENOTDIR || error == ELOOP);
    CHECK(is_there("link") && holds("outside/precious", "x") && holds("file", "f"));
    CHECK(stk_folder_itself(here, "link") < 0);
    CHECK_EQ(stk_remove_file(here, "link"), 0);
    CHECK(!is_there("link") && holds("outside/precious", "x"));
    CHECK(stk_remove_file(here, "outside") != 0 && stk_remove_folder(here, "outside") == ENOTEMPTY);
    CHECK_EQ(stk_remove_file(here, "file"), 0);
}

// The mark goes last: it stays where something else does.
static void contents(void)
{
    make_tree();
    int tree = stk_folder_itself(here, "tree");
    CHECK(tree >= 0);
    CHECK_EQ(stk_remove_contents(tree, "mark"), 0);
    CHECK(is_there("tree") && !is_there("tree/mark") && !is_there("tree/inner"));
    CHECK_EQ(stk_remove_contents(tree, "mark"), 0); // a second time
    put(tree, "mark", "m");
    CHECK_EQ(mkdirat(tree, "deep", 0700), 0);
    int at = stk_folder_itself(tree, "deep");
    for (int i = 0; i < 80; i++) {
        CHECK_EQ(mkdirat(at, "d", 0700), 0);
        int inner = stk_folder_itself(at, "d");
        close(at);
        at = inner;
    }
    close(at);
    CHECK_EQ(stk_remove_contents(tree, "mark"), ENOTEMPTY); // too deep
    CHECK(is_there("tree/mark") && is_there("tree/deep/d/d/d"));
    for (int i = 0; i < 20; i++) { // shorter from above
        CHECK_EQ(renameat(tree, "deep/d/d", tree, "more"), 0);
        CHECK_EQ(stk_remove_folder(tree, "deep/d"), 0);
        CHECK_EQ(stk_remove_folder(tree, "deep"), 0);
        CHECK_EQ(renameat(tree, "more", tree, "deep"), 0);
    }
    CHECK_EQ(stk_remove_contents(tree, "mark"), 0);
    close(tree);
    CHECK_EQ(stk_remove_folder(here, "tree"), 0);
    CHECK(holds("outside/precious", "x"));
}

// The folder that was opened is emptied, not what has its name by now.
static void a_name_that_moves(void)
{
    make_tree();
    int tree = stk_folder_itself(here, "tree");
    CHECK_EQ(renameat(here, "tree", here, "moved"), 0);
    CHECK_EQ(symlinkat("outside", here, "tree"), 0);
    CHECK_EQ(stk_remove_contents(tree, NULL), 0);
    close(tree);
    CHECK(holds("outside/precious", "x") && is_there("tree"));
    CHECK_EQ(stk_remove_folder(here, "moved"), 0);
    CHECK_EQ(stk_remove_file(here, "tree"), 0);
}

static void plain_files(void)
{
    size_t n;
    put(here, "text", "hello\n");
    CHECK(holds("text", "hello\n"));
    char *cut = stk_plain_text(here, "text", 2, &n);
    CHECK(cut && n == 2 && strcmp(cut, "he") == 0);
    stk_free(cut);
    CHECK(stk_plain_text(here, "none", 10, &n) == NULL && n == 0);
    CHECK(stk_plain_text(here, "outside", 10, &n) == NULL);
    CHECK(stk_plain_text(AT_FDCWD, "/dev/zero", 10, &n) == NULL);
    CHECK_EQ(mkfifoat(here, "pipe", 0600), 0);
    CHECK(stk_plain_text(here, "pipe", 10, &n) == NULL); // and nobody waits
    CHECK(stk_plain_open(here, "pipe") < 0);
    int fd = openat(here, "large", O_WRONLY | O_CREAT, 0600);
    CHECK_EQ(ftruncate(fd, (off_t)1 << 40), 0); // sparse
    close(fd);
    char *large = stk_plain_text(here, "large", 1000, &n);
    CHECK(large && n == 1000 && large[0] == 0);
    stk_free(large);
    CHECK(stk_remove_file(here, "large") == 0 && stk_remove_file(here, "pipe") == 0);
    CHECK_EQ(stk_remove_file(here, "text"), 0);
}

static void moves(void)
{
    char from[64], to[64], other[64] = "/dev/shm/stk-remove-XXXXXX";
    snprintf(from, sizeof from, "%s/from", top);
    snprintf(to, sizeof to, "%s/to", top);
    put(here, "from", "moved");
    CHECK_EQ(symlinkat("outside/precious", here, "to"), 0); // is replaced, not followed
    CHECK_EQ(stk_atomic_file_move(from, to), 0);
    CHECK(holds("to", "moved") && !is_there("from") && holds("outside/precious", "x"));
    CHECK_EQ(stk_atomic_file_move(from, to), ENOENT);
    int fd = mkstemp(other); // on another file system, mostly
    if (fd >= 0) {
        CHECK_EQ(write(fd, "far", 3), 3);
        close(fd);
        CHECK_EQ(stk_atomic_file_move(other, to), 0);
        CHECK(holds("to", "far") && access(other, F_OK) != 0);
    }
    CHECK_EQ(stk_remove_file(here, "to"), 0);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK(mkdtemp(top) != NULL);
    here = stk_folder_itself(AT_FDCWD, top);
    CHECK_RUN(trees);
    CHECK_RUN(contents);
    CHECK_RUN(a_name_that_moves);
    CHECK_RUN(plain_files);
    mkdirat(here, "outside", 0700);
    put(here, "outside/precious", "x");
    CHECK_RUN(moves);
    close(here);
    CHECK_EQ(stk_remove_tree(AT_FDCWD, top), 0);
    return check_done("unit.base_remove");
}
