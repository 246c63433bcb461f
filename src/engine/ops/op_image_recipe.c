// SPDX-License-Identifier: Apache-2.0
// image_recipes: images by recipes that were recorded from Pillow's and torchvision's calls, one
// for each image (stoker.data's interop/_recorded_images.py writes them). Inputs: the bytes of
// image files, empty where a recipe brings its pixels, and the recipes, both of one shape. Output:
// for each the image as channels, height, width, all of one size.
//
// A recipe is 32-bit words of this machine's order: how many follow, the source, its height, width
// and channels (0 of a file), then steps: a kind and as many words as the table says. Bytes after
// the words are the values of its patches, float32 (channels, height, width), then the source's
// pixels: uint8 (height, width, channels), or floats of a tensor that was made elsewhere. Steps on
// levels are Pillow's own arithmetic (op_image_recipe_steps.c); those on floats are torch's, in
// float32, through a table of 256 values for each channel, then boxes over it.
//
// Limits: 1 or 3 channels, uint8 levels; steps on floats come after those on levels.
#include "engine/image/image_codec.h"
#include "engine/ops/op_image_recipe.h"

enum { SOURCE_FILE = 0, SOURCE_PIXELS, SOURCE_TENSOR };
enum { HEAD = 4, WORDS_MAX = 4096 };

enum { BY_PRODUCT = 1 }; // v2.functional.to_dtype multiplies; the rest divides

enum { ARG_DTYPE };
static const struct stk_arg_row recipe_args[] = {
    [ARG_DTYPE] = STK_ARG("dtype", DTYPE, "of the images", .fallback = STK_DT_F32,
                          .choices = "uint8,float32"),
    {0}};

static void scratch_end(void *p)
{
    struct stk_recipe_scratch *s = p;
    stk_op_image_scratch_end(&s->image);
    stk_image_buffer_free(&s->side[0]);
    stk_image_buffer_free(&s->side[1]);
    stk_image_buffer_free(&s->work);
}

struct recipe {
    int32_t word[WORDS_MAX];
    uint32_t count, at;
    struct stk_bytes patches, payload;
};

// Bytes of a patch's values: its top, left, height, width, channels. -1: there is no such patch.
static int64_t patch_bytes(const int32_t *a)
{
    int64_t height = a[2], width = a[3], channels = a[4];
    bool is_right = height > 0 && width > 0 && height <= STK_IMAGE_MAX_SIDE &&
                    width <= STK_IMAGE_MAX_SIDE && (channels == 1 || channels == STK_RECIPE_COLORS);
    return is_right ? height * width * channels * (int64_t)sizeof(float) : -1;
}

// Moves a patch's values from the payload to the patches.
static bool take_patch(struct recipe *p, const int32_t *a)
{
    int64_t bytes = patch_bytes(a);
    if (bytes < 0 || (uint64_t)bytes > p->payload.size) {
        return false;
    }
    p->patches.size += (size_t)bytes;
    p->payload.data += bytes;
    p->payload.size -= (size_t)bytes;
    return true;
}

static bool read_recipe(struct stk_bytes from, struct recipe *to)
{
    int32_t count;
    if (from.size < sizeof count) {
        return false;
    }
    memcpy(&count, from.data, sizeof count);
    size_t size = sizeof count + (size_t)count * sizeof *to->word;
    if (count < HEAD || count > WORDS_MAX || from.size < size) {
        return false;
    }
    to->count = (uint32_t)count;
    to->at = HEAD;
    memcpy(to->word, from.data + sizeof count, (size_t)count * sizeof *to->word);
    to->patches = (struct stk_bytes){from.data + size, 0};
    to->payload = (struct stk_bytes){from.data + size, from.size - size};
    for (uint32_t at = HEAD; at < to->count;) {
        int words = stk_recipe_words(to->word[at]);
        if (words < 0 || at + 1 + (uint32_t)words > to->count) {
            return false;
        }
        if (to->word[at] == STK_RECIPE_PATCH && !take_patch(to, to->word + at + 1)) {
            return false;
        }
        at += 1 + (uint32_t)words;
    }
    return true;
}

// The file's pixels. A crop that comes first is all that a JPEG is decoded for.
static enum stoker_status decode(struct stk_recipe_making *m, struct recipe *p,
                                 struct stk_bytes file)
{
    struct stk_image_jpeg_options o = {.is_accurate_dct = true};
    if (stk_image_sniff(file.data, file.size) != STK_IMAGE_JPEG) {
        return stk_image_decode_any(m->c, file.data, file.size, 0, &m->im, m->err);
    }
    uint32_t at = p->at;
    bool is_color = at < p->count && p->word[at] == STK_RECIPE_COLOR;
    at += is_color;
    o.channels = is_color ? STK_RECIPE_COLORS : 0;
    if (at < p->count && p->word[at] == STK_RECIPE_CROP) {
        const int32_t *box = p->word + at + 1;
        struct stk_image_shape shape;
        enum stoker_status s = stk_image_jpeg_shape(m->c, file.data, file.size, &shape, m->err);
        if (s != STOKER_OK) {
            return s;
        }
        if (box[0] >= 0 && box[1] >= 0 && box[2] > box[0] && box[3] > box[1] &&
            box[2] <= (int64_t)shape.width && box[3] <= (int64_t)shape.height) {
            o.is_checked = true;
            o.crop_x = (uint32_t)box[0];
            o.crop_y = (uint32_t)box[1];
            o.crop_width = (uint32_t)(box[2] - box[0]);
            o.crop_height = (uint32_t)(box[3] - box[1]);
            p->at = at + 5;
        }
    }
    return stk_image_decode_jpeg(m->c, file.data, file.size, &o, &m->im, m->err);
}

static enum stoker_status source(struct stk_recipe_making *m, struct recipe *p,
                                 struct stk_bytes file)
{
    int64_t height = p->word[1], width = p->word[2], channels = p->word[3];
    enum stoker_status s;
    if (p->word[0] == SOURCE_FILE) {
        s = decode(m, p, file.size ? file : p->payload);
    } else if (height <= 0 || width <= 0 || (channels != 1 && channels != STK_RECIPE_COLORS) ||
               (uint64_t)height * (uint64_t)width * (uint64_t)channels != p->payload.size) {
        return stk_recipe_bad(m, "pixels of another size than it says");
    } else {
        m->im = stk_op_image_over((void *)(uintptr_t)p->payload.data, height, width, channels,
                                  STK_IMAGE_U8);
        s = STOKER_OK;
    }
    if (s == STOKER_OK && (m->im.type != STK_IMAGE_U8 ||
                           (m->im.channels != 1 && m->im.channels != STK_RECIPE_COLORS))) {
        return stk_recipe_bad(m, "an image of other than 1 or 3 channels of bytes");
    }
    return s;
}

// Levels until the steps on floats begin.
static enum stoker_status make_levels(struct stk_recipe_making *m, struct recipe *p,
                                      struct stk_bytes file)
{
    enum stoker_status s = source(m, p, file);
    while (s == STOKER_OK && p->at < p->count && p->word[p->at] < STK_RECIPE_SCALE) {
        uint32_t at = p->at;
        p->at += 1 + (uint32_t)stk_recipe_words(p->word[at]);
        s = stk_recipe_step(m, p->word[at], p->word + at + 1);
    }
    return s;
}

static void put_bytes(const struct stk_image *im, uint8_t *out)
{
    uint32_t channels = im->channels;
    for (uint32_t c = 0; c < channels; c++) {
        for (uint32_t y = 0; y < im->height; y++, out += im->width) {
            const uint8_t *p = (const uint8_t *)stk_image_row(im, y) + c;
            for (uint32_t x = 0; x < im->width; x++) {
                out[x] = p[(size_t)x * channels];
            }
        }
    }
}

// The value of each level in a channel.
static void fill_table(const struct recipe *p, uint32_t channel, float table[256])
{
    for (int v = 0; v < 256; v++) {
        table[v] = (float)v;
    }
    for (uint32_t at = p->at; at < p->count; at += 1 + (uint32_t)stk_recipe_words(p->word[at])) {
        const int32_t *a = p->word + at + 1;
        for (int v = 0; v < 256 && p->word[at] == STK_RECIPE_SCALE; v++) {
            table[v] = *a == BY_PRODUCT ? table[v] * (float)(1.0 / 255.0) : table[v] / 255.0F;
        }
        for (int v = 0; v < 256 && p->word[at] == STK_RECIPE_NORMALIZE; v++) {
            float moved = table[v] - stk_recipe_float(a[channel]);
            table[v] = moved / stk_recipe_float(a[STK_RECIPE_COLORS + channel]);
        }
    }
}

// A box of one channel. values: one for each place, or NULL for `value` everywhere.
static void put_box(const struct stk_image *im, uint32_t channel, const int32_t *a, float value,
                    const uint8_t *values, float *out)
{
    for (int32_t y = 0; y < a[2]; y++) {
        float *row = out + ((size_t)channel * im->height + (size_t)(a[0] + y)) * im->width + a[1];
        if (values) {
            memcpy(row, values + (size_t)y * (size_t)a[3] * sizeof *row,
                   (size_t)a[3] * sizeof *row);
        }
        for (int32_t x = 0; x < a[3] && !values; x++) {
            row[x] = value;
        }
    }
}

// Boxes with a value for each channel or for each place, over the floats.
static bool put_boxes(const struct recipe *p, const struct stk_image *im, float *out)
{
    const uint8_t *patch = p->patches.data;
    for (uint32_t at = p->at; at < p->count; at += 1 + (uint32_t)stk_recipe_words(p->word[at])) {
        const int32_t *a = p->word + at + 1;
        bool is_patch = p->word[at] == STK_RECIPE_PATCH;
        if (!is_patch && p->word[at] != STK_RECIPE_ERASE) {
            continue;
        }
        if (a[0] < 0 || a[1] < 0 || a[2] < 0 || a[3] < 0 || (int64_t)a[0] + a[2] > im->height ||
            (int64_t)a[1] + a[3] > im->width || (is_patch && (uint32_t)a[4] != im->channels)) {
            return false;
        }
        size_t size = is_patch ? (size_t)a[2] * (size_t)a[3] * sizeof(float) : 0;
        for (uint32_t c = 0; c < im->channels; c++, patch += size) {
            float value = is_patch ? 0 : stk_recipe_float(a[4 + c]);
            put_box(im, c, a, value, is_patch ? patch : NULL, out);
        }
    }
    return true;
}

static bool put_floats(const struct recipe *p, const struct stk_image *im, float *out)
{
    float table[256], *to = out;
    for (uint32_t c = 0; c < im->channels; c++) {
        fill_table(p, c, table);
        for (uint32_t y = 0; y < im->height; y++, to += im->width) {
            const uint8_t *from = (const uint8_t *)stk_image_row(im, y) + c;
            for (uint32_t x = 0; x < im->width; x++) {
                to[x] = table[from[(size_t)x * im->channels]];
            }
        }
    }
    return put_boxes(p, im, out);
}

// Where image k of element i goes: all of a run's images are as large as the first.
static void *place(struct stk_op_run *r, int64_t i, int64_t k, const struct stk_shape *image,
                   uint8_t **base, struct stk_shape *size)
{
    enum stk_dtype t = r->spec[0].dtype;
    if (k == 0) {
        struct stk_shape all = r->in[1]->shape;
        for (int d = 0; d < 3; d++) {
            all.dim[all.rank++] = image->dim[d];
        }
        *size = *image;
        *base = stk_op_append(r, 0, t, &all, r->err);
        if (!*base) {
            return NULL;
        }
    } else if (memcmp(size->dim, image->dim, sizeof(int64_t) * 3) != 0) {
        (void)stk_op_fail(r, i, STOKER_EINVAL, "images of %lld x %lld and %lld x %lld in one batch",
                          (long long)size->dim[1], (long long)size->dim[2],
                          (long long)image->dim[1], (long long)image->dim[2]);
        return NULL;
    }
    return *base + (size_t)(k * stk_shape_count(image)) * stk_dtype_bytes(t);
}

// Image k of element i, made and written.
static enum stoker_status make(struct stk_op_run *r, struct stk_recipe_making *m, int64_t i,
                               int64_t k, uint8_t **base, struct stk_shape *size)
{
    struct recipe p;
    bool is_float = r->spec[0].dtype == STK_DT_F32;
    if (!read_recipe(((struct stk_bytes *)stk_col_at(r->in[1], i))[k], &p)) {
        return stk_recipe_bad(m, "no recipe");
    }
    bool is_tensor = p.word[0] == SOURCE_TENSOR;
    m->side = -1;
    m->im = (struct stk_image){0};
    if (is_tensor) {
        m->im = stk_op_image_over(NULL, p.word[1], p.word[2], p.word[3], STK_IMAGE_F32);
    } else {
        enum stoker_status s = make_levels(m, &p, ((struct stk_bytes *)stk_col_at(r->in[0], i))[k]);
        if (s != STOKER_OK) {
            return s;
        }
    }
    bool is_right =
        is_tensor
            ? is_float && p.word[1] > 0 && p.word[2] > 0 && p.word[3] > 0 &&
                  p.word[1] <= STK_IMAGE_MAX_SIDE && p.word[2] <= STK_IMAGE_MAX_SIDE &&
                  p.word[3] <= STK_IMAGE_MAX_CHANNELS &&
                  (uint64_t)p.word[1] * (uint64_t)p.word[2] * (uint64_t)p.word[3] * sizeof(float) ==
                      p.payload.size
            : is_float || p.at == p.count;
    if (!is_right) {
        return stk_recipe_bad(m, "a recipe of another type than the images");
    }
    struct stk_shape image = {3, {m->im.channels, m->im.height, m->im.width}};
    void *out = place(r, i, k, &image, base, size);
    if (!out) {
        return r->failed < r->n ? STOKER_OK : r->err->code;
    }
    if (is_tensor) {
        memcpy(out, p.payload.data, p.payload.size);
    } else if (!is_float) {
        put_bytes(&m->im, out);
    } else if (!put_floats(&p, &m->im, out)) {
        return stk_recipe_bad(m, "a box to erase outside of the image");
    }
    return STOKER_OK;
}

static enum stoker_status recipe_run(struct stk_op_run *r, struct stoker_err *err)
{
    struct stoker_err why;
    stk_err_init(&why);
    struct stk_recipe_making m = {.s = r->scratch, .c = stk_op_image_context(r), .err = &why};
    if (!m.c) {
        return stk_err_nomem(err);
    }
    int64_t each = stk_shape_count(&r->in[1]->shape);
    if (each == 0 || stk_shape_count(&r->in[0]->shape) != each || r->in[1]->shape.rank > 1) {
        return stk_op_fail(r, 0, STOKER_EINVAL, "takes as many files as recipes, at least one");
    }
    for (int64_t i = 0; i < r->n && i < r->failed; i++) {
        uint8_t *base = NULL;
        struct stk_shape size = {0};
        for (int64_t k = 0; k < each && i < r->failed; k++) {
            enum stoker_status s = make(r, &m, i, k, &base, &size);
            if (s != STOKER_OK) {
                return stk_op_image_failed(r, i, &why);
            }
        }
    }
    stk_op_image_rest(r);
    return STOKER_OK;
}

static enum stoker_status recipe_infer(struct stk_op_infer *c, struct stoker_err *err)
{
    (void)err;
    struct stk_shape *s = &c->out[0].shape;
    *s = c->in[1].shape;
    c->out[0].dtype = (enum stk_dtype)c->args[ARG_DTYPE].i;
    if (s->rank > 1) {
        return stk_err_set(err, STOKER_EINVAL, "image_recipes: takes one recipe, or a vector");
    }
    for (int d = 0; d < 3 && s->rank >= 0; d++) {
        s->dim[s->rank++] = STK_UNKNOWN;
    }
    return STOKER_OK;
}

const struct stk_op stk_op_image_recipes = {.name = "image_recipes",
                                            .summary = "Images by recipes that were recorded",
                                            .cost_ns = 5e5,
                                            .decodes = true,
                                            .signature = "string, string",
                                            .infer = recipe_infer,
                                            .args = recipe_args,
                                            .scratch_bytes = sizeof(struct stk_recipe_scratch),
                                            .scratch_end = scratch_end,
                                            .run = recipe_run};
