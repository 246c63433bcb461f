// SPDX-License-Identifier: Apache-2.0
// Rows of a table straight from the pages of the file, without SQLite's interpreter, which takes
// most of the time that an export takes to read.
//
// Format: SQLite's "Database File Format", sections 1.5 (the header, page 1) and 1.6: the rows of a
// table are in the leaves of a B-tree, in the order of their rowids; inner pages hold the greatest
// rowid of each child.
// Method: the way from the root to a leaf is kept as copies of inner pages; leaves are looked at in
// a window of the file that grows while pages follow one another. Nothing is mapped, so a file that
// shrinks can't raise a signal.
// Trust: SQLite opened the file before and knows the table. Every offset is checked against the
// page. Anything that an intact table wouldn't have (another kind of page, an empty leaf, rowids
// out of order, more pages than the file has) ends the walk, and SQLite reads on from the last row,
// with its own judgment of the damage. A row that continues on other pages is left to SQLite alone.
// Limits: UTF-8; files without missing pages and without a journal.
#include "base/assert.h"
#include "profile/readers/nsys/nsys.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/alloc.h"

#define DEPTH_MAX 20
#define WINDOW_BYTES (256u << 10)
enum { INNER = 5, LEAF = 13, INNER_HEAD = 12, LEAF_HEAD = 8, CELL_LEAST = 4 };

struct inner {
    uint8_t *page; // a copy
    uint32_t cell, cell_count;
};

struct stk_nsys_leaves {
    int fd;
    uint32_t page_size, usable;
    uint64_t page_count;
    uint8_t *window;
    uint64_t window_first, window_pages; // page numbers, from 1
    uint32_t ahead;                      // pages that the window was filled with
    struct inner path[DEPTH_MAX];
    int depth;
    const uint8_t *leaf; // in the window
    uint32_t cell, cell_count;
    uint64_t visited; // pages since the range was begun
    bool any;
    int64_t last, to; // rowids
    struct stk_nsys_layout layout;
};

static uint32_t be16(const uint8_t *p)
{
    return (uint32_t)p[0] << 8 | p[1];
}

static uint32_t be32(const uint8_t *p)
{
    return be16(p) << 16 | be16(p + 2);
}

// Page size, encoding and the rest from the header of the file. False: not for this.
static bool read_header(struct stk_nsys_leaves *l, const struct stk_nsys_file *file)
{
    enum { PAGE_SIZE = 16, RESERVED = 20, ENCODING = 56, UTF8 = 1 };
    uint8_t head[100];
    if (pread(l->fd, head, sizeof head, 0) != (ssize_t)sizeof head) {
        return false;
    }
    uint32_t size = be16(head + PAGE_SIZE);
    l->page_size = size == 1 ? 65536 : size;
    bool is_size = l->page_size >= 512 && (l->page_size & (l->page_size - 1)) == 0;
    if (!is_size || head[RESERVED] > 32 || be32(head + ENCODING) != UTF8) {
        return false;
    }
    l->usable = l->page_size - head[RESERVED];
    l->page_count = file->size_bytes / l->page_size;
    return true;
}

struct stk_nsys_leaves *stk_nsys_leaves_open(const struct stk_nsys_file *file)
{
    if (file->lacks_pages || file->lacks_journal) {
        return NULL;
    }
    struct stk_nsys_leaves *l = stk_alloc_zero(1, sizeof *l);
    if (!l) {
        return NULL;
    }
    l->fd = open(file->path, O_RDONLY | O_CLOEXEC);
    l->window = l->fd >= 0 && read_header(l, file) ? stk_alloc(WINDOW_BYTES) : NULL;
    if (!l->window) {
        stk_nsys_leaves_close(l);
        return NULL;
    }
    return l;
}

void stk_nsys_leaves_close(struct stk_nsys_leaves *l)
{
    if (!l) {
        return;
    }
    for (int i = 0; i < DEPTH_MAX; i++) {
        stk_free(l->path[i].page);
    }
    stk_free(l->window);
    if (l->fd >= 0) {
        close(l->fd);
    }
    stk_free(l);
}

// Fill the window from a page on; the number of whole pages read.
static uint64_t fill(struct stk_nsys_leaves *l, uint64_t first, uint64_t pages)
{
    size_t wanted = (size_t)pages * l->page_size, have = 0;
    STK_ASSERT(wanted <= WINDOW_BYTES);
    while (have < wanted) {
        off_t at = (off_t)((first - 1) * l->page_size + have);
        ssize_t n = pread(l->fd, l->window + have, wanted - have, at);
        if (n <= 0) {
            break;
        }
        have += (size_t)n;
    }
    return have / l->page_size;
}

// A page, valid until the next call; NULL: it isn't there.
static const uint8_t *page_at(struct stk_nsys_leaves *l, uint64_t number)
{
    if (number < 2 || number > l->page_count || ++l->visited > l->page_count) {
        return NULL;
    }
    if (number < l->window_first || number >= l->window_first + l->window_pages) {
        bool follows = number == l->window_first + l->window_pages;
        uint32_t most = WINDOW_BYTES / l->page_size;
        l->ahead = !follows ? 1 : l->ahead * 2 > most ? most : l->ahead * 2;
        l->window_first = number;
        l->window_pages = fill(l, number, l->ahead ? l->ahead : 1);
    }
    return l->window_pages ? l->window + (number - l->window_first) * l->page_size : NULL;
}

// Place of a cell in a page; 0: it points outside.
static uint32_t cell_at(const struct stk_nsys_leaves *l, const uint8_t *page, uint32_t head,
                        uint32_t count, uint32_t i)
{
    uint32_t at = be16(page + head + 2 * i);
    return at >= head + 2 * count && at <= l->usable - CELL_LEAST ? at : 0;
}

// Child of the inner page at the end of the path where it stands; 0: none.
static uint32_t child_of(const struct stk_nsys_leaves *l, const struct inner *in)
{
    if (in->cell == in->cell_count) {
        return be32(in->page + 8);
    }
    uint32_t at = cell_at(l, in->page, INNER_HEAD, in->cell_count, in->cell);
    return at ? be32(in->page + at) : 0;
}

// Stand at the first child that may have a row from `from` on.
static bool choose_child(const struct stk_nsys_leaves *l, struct inner *in, int64_t from)
{
    for (in->cell = 0; in->cell < in->cell_count; in->cell++) {
        uint64_t greatest;
        uint32_t at = cell_at(l, in->page, INNER_HEAD, in->cell_count, in->cell);
        if (!at || !stk_nsys_varint(in->page + at + 4, in->page + l->usable, &greatest)) {
            return false;
        }
        if ((int64_t)greatest >= from) {
            break;
        }
    }
    return true;
}

static bool enter_inner(struct stk_nsys_leaves *l, const uint8_t *page, int64_t from)
{
    uint32_t count = be16(page + 3);
    if (l->depth == DEPTH_MAX || count == 0 || INNER_HEAD + 2 * count > l->usable) {
        return false;
    }
    struct inner *in = &l->path[l->depth++];
    if (!in->page) {
        in->page = stk_alloc(l->page_size);
    }
    if (!in->page) {
        return false;
    }
    memcpy(in->page, page, l->page_size);
    in->cell_count = count;
    return choose_child(l, in, from);
}

// Down to a leaf; `from` decides the way.
static bool descend(struct stk_nsys_leaves *l, uint64_t number, int64_t from)
{
    const uint8_t *page;
    while ((page = page_at(l, number)) && page[0] == INNER) {
        if (!enter_inner(l, page, from)) {
            return false;
        }
        number = child_of(l, &l->path[l->depth - 1]);
    }
    if (!page || page[0] != LEAF) {
        return false;
    }
    l->leaf = page;
    l->cell = 0;
    l->cell_count = be16(page + 3);
    return l->cell_count && LEAF_HEAD + 2 * l->cell_count <= l->usable;
}

// Size of the record and rowid of a cell of the leaf, and where the record begins; NULL: damaged.
static const uint8_t *open_cell(const struct stk_nsys_leaves *l, uint32_t i, uint64_t *size,
                                int64_t *rowid)
{
    const uint8_t *end = l->leaf + l->usable;
    uint32_t at = cell_at(l, l->leaf, LEAF_HEAD, l->cell_count, i);
    uint64_t id;
    const uint8_t *p = at ? stk_nsys_varint(l->leaf + at, end, size) : NULL;
    p = p ? stk_nsys_varint(p, end, &id) : NULL;
    *rowid = p ? (int64_t)id : 0;
    return p;
}

bool stk_nsys_leaves_seek(struct stk_nsys_leaves *l, const struct stk_nsys_found *found,
                          int64_t first_row, int64_t last_row)
{
    STK_ASSERT(first_row <= last_row);
    l->depth = 0;
    l->visited = 0;
    l->any = false;
    l->to = last_row;
    if (!found->root_page || !stk_nsys_layout_of(&l->layout, found) ||
        !descend(l, found->root_page, first_row)) {
        return false;
    }
    for (; l->cell < l->cell_count; l->cell++) {
        uint64_t size;
        int64_t rowid;
        if (!open_cell(l, l->cell, &size, &rowid)) {
            return false;
        }
        if (rowid >= first_row) {
            break;
        }
    }
    return true;
}

// Goes to the next leaf. END: no more leaves.
static enum stk_nsys_leaf_row next_leaf(struct stk_nsys_leaves *l)
{
    while (l->depth > 0) {
        struct inner *in = &l->path[l->depth - 1];
        if (in->cell < in->cell_count) {
            in->cell++;
            return descend(l, child_of(l, in), INT64_MIN) ? STK_NSYS_ROW : STK_NSYS_LOST;
        }
        l->depth--;
    }
    return STK_NSYS_END;
}

enum stk_nsys_leaf_row stk_nsys_leaves_next(struct stk_nsys_leaves *l, struct stk_nsys_cells *cells)
{
    enum {
        INDEX_AND_MORE = 35
    }; // bytes of a page that a record leaves free, or it continues elsewhere
    if (l->cell == l->cell_count) {
        enum stk_nsys_leaf_row how = next_leaf(l);
        if (how != STK_NSYS_ROW) {
            return how;
        }
    }
    uint64_t size;
    int64_t rowid;
    const uint8_t *record = open_cell(l, l->cell, &size, &rowid);
    if (!record || (l->any && rowid <= l->last)) {
        return STK_NSYS_LOST;
    }
    if (rowid > l->to) {
        return STK_NSYS_END;
    }
    l->cell++;
    l->any = true;
    l->last = cells->rowid = rowid;
    if (size > l->usable - INDEX_AND_MORE) {
        return STK_NSYS_ASK;
    }
    if (size > (size_t)(l->leaf + l->usable - record)) {
        return STK_NSYS_LOST;
    }
    bool good = stk_nsys_cells_decode(cells, &l->layout, record, (size_t)size);
    return good ? STK_NSYS_ROW : STK_NSYS_LOST;
}
