// SPDX-License-Identifier: Apache-2.0
// Decodes a JPEG's scan: which MCUs a crop needs, samples into rows, rows into pixels.
//
// Every MCU above the crop's bottom is Huffman-decoded (with restart markers, whole segments above
// its top are skipped); only those under the crop are transformed. One row of MCUs is kept, and the
// last line of the previous row: chroma between two MCU rows needs both, so the last line of a row
// is output with the next.
#include "base/assert.h"
#include "engine/image/jpeg_impl.h"

#include <string.h>

struct plane {
    uint8_t *rows; // first sample of the current MCU row, at MCU column col_begin
    size_t stride;
    uint32_t width, height; // of the whole component, without the padding of the last MCU
    uint32_t size;          // of a transformed block: 8, 4, 2, 1
    uint32_t mcu_width, mcu_height;
    uint32_t first_col; // first column of `rows` in the component
    bool is_doubled_across, is_doubled_down, is_fancy;
    stk_jpeg_idct_fn *idct;
    stk_jpeg_idct2_fn *idct2; // may be NULL
    bool is_fast;
    const uint8_t *place;
    int16_t quant[64];
};

struct run {
    struct stk_jpeg *j;
    uint32_t x_begin, x_end, y_begin, y_end; // the crop, in scaled pixels
    uint32_t out_height;
    bool ends_left, ends_right; // replicate chroma there
    uint32_t planes;            // used: 1 or 3
    uint32_t mcus_across, mcus_down;
    uint32_t col_begin, col_end, row_begin, row_end; // MCUs that are transformed
    uint32_t row_last;                               // one past the last row to read
    bool is_checked;
    uint32_t row_height; // pixels of an MCU row
    bool has_delay;      // the last line of an MCU row is output with the next
    struct plane plane[3];
    struct stk_jpeg_reader reader;
    uint8_t *stuff;
    int16_t *coef;
    uint8_t *line[2];
    uint16_t *sums;
    stk_jpeg_h2v1_fn *h2v1;
    stk_jpeg_h2v2_fn *h2v2;
    stk_jpeg_color_fn *color;
    uint8_t *out;
    size_t out_stride;
    enum stk_jpeg_output output;
    enum stk_jpeg_status status;
    uint32_t row, col; // the first of the MCUs being read
    uint32_t mcus;     // how many
    int mcu_blocks;
    int32_t dc[3];       // predictions
    int32_t dc_limit[3]; // largest valid magnitude with this quantizer
    // the entropy-coded segment being read
    size_t at; // offset of the marker after it
    uint64_t segment, left;
};

static uint32_t divide_up(uint64_t a, uint64_t b)
{
    return (uint32_t)((a + b - 1) / b);
}

static size_t align_64(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

static bool is_usable(const struct stk_jpeg *j, const struct stk_jpeg_options *opt)
{
    uint32_t denom = opt->scale_denom ? opt->scale_denom : 1;
    if (j->scan == 0 || denom > 8 || (denom & (denom - 1))) {
        return false;
    }
    uint32_t w = divide_up(j->width, denom), h = divide_up(j->height, denom);
    if (opt->crop_w == 0 && opt->crop_h == 0) {
        return opt->crop_x == 0 && opt->crop_y == 0;
    }
    return opt->crop_w && opt->crop_h && opt->crop_x < w && opt->crop_y < h &&
           opt->crop_w <= w - opt->crop_x && opt->crop_h <= h - opt->crop_y;
}

// Size of the transformed blocks of component c. Like libjpeg, a component that would be doubled in
// both directions is transformed at a larger size instead.
static uint32_t choose_size(const struct stk_jpeg *j, const struct stk_jpeg_component *c,
                            uint32_t smallest)
{
    STK_ASSERT(c->h > 0 && c->v > 0);
    uint32_t size = smallest;
    while (size < 8 && j->h_max * smallest % (c->h * size * 2) == 0 &&
           j->v_max * smallest % (c->v * size * 2) == 0) {
        size *= 2;
    }
    return size;
}

static void choose_transform(struct run *run, struct plane *p, const uint16_t *quant,
                             const struct stk_jpeg_options *opt)
{
    p->place = stk_jpeg_zigzag;
    p->is_fast = p->size == 8 && opt->dct == STK_JPEG_IFAST;
    for (int i = 0; i < 64; i++) {
        p->quant[i] = (int16_t)quant[i];
    }
    if (p->is_fast) {
        stk_jpeg_scale_ifast(quant, p->quant);
    }
    p->idct = p->is_fast     ? stk_jpeg_idct_ifast
              : p->size == 8 ? stk_jpeg_idct_islow
              : p->size == 4 ? stk_jpeg_idct_4x4
              : p->size == 2 ? stk_jpeg_idct_2x2
                             : stk_jpeg_idct_1x1;
#if STK_JPEG_X86
    if (run->j->cpu < STK_JPEG_AVX2 || p->size < 4) {
        return;
    }
    if (p->is_fast) {
        p->idct = stk_jpeg_idct_ifast_avx2;
        p->idct2 = stk_jpeg_idct2_ifast_avx2;
        return;
    }
    p->idct = p->size == 8 ? stk_jpeg_idct_islow_avx2 : stk_jpeg_idct_4x4_avx2;
    p->place = stk_jpeg_zigzag_paired;
    for (int i = 0; i < 64; i++) {
        p->quant[stk_jpeg_paired[i]] = (int16_t)quant[i];
    }
#else
    (void)run;
#endif
}

static void plan_plane(struct run *run, int index, uint32_t smallest,
                       const struct stk_jpeg_options *opt)
{
    const struct stk_jpeg *j = run->j;
    STK_ASSERT(index >= 0 && (uint32_t)index < j->components);
    const struct stk_jpeg_component *c = &j->component[index];
    struct plane *p = &run->plane[index];
    p->size = choose_size(j, c, smallest);
    p->mcu_width = c->h * p->size;
    p->mcu_height = c->v * p->size;
    p->width = divide_up((uint64_t)j->width * p->mcu_width, 8 * j->h_max);
    p->height = divide_up((uint64_t)j->height * p->mcu_height, 8 * j->v_max);
    p->is_doubled_across = j->h_max * smallest == 2 * p->mcu_width;
    p->is_doubled_down = j->v_max * smallest == 2 * p->mcu_height;
    p->is_fancy = opt->upsampling == STK_JPEG_FANCY && smallest > 1 &&
                  (!p->is_doubled_across || p->width > 2);
    choose_transform(run, p, j->quant[c->quant], opt);
    // Samples the crop needs, with the neighbors of doubled ones.
    uint32_t left = run->x_begin, right = run->x_end, top = run->y_begin, bottom = run->y_end;
    if (p->is_doubled_across) {
        left = left / 2 ? left / 2 - 1 : 0;
        right = (right - 1) / 2 + 2;
    }
    if (p->is_doubled_down) {
        top = top / 2 ? top / 2 - 1 : 0;
        bottom = (bottom - 1) / 2 + 2;
        run->has_delay |= p->is_fancy;
    }
    right = right < p->width ? right : p->width;
    bottom = bottom < p->height ? bottom : p->height;
    uint32_t col_end = divide_up(right, p->mcu_width), row_end = divide_up(bottom, p->mcu_height);
    uint32_t col_begin = left / p->mcu_width, row_begin = top / p->mcu_height;
    run->col_begin = col_begin < run->col_begin ? col_begin : run->col_begin;
    run->row_begin = row_begin < run->row_begin ? row_begin : run->row_begin;
    run->col_end = col_end > run->col_end ? col_end : run->col_end;
    run->row_end = row_end > run->row_end ? row_end : run->row_end;
}

static void choose_cpu(struct run *run)
{
    run->h2v1 = stk_jpeg_h2v1;
    run->h2v2 = stk_jpeg_h2v2;
    run->color = stk_jpeg_color;
#if STK_JPEG_X86
    if (run->j->cpu >= STK_JPEG_AVX2) {
        run->h2v1 = stk_jpeg_h2v1_avx2;
        run->h2v2 = stk_jpeg_h2v2_avx2;
        run->color = stk_jpeg_color_avx2;
    }
    if (run->j->cpu >= STK_JPEG_AVX512) {
        run->h2v1 = stk_jpeg_h2v1_avx512;
        run->h2v2 = stk_jpeg_h2v2_avx512;
        run->color = stk_jpeg_color_avx512;
    }
#endif
}

// Sets everything but memory. The options are valid.
static void plan(struct run *run, struct stk_jpeg *j, const struct stk_jpeg_options *opt)
{
    uint32_t denom = opt->scale_denom ? opt->scale_denom : 1, smallest = 8 / denom;
    memset(run, 0, sizeof *run);
    run->j = j;
    uint32_t width = divide_up(j->width, denom);
    run->out_height = divide_up(j->height, denom);
    run->x_begin = opt->crop_x;
    run->y_begin = opt->crop_y;
    run->x_end = opt->crop_w ? opt->crop_x + opt->crop_w : width;
    run->y_end = opt->crop_h ? opt->crop_y + opt->crop_h : run->out_height;
    run->ends_left = opt->has_ends && run->x_begin % (j->h_max * smallest) == 0;
    run->ends_right = opt->has_ends;
    run->planes = opt->output == STK_JPEG_GREY ? 1 : j->components;
    run->mcus_across = divide_up(j->width, 8 * j->h_max);
    run->mcus_down = divide_up(j->height, 8 * j->v_max);
    run->row_height = j->v_max * smallest;
    run->col_begin = run->row_begin = UINT32_MAX;
    for (uint32_t i = 0; i < run->planes; i++) {
        plan_plane(run, (int)i, smallest, opt);
    }
    run->is_checked = opt->is_checked;
    run->row_last = opt->is_checked ? run->mcus_down : run->row_end;
    choose_cpu(run);
}

static uint8_t *take(uint8_t *base, size_t *used, size_t size)
{
    uint8_t *p = base ? base + *used : NULL;
    *used += align_64(size);
    return p;
}

// Lays out the scratch memory from `base` (aligned), or with NULL only counts. Returns its size.
static size_t lay_out(struct run *run, uint8_t *base)
{
    STK_ASSERT(run->col_begin <= run->col_end && run->j->scan <= run->j->size);
    size_t used = 0, widest = 0;
    uint32_t cols = run->col_end - run->col_begin;
    run->stuff = take(base, &used, run->j->size - run->j->scan + STK_JPEG_PAD + 64);
    run->coef = (int16_t *)(void *)take(base, &used,
                                        sizeof run->reader.block / sizeof *run->reader.block *
                                            STK_JPEG_BLOCK * sizeof *run->coef);
    for (uint32_t i = 0; i < run->planes; i++) {
        struct plane *p = &run->plane[i];
        size_t width = (size_t)cols * p->mcu_width;
        widest = width > widest ? width : widest;
        p->first_col = run->col_begin * p->mcu_width;
        p->stride = align_64(width + 2 * STK_JPEG_MARGIN);
        uint8_t *first = take(base, &used, p->stride * (p->mcu_height + 2));
        p->rows = first ? first + p->stride + STK_JPEG_MARGIN : NULL; // after the kept row
    }
    for (int i = 0; i < 2; i++) {
        run->line[i] = take(base, &used, 2 * widest + 2 * STK_JPEG_MARGIN);
    }
    run->sums =
        (uint16_t *)(void *)take(base, &used, (widest + 2 * STK_JPEG_MARGIN) * sizeof *run->sums);
    return used;
}

static void plan_blocks(struct run *run)
{
    struct stk_jpeg *j = run->j;
    struct stk_jpeg_block *b = run->reader.block;
    for (uint32_t i = 0; i < j->components; i++) {
        const struct stk_jpeg_component *c = &j->component[i];
        uint32_t q = j->quant[c->quant][0];
        run->dc_limit[i] = q ? (int32_t)(4090 / q) : 32767; // encoders stay within 2048
        for (int k = 0; k < c->h * c->v; k++) {
            b[run->mcu_blocks++] = (struct stk_jpeg_block){
                .dc_look = j->dc_look[c->dc_tab],
                .ac_look = j->ac_look[c->ac_tab],
                .ac_pass = j->ac_pass[c->ac_tab],
                .place = i < run->planes ? run->plane[i].place : stk_jpeg_zigzag,
                .dc = &j->dc[c->dc_tab],
                .ac = &j->ac[c->ac_tab],
                .component = (int)i};
        }
    }
    for (int k = 0; k < run->mcu_blocks * STK_JPEG_MCUS; k++) {
        b[k] = b[k % run->mcu_blocks];
        b[k].coef = run->coef + k * STK_JPEG_BLOCK;
    }
}

static enum stk_jpeg_status bad(struct run *run, const char *why)
{
    run->j->reason = why;
    return STK_JPEG_BAD;
}

static void start_segment(struct run *run, size_t from)
{
    STK_ASSERT(from <= run->j->size);
    const struct stk_jpeg *j = run->j;
    size_t marker, n;
#if STK_JPEG_X86
    if (j->cpu >= STK_JPEG_AVX2) {
        n = stk_jpeg_unstuff_avx2(j->data + from, j->size - from, run->stuff, &marker);
    } else
#endif
        n = stk_jpeg_unstuff(j->data + from, j->size - from, run->stuff, &marker);
    run->at = from + marker;
    run->left = j->restart_interval ? j->restart_interval : UINT64_MAX;
    memset(run->dc, 0, sizeof run->dc);
    stk_jpeg_start_bits(&run->reader.bits, run->stuff, (uint64_t)n * 8);
}

static bool is_restart(const struct run *run, uint64_t segment)
{
    return run->at < run->j->size && run->j->data[run->at] == 0xd0 + (segment & 7);
}

// A segment must end within its last byte; otherwise something was misread.
static bool has_ended(const struct run *run)
{
    int64_t left = stk_jpeg_bits_left(&run->reader.bits);
    return left >= 0 && left < 8;
}

// Starts reading at the last segment that starts no later than the first MCU needed. Returns the
// MCU's number, or UINT64_MAX if the markers are wrong.
static uint64_t find_start(struct run *run)
{
    const struct stk_jpeg *j = run->j;
    size_t from = j->scan;
    uint64_t first = (uint64_t)run->row_begin * run->mcus_across + run->col_begin;
    uint64_t skip = j->restart_interval && !run->is_checked ? first / j->restart_interval : 0;
    for (run->segment = 0; run->segment < skip; run->segment++) {
        run->at = from + stk_jpeg_find_marker(j->data + from, j->size - from);
        if (!is_restart(run, run->segment)) {
            return UINT64_MAX;
        }
        from = run->at + 1;
    }
    start_segment(run, from);
    return skip * j->restart_interval;
}

// Only the end marker may follow, or a restart marker and then it.
static enum stk_jpeg_status check_end(struct run *run)
{
    const struct stk_jpeg *j = run->j;
    if (!has_ended(run)) {
        return bad(run, "extra or missing bytes at the end of the scan");
    }
    size_t at = run->at;
    while (at < j->size && j->data[at] >= 0xd0 && j->data[at] <= 0xd7) {
        at++;
        if (at >= j->size || j->data[at] != 0xff) {
            return bad(run, "bytes after a restart marker that ends the scan");
        }
        while (at < j->size && j->data[at] == 0xff) {
            at++;
        }
    }
    if (at >= j->size) {
        return bad(run, "no end marker");
    }
    if (j->data[at] == 0xd9) {
        return STK_JPEG_OK;
    }
    run->j->reason = "segments after the scan";
    return STK_JPEG_NOT_MINE;
}

static void fill_constant(const struct plane *p, int dc, uint8_t *out)
{
    int v = (int16_t)((uint32_t)(dc * p->quant[0]) * (p->is_fast ? 1 : 4));
    v = p->is_fast ? v >> 5 : (v + 16) >> 5;
    v = (v < -128 ? -128 : v > 127 ? 127 : v) + 128;
    if (p->size == 8) {
        for (int r = 0; r < 8; r++) {
            memset(out + (size_t)r * p->stride, v, 8);
        }
        return;
    }
    for (uint32_t r = 0; r < p->size; r++) {
        memset(out + r * p->stride, v, p->size);
    }
}

static void transform_block(const struct plane *p, const struct stk_jpeg_block *b, uint8_t *out)
{
    if (b->end == 1) {
        fill_constant(p, b->coef[0], out);
    } else {
        p->idct(b->coef, p->quant, out, (ptrdiff_t)p->stride);
    }
}

// `n` blocks side by side, `across` of them in each MCU; `b` is the first.
static void transform_row(const struct run *run, const struct plane *p,
                          const struct stk_jpeg_block *b, uint32_t across, uint32_t n, uint8_t *out)
{
    uint32_t i = 0, step = (uint32_t)run->mcu_blocks;
    for (; p->idct2 && i + 1 < n; i += 2, out += 2 * (size_t)p->size) {
        const struct stk_jpeg_block *left = b + i / across * step + i % across;
        const struct stk_jpeg_block *right = b + (i + 1) / across * step + (i + 1) % across;
        if (left->end == 1 && right->end == 1) {
            fill_constant(p, left->coef[0], out);
            fill_constant(p, right->coef[0], out + p->size);
        } else {
            p->idct2(left->coef, right->coef, p->quant, out, (ptrdiff_t)p->stride);
        }
    }
    for (; i < n; i++, out += p->size) {
        transform_block(p, b + i / across * step + i % across, out);
    }
}

// Transforms all MCUs that were read.
static void transform_mcus(struct run *run)
{
    const struct stk_jpeg_block *b = run->reader.block;
    for (uint32_t i = 0; i < run->planes; i++) {
        const struct stk_jpeg_component *c = &run->j->component[i];
        struct plane *p = &run->plane[i];
        uint8_t *out = p->rows + (size_t)(run->col - run->col_begin) * p->mcu_width;
        for (uint32_t y = 0; y < c->v; y++, b += c->h, out += p->size * p->stride) {
            transform_row(run, p, b, c->h, run->mcus * c->h, out);
        }
    }
}

// Repeats the samples at the image's edges, so that upsampling needs no special cases.
static void extend_edges(struct run *run, uint32_t row)
{
    for (uint32_t i = 1; i < run->planes; i++) {
        struct plane *p = &run->plane[i];
        uint32_t cols = (run->col_end - run->col_begin) * p->mcu_width;
        if (p->is_doubled_across && p->is_fancy) {
            for (uint32_t r = 0; r < p->mcu_height; r++) {
                uint8_t *line = p->rows + r * p->stride;
                if (run->col_begin == 0) {
                    line[-1] = line[0];
                }
                if (p->width - p->first_col <= cols) {
                    line[p->width - p->first_col] = line[p->width - p->first_col - 1];
                }
            }
        }
        if (!run->has_delay) {
            continue;
        }
        uint8_t *first = p->rows - STK_JPEG_MARGIN;
        if (row == 0) {
            memcpy(first - p->stride, first, p->stride);
        }
        if (row + 1 == run->mcus_down) {
            uint8_t *end = first + (p->height - row * p->mcu_height) * p->stride;
            memcpy(end, end - p->stride, p->stride);
        }
    }
}

// Result of doubling for a sample that is its own neighbor. far: NULL if rows aren't doubled.
static uint8_t at_end(const uint8_t *near, const uint8_t *far, int rounding)
{
    return far ? (uint8_t)((4 * (3 * near[0] + far[0]) + rounding) >> 4) : near[0];
}

// The samples of component i for pixel row y, from x_begin on, at full width.
static const uint8_t *raise_line(struct run *run, int i, uint32_t row, uint32_t y)
{
    struct plane *p = &run->plane[i];
    ptrdiff_t line = (ptrdiff_t)y - (ptrdiff_t)row * run->row_height; // -1 for the kept line
    uint8_t *temp = i ? run->line[i - 1] : NULL;
    uint32_t left = p->is_doubled_across ? run->x_begin / 2 : run->x_begin;
    uint32_t n = (p->is_doubled_across ? (run->x_end - 1) / 2 + 1 : run->x_end) - left;
    uint32_t shift = p->is_doubled_across ? run->x_begin & 1 : 0;
    ptrdiff_t stride = (ptrdiff_t)p->stride;
    if (p->is_doubled_down) {
        line >>= 1;
    }
    const uint8_t *near = p->rows + line * stride + (left - p->first_col);
    const uint8_t *far = y & 1 ? near + stride : near - stride;
    if (!p->is_doubled_across && !(p->is_doubled_down && p->is_fancy)) {
        return near;
    }
    if (!p->is_fancy) {
        stk_jpeg_double(near, temp, n);
    } else if (!p->is_doubled_across) {
        stk_jpeg_h1v2(near, far, temp, n, y & 1 ? 2 : 1);
    } else if (p->is_doubled_down) {
        run->h2v2(near, far, temp, n, run->sums);
    } else {
        run->h2v1(near, temp, n);
    }
    if (p->is_fancy && p->is_doubled_across) {
        const uint8_t *other = p->is_doubled_down ? far : NULL;
        if (run->ends_left) {
            temp[0] = at_end(near, other, 8);
        }
        if (run->ends_right) {
            temp[2 * n - 1] = at_end(near + n - 1, other ? other + n - 1 : NULL, 7);
        }
    }
    return temp + shift;
}

// Outputs the pixel rows completed by MCU row `row`, and keeps its last line.
static void emit_rows(struct run *run, uint32_t row)
{
    STK_ASSERT(run->x_begin <= run->x_end);
    uint32_t top = row * run->row_height, n = run->x_end - run->x_begin;
    uint32_t from = run->has_delay && row > run->row_begin ? top - 1 : top;
    uint32_t to =
        row + 1 == run->mcus_down ? run->out_height : top + run->row_height - run->has_delay;
    from = from > run->y_begin ? from : run->y_begin;
    to = to < run->y_end ? to : run->y_end;
    for (uint32_t y = from; y < to; y++) {
        uint8_t *out = run->out + (size_t)(y - run->y_begin) * run->out_stride;
        const uint8_t *luma = raise_line(run, 0, row, y);
        if (run->output == STK_JPEG_GREY) {
            memcpy(out, luma, n);
        } else if (run->planes == 1) {
            stk_jpeg_grey_to_rgb(luma, out, n);
        } else {
            run->color(luma, raise_line(run, 1, row, y), raise_line(run, 2, row, y), out, n);
        }
    }
    if (!run->has_delay) {
        return;
    }
    for (uint32_t i = 0; i < run->planes; i++) {
        struct plane *p = &run->plane[i];
        uint8_t *first = p->rows - STK_JPEG_MARGIN;
        memcpy(first - p->stride, first + (p->mcu_height - 1) * p->stride, p->stride);
    }
}

static bool is_wanted(const struct run *run)
{
    return run->row >= run->row_begin && run->row < run->row_end && run->col >= run->col_begin &&
           run->col < run->col_end;
}

// How many MCUs to read at once: from one row, all needed or none of them, not past a restart
// marker.
static uint32_t choose_mcus(const struct run *run)
{
    uint32_t end = run->mcus_across;
    if (run->row >= run->row_begin && run->row < run->row_end && run->col < run->col_end) {
        end = run->col < run->col_begin ? run->col_begin : run->col_end;
    }
    uint32_t n = end - run->col < STK_JPEG_MCUS ? end - run->col : STK_JPEG_MCUS;
    return n < run->left ? n : (uint32_t)run->left;
}

// Prepares for reading MCUs. False if there are no MCUs to read; the status says why.
static bool begin_mcus(struct run *run)
{
    STK_ASSERT(run->row <= run->row_last);
    if (run->row == run->row_last) {
        run->status = run->row_last == run->mcus_down ? check_end(run) : STK_JPEG_OK;
        return false;
    }
    if (run->left == 0) {
        if (!has_ended(run) || !is_restart(run, run->segment++)) {
            run->status = bad(run, "a restart marker missing or out of order");
            return false;
        }
        start_segment(run, run->at + 1);
    }
    run->mcus = choose_mcus(run);
    run->left -= run->mcus;
    stk_jpeg_start_blocks(&run->reader, (int)run->mcus * run->mcu_blocks, !is_wanted(run));
    return true;
}

// Adds up the DC differences of the blocks read. False: a value is out of range.
static bool predict_dc(struct run *run)
{
    for (const struct stk_jpeg_block *b = run->reader.block; b < run->reader.last; b++) {
        int32_t *dc = &run->dc[b->component], limit = run->dc_limit[b->component];
        *dc += b->coef[0];
        if (*dc > limit || *dc < -limit) {
            return false;
        }
        b->coef[0] = (int16_t)*dc;
    }
    return true;
}

// After reading some MCUs; true if there are more to read.
static bool end_mcus(struct run *run)
{
    if (run->reader.state == STK_JPEG_WRONG || !predict_dc(run)) {
        run->status = bad(run, "wrong or missing entropy-coded data");
        return false;
    }
    if (!run->reader.is_passed) {
        transform_mcus(run);
    }
    run->col += run->mcus;
    if (run->col == run->mcus_across) {
        if (run->row >= run->row_begin && run->row < run->row_end) {
            extend_edges(run, run->row);
            emit_rows(run, run->row);
        }
        run->col = 0;
        run->row++;
    }
    return begin_mcus(run);
}

// True if there is an MCU to read.
static bool begin_scan(struct run *run)
{
    uint64_t first = find_start(run);
    if (first == UINT64_MAX) {
        run->status = bad(run, "a restart marker missing or out of order");
        return false;
    }
    run->row = (uint32_t)(first / run->mcus_across);
    run->col = (uint32_t)(first % run->mcus_across);
    return begin_mcus(run);
}

static void decode_rest(struct run *run)
{
    stk_jpeg_read_fn *read = stk_jpeg_read_one;
#if STK_JPEG_X86
    if (run->j->cpu >= STK_JPEG_AVX2) {
        read = stk_jpeg_read_one_bmi2;
    }
#endif
    do {
        read(&run->reader);
    } while (end_mcus(run));
}

static void decode_both(struct run *a, struct run *b)
{
    stk_jpeg_read2_fn *read = stk_jpeg_read_two;
#if STK_JPEG_X86
    if (a->j->cpu >= STK_JPEG_AVX2 && b->j->cpu >= STK_JPEG_AVX2) {
        read = stk_jpeg_read_two_bmi2;
    }
#endif
    for (bool has_a = true, has_b = true; has_a && has_b;) {
        read(&a->reader, &b->reader);
        has_a = a->reader.state == STK_JPEG_READING || end_mcus(a);
        has_b = b->reader.state == STK_JPEG_READING || end_mcus(b);
        if (has_a && !has_b) {
            decode_rest(a);
        }
        if (has_b && !has_a) {
            decode_rest(b);
        }
    }
}

enum stk_jpeg_status stk_jpeg_output_size(struct stk_jpeg *j, const struct stk_jpeg_options *opt,
                                          uint32_t *width, uint32_t *height)
{
    j->reason = "";
    if (!is_usable(j, opt)) {
        j->reason = "options that are invalid for this image";
        return STK_JPEG_USAGE;
    }
    uint32_t denom = opt->scale_denom ? opt->scale_denom : 1;
    *width = opt->crop_w ? opt->crop_w : divide_up(j->width, denom);
    *height = opt->crop_h ? opt->crop_h : divide_up(j->height, denom);
    return STK_JPEG_OK;
}

size_t stk_jpeg_scratch_size(const struct stk_jpeg *j, const struct stk_jpeg_options *opt)
{
    struct run run;
    if (!is_usable(j, opt)) {
        return 0;
    }
    plan(&run, (struct stk_jpeg *)j, opt); // only read from
    return lay_out(&run, NULL) + 64;
}

// Does everything before the scan. The status is STK_JPEG_OK if there is a scan to read.
static enum stk_jpeg_status set_up(struct run *run, const struct stk_jpeg_task *t)
{
    uint32_t width, height;
    enum stk_jpeg_status status = stk_jpeg_output_size(t->j, t->opt, &width, &height);
    if (status != STK_JPEG_OK) {
        return status;
    }
    plan(run, t->j, t->opt);
    size_t need = lay_out(run, NULL), align = (size_t)(-(uintptr_t)t->scratch & 63);
    if (t->scratch_size < align || t->scratch_size - align < need ||
        (size_t)width * (t->opt->output == STK_JPEG_GREY ? 1 : 3) > t->stride) {
        t->j->reason = "scratch memory or stride too small";
        return STK_JPEG_USAGE;
    }
    lay_out(run, (uint8_t *)t->scratch + align);
    plan_blocks(run);
    run->out = t->out;
    run->out_stride = t->stride;
    run->output = t->opt->output;
    return STK_JPEG_OK;
}

enum stk_jpeg_status stk_jpeg_decode(struct stk_jpeg *j, const struct stk_jpeg_options *opt,
                                     uint8_t *out, size_t stride, void *scratch,
                                     size_t scratch_size)
{
    struct run run;
    struct stk_jpeg_task task = {j, opt, out, stride, scratch, scratch_size, STK_JPEG_OK};
    enum stk_jpeg_status status = set_up(&run, &task);
    if (status != STK_JPEG_OK) {
        return status;
    }
    if (begin_scan(&run)) {
        decode_rest(&run);
    }
    return run.status;
}

static bool is_same_code(const struct stk_jpeg_huff *a, const struct stk_jpeg_huff *b)
{
    return memcmp(a->counts, b->counts, sizeof a->counts) == 0 &&
           memcmp(a->symbols, b->symbols, sizeof a->symbols) == 0;
}

// Shares tables with equal contents: half the cache.
static void share_tables(const struct run *from, struct run *to)
{
    const struct stk_jpeg *a = from->j, *b = to->j;
    for (int i = 0; i < to->mcu_blocks * STK_JPEG_MCUS; i++) {
        struct stk_jpeg_block *block = &to->reader.block[i];
        const struct stk_jpeg_component *c = &b->component[block->component];
        for (int k = 0; k < from->mcu_blocks; k++) {
            const struct stk_jpeg_block *like = &from->reader.block[k];
            int dc = a->component[like->component].dc_tab,
                ac = a->component[like->component].ac_tab;
            if (is_same_code(&a->dc[dc], &b->dc[c->dc_tab])) {
                block->dc_look = like->dc_look;
            }
            if (is_same_code(&a->ac[ac], &b->ac[c->ac_tab])) {
                block->ac_look = like->ac_look;
                block->ac_pass = like->ac_pass;
            }
        }
    }
}

void stk_jpeg_decode_two(struct stk_jpeg_task *a, struct stk_jpeg_task *b)
{
    struct run run_a, run_b;
    a->status = set_up(&run_a, a);
    b->status = set_up(&run_b, b);
    bool has_a = a->status == STK_JPEG_OK && begin_scan(&run_a);
    bool has_b = b->status == STK_JPEG_OK && begin_scan(&run_b);
    if (has_a && has_b) {
        share_tables(&run_a, &run_b);
        decode_both(&run_a, &run_b);
    } else if (has_a) {
        decode_rest(&run_a);
    } else if (has_b) {
        decode_rest(&run_b);
    }
    a->status = a->status == STK_JPEG_OK ? run_a.status : a->status;
    b->status = b->status == STK_JPEG_OK ? run_b.status : b->status;
}
