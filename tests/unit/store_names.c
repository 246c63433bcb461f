// SPDX-License-Identifier: Apache-2.0
// What names show: real names of each producer, with the classes they must and must not have.
#include "base/alloc.h"
#include "check.h"
#include "profile/store/build.h"
#include "profile/store/names_said.h"

static void expect(enum stk_kind kind, const char *name, uint32_t bits)
{
    uint32_t got = stk_name_classify(stk_str_from(name), kind);
    CHECK_SAY(got == bits, "\"%s\" (%s): classes %#x, wanted %#x", name, stk_kind_key(kind), got,
              bits);
}

static void test_calls(void)
{
    enum stk_kind k = STK_KIND_RUNTIME;
    expect(k, "cudaLaunchKernel", STK_NAME_LAUNCH);
    expect(k, "cudaLaunchKernel_v7000", STK_NAME_LAUNCH);
    expect(k, "cudaLaunchKernel_ptsz_v7000", STK_NAME_LAUNCH);
    expect(k, "cudaLaunchKernelExC_v11060", STK_NAME_LAUNCH);
    expect(k, "cuLaunchKernelEx", STK_NAME_LAUNCH);
    expect(k, "cudaLaunchCooperativeKernel", STK_NAME_LAUNCH);
    expect(k, "cudaLaunchHostFunc", 0);
    expect(k, "hipExtModuleLaunchKernel", STK_NAME_LAUNCH);
    expect(k, "cudaGraphLaunch_v10000", STK_NAME_LAUNCH | STK_NAME_GRAPH_LAUNCH);
    expect(k, "cudaMemsetAsync", STK_NAME_LAUNCH);
    expect(k, "cudaMemcpyAsync_v3020", STK_NAME_COPY_CALL);
    expect(k, "cudaMemcpy_v3020", STK_NAME_COPY_CALL | STK_NAME_BLOCKING_COPY);
    expect(k, "cuMemcpyHtoD_v2", STK_NAME_COPY_CALL | STK_NAME_BLOCKING_COPY);
    expect(k, "cuMemcpyHtoDAsync_v2", STK_NAME_COPY_CALL);
    expect(k, "cuMemcpyDtoD_v2", STK_NAME_COPY_CALL);
    expect(k, "hipMemcpyWithStream", STK_NAME_COPY_CALL | STK_NAME_BLOCKING_COPY);
    expect(k, "MemcpyH2D", STK_NAME_COPY_CALL);
    expect(k, "cudaDeviceSynchronize_v3020", STK_NAME_SYNC);
    expect(k, "cuCtxSynchronize", STK_NAME_SYNC);
    expect(k, "hipEventSynchronize", STK_NAME_SYNC);
    expect(k, "cudaStreamWaitEvent", 0);
    expect(k, "cudaEventQuery", 0);
    expect(k, "cudaMalloc", STK_NAME_ALLOC);
    expect(k, "hipFree", STK_NAME_ALLOC);
    expect(k, "cudaHostAlloc_v3020", STK_NAME_ALLOC);
    expect(k, "cuMemAlloc_v2", STK_NAME_ALLOC);
    expect(k, "cudaHostGetDevicePointer", 0);
    expect(k, "cuModuleLoadData", STK_NAME_COMPILE);
    expect(k, "cuModuleGetLoadingMode", 0);
    expect(k, "cudaStreamIsCapturing_v10000", 0);
    expect(k, "cudaStreamBeginCapture", STK_NAME_COMPILE);
    expect(k, "cudaGraphInstantiateWithFlags", STK_NAME_COMPILE);
    expect(k, "INVALID", 0);
    expect(k, "", 0);
}

// What --redact writes gives its classes back, on rows of every kind; nothing else does.
static void test_said(void)
{
    char said[STK_NAME_SAID_MAX], text[STK_NAME_SAID_MAX + 32];
    uint32_t all = 0;
    for (unsigned i = 0; i < 32; i++) {
        uint32_t bits = 1u << i;
        if (stk_name_say(bits, said) == 0) {
            continue; // not a class
        }
        all |= bits;
        snprintf(text, sizeof text, "name-%u%s", i, said);
        for (int k = 0; k < STK_KIND_COUNT; k++) {
            expect((enum stk_kind)k, text, bits);
        }
    }
    CHECK(all == (STK_NAME_LETS_GO << 1) - 1); // each class has its word
    CHECK(stk_name_say(0, said) == 0 && !*said);
    CHECK(stk_name_say(all, said) > 0);
    snprintf(text, sizeof text, "name-12%s", said);
    expect(STK_KIND_PYTHON, text, all);
    expect(STK_KIND_RUNTIME, "name-7 [fetch]", STK_NAME_FETCH);
    expect(STK_KIND_RUNTIME, "name-7 [fetch, launch]", STK_NAME_FETCH | STK_NAME_LAUNCH);
    expect(STK_KIND_RUNTIME, "name-7 [fetch, nothing]", 0);
    expect(STK_KIND_RUNTIME, "name-7 [fetch,]", 0);
    expect(STK_KIND_RUNTIME, "name-7 [", 0);
    expect(STK_KIND_RUNTIME, "name-7]", 0);
    expect(STK_KIND_RUNTIME, "name-]", 0);
    expect(STK_KIND_RUNTIME, "my name-7 [fetch]", 0);
    expect(STK_KIND_RUNTIME, "name-7 [fetch] ", 0);
}

static void test_device_work(void)
{
    enum stk_kind k = STK_KIND_KERNEL;
    expect(k, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
           STK_NAME_COLLECTIVE);
    expect(k, "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)", STK_NAME_COLLECTIVE);
    expect(k, "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*)",
           STK_NAME_COLLECTIVE);
    expect(k, "void deep_ep::intranode::dispatch<2, 768, 8192>(int4*)", STK_NAME_COLLECTIVE);
    expect(k, "multimem_all_reduce_kernel", STK_NAME_COLLECTIVE);
    expect(k, "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel<4>()",
           STK_NAME_COLLECTIVE);
    expect(k, "triton_poi_fused_all_reduce_add_0", STK_NAME_COMPILED);
    expect(k, "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>()", 0);
    expect(k, "void splitKreduce_kernel<float, float>()", 0);
    expect(k, "void at::native::vectorized_gather_kernel<16, long>(char*)", 0);
    expect(k, "void softmaxWarpAllReduce<float>()", 0);
    expect(k, "all-reduce.17", STK_NAME_COLLECTIVE);
    expect(k, "%all-gather-start.1 = f32[8] all-gather-start(f32[2] %p)", STK_NAME_COLLECTIVE);
    expect(k, "%fusion.2 = f32[8] fusion(f32[8] %all-reduce.1, f32[8] %copy-done.3)", 0);
    expect(k, "%copy-done.4 = f32[5] copy-done((f32[5], u32[]) %copy-start.4)", STK_NAME_WAITS);
    expect(k, "copy-done", STK_NAME_WAITS);
    expect(k, "infeed.3", STK_NAME_WAITS);
    expect(k, "infeed_fusion", 0);
}

static void test_pytorch_host(void)
{
    enum stk_kind k = STK_KIND_HOST_OP, a = STK_KIND_ANNOTATION;
    expect(a, "ProfilerStep#12", STK_NAME_STEP);
    expect(k, "ProfilerStep#12", STK_NAME_STEP);
    expect(a, "Optimizer.step#SGD.step", STK_NAME_OPTIMIZER | STK_NAME_MODEL_OP);
    expect(a, "Optimizer.zero_grad#SGD.zero_grad", 0);
    expect(a, "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", STK_NAME_FETCH);
    expect(k, "enumerate(DataPipe)#Mapper", STK_NAME_FETCH);
    expect(k, "aten::mm", STK_NAME_MODEL_OP);
    expect(a, "aten::item, op_id = 317127", STK_NAME_MODEL_OP | STK_NAME_ITEM);
    expect(k, "aten::_local_scalar_dense", STK_NAME_MODEL_OP | STK_NAME_ITEM);
    expect(k, "AddmmBackward0", STK_NAME_MODEL_OP);
    expect(k, "autograd::engine::evaluate_function: AddmmBackward0", STK_NAME_MODEL_OP);
    expect(k, "customflash::custom_flash_aligned", STK_NAME_MODEL_OP);
    expect(k, "c10d::allreduce_", STK_NAME_HOST_COLL);
    expect(a, "nccl:_all_gather_base", STK_NAME_HOST_COLL);
    expect(a, "gloo:all_reduce", STK_NAME_HOST_COLL);
    expect(k, "record_param_comms", STK_NAME_HOST_COLL);
    expect(k, "Torch-Compiled Region: 0/0", STK_NAME_MODEL_OP | STK_NAME_COMPILED);
    expect(a, "## Call CompiledFxGraph fal4xpiah2v6 ##", STK_NAME_MODEL_OP | STK_NAME_COMPILED);
    expect(k, "TorchDynamo Cache Lookup", 0);
    expect(k, "CompiledFunctionBackward", STK_NAME_MODEL_OP | STK_NAME_COMPILED);
    expect(k, "entire_frame_compile (dynamo_timed)", STK_NAME_COMPILE | STK_NAME_INTERNAL);
    expect(a, "## load_batch ##", STK_NAME_PREP);
    expect(a, "## copy_batch_to_gpu ##", 0);
    expect(a, "## sdd_preprocess_splits ##", 0);
    expect(a, "generate_masks 0 1 0 0", 0);
    expect(STK_KIND_OTHER, "Lazy Function Loading", STK_NAME_COMPILE | STK_NAME_INTERNAL);
    expect(STK_KIND_OTHER, "Command Buffer Full", 0);
}

static void test_tensorflow_and_jax_host(void)
{
    enum stk_kind k = STK_KIND_HOST_OP;
    expect(k, "IteratorGetNextOp::DoCompute", STK_NAME_FETCH | STK_NAME_INTERNAL);
    expect(k, "IteratorGetNextAsOptionalOp::DoCompute", STK_NAME_FETCH | STK_NAME_INTERNAL);
    expect(k, "IteratorGetNext:IteratorGetNext", STK_NAME_FETCH);
    expect(k, "IteratorGetNextAsOptional_2/_29:_Recv", STK_NAME_GRAPH_NODE);
    expect(k, "PrefetchDatasetIterator.__next__", STK_NAME_FETCH);
    expect(k, "Iterator::Root::Prefetch::BatchV2", STK_NAME_ITERATOR);
    expect(k, "PrefetchProduce", STK_NAME_ITERATOR | STK_NAME_INTERNAL);
    expect(k, "InstantiatedCapturedFunction::Run", STK_NAME_ITERATOR | STK_NAME_INTERNAL);
    expect(k, "DecodeJpeg:DecodeJpeg", STK_NAME_ITERATOR);
    expect(k, "StatefulPartitionedCall/compile_loss/crossentropy/Sum:Sum",
           STK_NAME_MODEL_OP | STK_NAME_GRAPH_NODE);
    expect(k, "gradient_tape/dense/MatMul/MatMul_1:_MklMatMul",
           STK_NAME_MODEL_OP | STK_NAME_GRAPH_NODE);
    expect(k, "string_handle:_Arg", STK_NAME_GRAPH_NODE);
    expect(k, "StatefulPartitionedCall:StatefulPartitionedCall", STK_NAME_WAIT_HOST);
    expect(k, "allreduce/CollectiveReduce:CollectiveReduceV2",
           STK_NAME_HOST_COLL | STK_NAME_GRAPH_NODE);
    expect(k, "save/SaveV2:SaveV2", STK_NAME_EVAL | STK_NAME_GRAPH_NODE);
    expect(k, "multi_step_on_iterator", STK_NAME_FW_STEP | STK_NAME_INTERNAL);
    expect(k, "one_step_on_data", STK_NAME_FW_STEP | STK_NAME_INTERNAL);
    expect(k, "EagerLocalExecute: __inference_multi_step_on_iterator_2112", STK_NAME_INTERNAL);
    expect(k, "EagerLocalExecute: Conv2D", STK_NAME_MODEL_OP);
    expect(k, "Mul:Mul", STK_NAME_MODEL_OP); // eager: no name of its own
    expect(k, "ExecutorState::Process", STK_NAME_GRAPH_NODE | STK_NAME_INTERNAL);
    expect(k, "EagerLocalExecute: IteratorGetNext", STK_NAME_FETCH);
    expect(k, "CommonPjRtBuffer::Await", STK_NAME_SYNC | STK_NAME_WAIT_HOST | STK_NAME_INTERNAL);
    expect(k, "TfrtCpuExecutable::Execute",
           STK_NAME_MODEL_OP | STK_NAME_XLA_RUN | STK_NAME_INTERNAL);
    expect(k, "TfrtTpuLoadedExecutable::ExecutePrepare", STK_NAME_INTERNAL);
    expect(k, "TfrtTpuCompiler::Compile", STK_NAME_COMPILE | STK_NAME_INTERNAL);
    expect(k, "Iterator::Root::Map", STK_NAME_ITERATOR);
    expect(k, "torch::autograd::AccumulateGrad", STK_NAME_MODEL_OP);
    expect(k, "Scheduled TfrtTpuLoadedExecutable::Transfer", STK_NAME_INTERNAL);
    expect(k, "ExecutorPropagateOutputs", STK_NAME_INTERNAL);
    expect(k, "my own range", 0);
    expect(k, "all-reduce-combiner", 0);
    expect(k, "all-reduce.1", STK_NAME_HOST_COLL);
    expect(k, "hipModuleLaunchKernel", STK_NAME_LAUNCH);
    expect(k, "pthread_cond_timedwait", STK_NAME_BLOCKED);
    expect(k, "pthread_cond_signal", 0);
}

static void test_python(void)
{
    enum stk_kind k = STK_KIND_PYTHON;
    expect(k, "vllm/compilation/wrapper.py(208): __call__", 0);
    expect(k, "torch/_compile.py(24): inner", 0);
    expect(k, "preprocess/load_batch.py(3): forward", 0);
    expect(k, "triton/compiler/compiler.py(229): compile", STK_NAME_COMPILE);
    expect(k, "torch/_inductor/compile_fx.py(551): compile_fx_inner", STK_NAME_COMPILE);
    expect(k, "train.py(12): preprocess", STK_NAME_PREP);
    expect(k, "transformers/pipelines/video_classification.py(174): read_video_pyav",
           STK_NAME_PREP);
    expect(k, "loader.py(1): loadBatch", STK_NAME_PREP);
    expect(k, "a.py(1): default_collate", STK_NAME_PREP);
    expect(k, "a.py(1): get_batch", STK_NAME_PREP);
    expect(k, "transformers/trainer.py(5500): get_batch_samples", STK_NAME_FETCH);
    expect(k, "a.py(1): get_batch_size", 0);
    expect(k, "a.py(1): get_batch_descriptor", 0);
    expect(k, "a.py(1): load_batch_norm", 0);
    expect(k, "a.py(1): load_state_dict", 0);
    expect(k, "a.py(1): is_decode_or_idle", 0);
    expect(k, "a.py(1): decode_image", STK_NAME_PREP);
    expect(k, "a.py(1): decode_batch", 0);
    expect(k, "vllm/v1/sample/sampler.py(9): _preprocess_logits", 0);
    expect(k, "$jax_loop.py:44 read_shard", STK_NAME_PREP);
    expect(k, "$builtins next", 0);
    expect(k, "<built-in function next>", 0);
    expect(k, "torch/utils/data/dataloader.py(701): __next__", 0);
    expect(k, "torch/utils/data/dataloader.py(1448): _next_data", STK_NAME_FETCH);
    expect(k, "torch/utils/data/dataloader.py(433): _get_iterator", STK_NAME_PREP);
    expect(k, "torch/utils/data/dataloader.py(1608): _shutdown_workers", STK_NAME_PREP);
    expect(k, "<built-in method item of Tensor object at 0x7f1bafcc62a0>", STK_NAME_ITEM);
    expect(k, "<built-in method item of numpy.int32 object at 0x7f1736e0fa50>", 0);
    expect(k, "torch/cuda/__init__.py(1098): synchronize", STK_NAME_SYNC);
    expect(k, "nn.Module: BatchNorm2d_0", 0);
    expect(k, "trainer.py(3): _save_checkpoint", STK_NAME_EVAL);
    expect(k, "torch/utils/checkpoint.py(488): checkpoint", 0);
    expect(k, "trainer.py(3): evaluation_loop", STK_NAME_EVAL);
    expect(k, "<built-in function", 0);
    expect(k, "$", 0);
}

static void test_copies(void)
{
    static const struct {
        const char *name;
        uint8_t dir, src, dst;
    } rows[] = {
        {"Memcpy HtoD (Pageable -> Device)", STK_DIR_H2D, STK_MEM_PAGEABLE, STK_MEM_DEVICE},
        {"Memcpy DtoH (Device -> Pinned)", STK_DIR_D2H, STK_MEM_DEVICE, STK_MEM_PINNED},
        {"Memcpy DtoD (Device -> Device)", STK_DIR_D2D, STK_MEM_DEVICE, STK_MEM_DEVICE},
        {"Memcpy PtoP (Device -> Device)", STK_DIR_P2P, STK_MEM_DEVICE, STK_MEM_DEVICE},
        {"Memcpy HtoD (Host -> Device)", STK_DIR_H2D, STK_MEM_UNKNOWN, STK_MEM_DEVICE},
        {"Memcpy DtoH (Device Static -> Pageable)", STK_DIR_D2H, STK_MEM_DEVICE, STK_MEM_PAGEABLE},
        {"Memcpy HtoA (Pinned -> Array)", STK_DIR_H2D, STK_MEM_PINNED, STK_MEM_ARRAY},
        {"MemcpyH2D", STK_DIR_H2D, 0, 0},
        {"MemcpyOther", STK_DIR_UNKNOWN, 0, 0},
        {"MEMCPYDtoH", STK_DIR_D2H, 0, 0},
        {"[CUDA memcpy HtoD]", STK_DIR_H2D, 0, 0},
        {"[CUDA memcpy Device-to-Host]", STK_DIR_D2H, 0, 0},
        {"[CUDA Unified Memory memcpy HtoD]", STK_DIR_H2D, 0, 0},
        {"CopyHostToDevice", STK_DIR_H2D, 0, 0},
        {"Memcpy HtoD (Pageable -> ", STK_DIR_H2D, STK_MEM_PAGEABLE, 0},
        {"Memcpy (", 0, 0, 0},
        {"", 0, 0, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint8_t dir = 99, src = 99, dst = 99;
        stk_name_parse_copy(stk_str_from(rows[i].name), &dir, &src, &dst);
        CHECK_EQ(dir, rows[i].dir);
        CHECK_EQ(src, rows[i].src);
        CHECK_EQ(dst, rows[i].dst);
    }
    CHECK_EQ(stk_name_device_kind(STK_STR("Memcpy HtoD (Pageable -> Device)")), STK_KIND_MEMCPY);
    CHECK_EQ(stk_name_device_kind(STK_STR("[CUDA memset]")), STK_KIND_MEMSET);
    CHECK_EQ(stk_name_device_kind(STK_STR("Memset 2")), STK_KIND_MEMSET);
    CHECK_EQ(stk_name_device_kind(STK_STR("__amd_rocclr_copyBuffer")), STK_KIND_KERNEL);
    CHECK_EQ(stk_name_device_kind(STK_STR("_combined_routing_memset")), STK_KIND_KERNEL);
}

// A string that occurs on rows of several kinds has the classes of all of them.
static void test_whole_trace(void)
{
    struct stk_build *b;
    struct stk_trace *t;
    CHECK_EQ(stk_build_new(&b, NULL), STOKER_OK);
    struct stk_shard *s = stk_build_shard(b);
    struct stk_track_key key = {STK_TRACK_THREAD, 1, -1, 1, {"", 0}};
    struct stk_row row = {.track = stk_shard_track(s, &key),
                          .kind = STK_KIND_RUNTIME,
                          .name = stk_shard_intern(s, "hipLaunchKernel", 15)};
    stk_shard_add(s, &row, NULL);
    row.kind = STK_KIND_PYTHON;
    row.name = stk_shard_intern(s, "loader.py(3): collate", 21);
    stk_shard_add(s, &row, NULL);
    stk_shard_intern(s, "aten::mm", 8); // on no row
    CHECK_EQ(stk_build_finish(b, 1, &t, NULL), STOKER_OK);
    uint32_t *bits = stk_names_classify(t);
    CHECK(bits != NULL);
    if (bits) {
        CHECK_EQ(bits[stk_strpool_find(&t->strings, "hipLaunchKernel", 15)], STK_NAME_LAUNCH);
        CHECK_EQ(bits[stk_strpool_find(&t->strings, "loader.py(3): collate", 21)], STK_NAME_PREP);
        CHECK_EQ(bits[stk_strpool_find(&t->strings, "aten::mm", 8)], 0);
    }
    stk_free(bits);
    stk_trace_free(t);
    stk_build_free(b);
}

int main(int argc, char **argv)
{
    check_begin(argc, argv);
    CHECK_RUN(test_calls);
    CHECK_RUN(test_said);
    CHECK_RUN(test_device_work);
    CHECK_RUN(test_pytorch_host);
    CHECK_RUN(test_tensorflow_and_jax_host);
    CHECK_RUN(test_python);
    CHECK_RUN(test_copies);
    CHECK_RUN(test_whole_trace);
    return check_done("unit.store_names");
}
