// SPDX-License-Identifier: Apache-2.0
// Two JPEGs decoded at once against the same two one after the other: any pair of samplings, sizes,
// tables, crops and scales, good and damaged, with and without vector code.
#include "jpeg_reference.h"

struct one {
    struct stk_jpeg *j;
    uint8_t *file, *out, *scratch;
    size_t size, bytes, scratch_size, stride;
    struct stk_jpeg_options opt;
    bool is_open;
};

static struct jpeg_recipe draw_recipe(void)
{
    struct jpeg_recipe r = {.width = 1 + draw(150),
                            .height = 1 + draw(150),
                            .components = draw(6) ? 3 : 1,
                            .h = 1 + (int)draw(2),
                            .v = 1 + (int)draw(2),
                            .quality = 20 + (int)draw(80),
                            .restart = draw(4) ? 0 : 1 + (int)draw(20),
                            .optimize = draw(2) != 0,
                            .noise = 1};
    return r;
}

static void draw_one(struct one *o, enum stk_jpeg_cpu cpu)
{
    struct jpeg_recipe r = draw_recipe();
    uint32_t w = 0, h = 0;
    o->file = encode_jpeg(&r, &o->size);
    if (draw(4) == 0) {
        o->file[draw((uint32_t)o->size)] = (uint8_t)draw(256);
    }
    if (draw(10) == 0) {
        o->size = 1 + draw((uint32_t)o->size);
    }
    o->j->cpu = cpu;
    o->opt = (struct stk_jpeg_options){.scale_denom = 1u << (draw(3) ? 0 : draw(4)),
                                       .output = (enum stk_jpeg_output)(draw(4) == 0),
                                       .dct = (enum stk_jpeg_dct)draw(2),
                                       .upsampling = (enum stk_jpeg_upsampling)draw(2)};
    o->is_open = stk_jpeg_open(o->j, o->file, o->size) == STK_JPEG_OK;
    o->bytes = o->scratch_size = 0;
    if (o->is_open && stk_jpeg_output_size(o->j, &o->opt, &w, &h) == STK_JPEG_OK) {
        if (draw(2)) {
            o->opt.crop_x = draw(w);
            o->opt.crop_y = draw(h);
            o->opt.crop_w = w = 1 + draw(w - o->opt.crop_x);
            o->opt.crop_h = h = 1 + draw(h - o->opt.crop_y);
        }
        o->stride = w * 3;
        o->bytes = o->stride * h;
        o->scratch_size = stk_jpeg_scratch_size(o->j, &o->opt);
    }
    o->out = malloc(o->bytes + 1);
    o->scratch = malloc(o->scratch_size + 1);
    memset(o->out, 0, o->bytes);
}

static struct stk_jpeg_task task_of(struct one *o)
{
    return (struct stk_jpeg_task){.j = o->j,
                                  .opt = &o->opt,
                                  .out = o->out,
                                  .stride = o->stride,
                                  .scratch = o->scratch,
                                  .scratch_size = o->scratch_size};
}

static unsigned good, bad;

static void compare_pair(struct one pair[2], enum stk_jpeg_cpu cpu)
{
    uint8_t *want[2] = {NULL, NULL};
    enum stk_jpeg_status status[2] = {STK_JPEG_OK, STK_JPEG_OK};
    for (int i = 0; i < 2; i++) {
        struct one *o = &pair[i];
        draw_one(o, cpu);
        status[i] = stk_jpeg_decode(o->j, &o->opt, o->out, o->stride, o->scratch, o->scratch_size);
        want[i] = malloc(o->bytes + 1);
        memcpy(want[i], o->out, o->bytes);
        memset(o->out, 0, o->bytes);
        *(status[i] == STK_JPEG_OK ? &good : &bad) += 1;
    }
    struct stk_jpeg_task a = task_of(&pair[0]), b = task_of(&pair[1]);
    stk_jpeg_decode_two(&a, &b);
    CHECK_EQ(a.status, status[0]);
    CHECK_EQ(b.status, status[1]);
    for (int i = 0; i < 2; i++) {
        CHECK(memcmp(pair[i].out, want[i], pair[i].bytes) == 0);
        free(want[i]);
        free(pair[i].file);
        free(pair[i].out);
        free(pair[i].scratch);
    }
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    struct one pair[2] = {{.j = malloc(sizeof(struct stk_jpeg))},
                          {.j = malloc(sizeof(struct stk_jpeg))}};
    for (int i = 0; i < 2; i++) {
        stk_jpeg_init(pair[i].j);
    }
    enum stk_jpeg_cpu best = pair[0].j->cpu;
    for (unsigned i = 0; i < 1500; i++) {
        CHECK_RUN(compare_pair, pair, (enum stk_jpeg_cpu)(i % ((unsigned)best + 1)));
    }
    CHECK(good > 1000 && bad > 100);
    for (int i = 0; i < 2; i++) {
        free(pair[i].j);
    }
    return check_done("unit.jpeg_two");
}
