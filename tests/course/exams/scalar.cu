static __device__ float scalar(const struct gemm_args &args, int row, int col) {
    float sum = 0;
    for (int d = 0; d < args.k; d++)
        sum += __half2float(args.a[(int64_t)row * args.lda + d]) *
               __half2float(args.b[(int64_t)col * args.ldb + d]);
    return sum;
}
