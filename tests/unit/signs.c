// SPDX-License-Identifier: Apache-2.0
// What names show about how a job is written: rows of signs.def against names as frameworks write
// them.
#include "check.h"

#include "profile/model/signs.h"
#include "profile/store/trace.h"

// The sign of a name, STK_SIGN_COUNT: none.
static enum stk_sign sign_of(const char *name)
{
    struct stk_trace t;
    struct stk_arena arena;
    memset(&t, 0, sizeof t);
    stk_arena_init(&arena, 0);
    CHECK_EQ(stk_strpool_init(&t.strings, 1 << 20), 0);
    uint32_t id = stk_strpool_intern(&t.strings, name, strlen(name));
    const uint8_t *signs = stk_signs_classify(&t, &arena);
    CHECK(signs != NULL);
    enum stk_sign found = signs && signs[id] ? (enum stk_sign)(signs[id] - 1) : STK_SIGN_COUNT;
    stk_strpool_deinit(&t.strings);
    stk_arena_deinit(&arena);
    return found;
}

static void loops(void)
{
    CHECK_EQ(sign_of("while/cond/_3"), STK_SIGN_WHILE_LOOP);
    CHECK_EQ(sign_of("while_1/cond/_3"), STK_SIGN_WHILE_LOOP);
    CHECK_EQ(sign_of("while_12/cond/_3/while/Less:Less"), STK_SIGN_WHILE_LOOP);
    CHECK_EQ(sign_of("model/lstm/while_2/cond/_41"), STK_SIGN_WHILE_LOOP);
    CHECK_EQ(sign_of("while_/cond/_3"), STK_SIGN_COUNT);
    CHECK_EQ(sign_of("while_1a/cond/_3"), STK_SIGN_COUNT);
    CHECK_EQ(sign_of("while/body/_3"), STK_SIGN_COUNT);
    CHECK_EQ(sign_of("model/cond/_5:_Recv"),
             STK_SIGN_COUNT); // a value of tf.cond that crosses devices
    CHECK_EQ(sign_of("while"), STK_SIGN_COUNT);
    CHECK_EQ(sign_of("while_"), STK_SIGN_COUNT);
    CHECK_EQ(sign_of("while_7"), STK_SIGN_COUNT);
}

static void scopes(void)
{
    CHECK_EQ(sign_of("EagerLocalExecute: SaveV2"), STK_SIGN_CHECKPOINT);
    CHECK_EQ(sign_of("EagerLocalExecute: MatMul"), STK_SIGN_EAGER_OP);
    CHECK_EQ(sign_of("EagerLocalExecute: MakeIterator"), STK_SIGN_ITERATOR);
    CHECK_EQ(sign_of("EagerLocalExecute: EncodePng"), STK_SIGN_WRITING);
    CHECK_EQ(sign_of("EagerLocalExecute: EncodeJpegVariableQuality"), STK_SIGN_WRITING);
    CHECK_EQ(sign_of("show/WriteFile:WriteFile"), STK_SIGN_WRITING);
    CHECK_EQ(sign_of("EagerLocalExecute: DecodePng"), STK_SIGN_EAGER_OP);
    CHECK_EQ(sign_of("step/concat_3:ConcatV2"), STK_SIGN_CONCAT);
    CHECK_EQ(sign_of("cond/DecodeImage:DecodeImage"), STK_SIGN_PICTURE);
    CHECK_EQ(sign_of("DecodeRaw:DecodeRaw"), STK_SIGN_COUNT); // takes batches as they are
    CHECK_EQ(sign_of("shelve.py(109): __getitem__"), STK_SIGN_HELD_OPEN);
    CHECK_EQ(sign_of("$async_checkpointer.py:300 wait_until_finished"), STK_SIGN_CHECKPOINT);
    CHECK_EQ(sign_of("ConcatV2"), STK_SIGN_COUNT); // a type stands behind a colon
    CHECK_EQ(sign_of("train.py(12): save_checkpoint"), STK_SIGN_CHECKPOINT);
    CHECK_EQ(sign_of(""), STK_SIGN_COUNT);
}

// Its own, and not that of DistributedDataParallel.
static void data_parallel(void)
{
    CHECK_EQ(sign_of("DataParallel.forward"), STK_SIGN_DATA_PARALLEL);
    CHECK_EQ(sign_of("BroadcastBackward"), STK_SIGN_DATA_PARALLEL);
    CHECK_EQ(sign_of("torch/nn/parallel/data_parallel.py(155): forward"), STK_SIGN_DATA_PARALLEL);
    CHECK_EQ(sign_of("DistributedDataParallel.forward"), STK_SIGN_DDP);
    CHECK_EQ(sign_of("torch/nn/parallel/distributed.py(1600): forward"), STK_SIGN_DDP);
    CHECK_EQ(sign_of("train.py(3): distributed"), STK_SIGN_COUNT);
    CHECK_EQ(sign_of("FullyShardedDataParallel.forward"), STK_SIGN_FSDP);
    CHECK_EQ(sign_of("nn.Module: DataParallel_0"), STK_SIGN_COUNT);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(loops);
    CHECK_RUN(data_parallel);
    CHECK_RUN(scopes);
    return check_done("unit.signs");
}
