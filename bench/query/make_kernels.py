# SPDX-License-Identifier: Apache-2.0
"""A Kineto-like trace with only kernels, for query benchmarks.

Usage: make_kernels.py OUT COUNT. The same bytes every time: 600 names, two devices, three streams
each, durations from 2 to 400 us. Its kernels do not overlap on a stream.
"""
import random
import sys

NAMES = 600
FAMILIES = ["ampere_sgemm_128x64_tn", "cutlass::Kernel<cutlass_80_tensorop_f16_s16816gemm>",
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
            "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1>",
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>"]


def main(out, count):
    rng = random.Random(4)
    names = [f"{FAMILIES[i % len(FAMILIES)]}_{i}" for i in range(NAMES)]
    lines = [(f'{{"ph":"X","cat":"kernel","name":"{name}","pid":%d,"tid":%d,"ts":%d.%03d,"dur":%d.%03d,'
              f'"args":{{"device":%d,"stream":%d}}}}') for name in names]
    at = [[1000.0] * 3 for _ in range(2)]
    with open(out, "w", encoding="utf-8") as f:
        f.write('{"schemaVersion":1,"traceEvents":[\n')
        for i in range(count):
            device, stream = i & 1, (i >> 1) % 3
            dur = rng.randrange(2000, 40000) if rng.random() < 0.9 else rng.randrange(40000, 400000)
            start = int(at[device][stream] * 1000)
            at[device][stream] = (start + dur + rng.randrange(500, 5000)) / 1000
            line = lines[int(rng.random() ** 2 * NAMES)]
            f.write(line % (device, 7 + stream, start // 1000, start % 1000, dur // 1000, dur % 1000,
                            device, 7 + stream))
            f.write("\n" if i + 1 == count else ",\n")
        f.write("]}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
