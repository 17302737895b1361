// malloc and free in kernels: test_run.sh says what must come of each case. No argument: lists that one kernel builds and
// another frees, three times over; a number: a kernel that misuses its heap.
#include <cstdio>
#include <cstdlib>

struct node {
    int value;
    node *next;
};
__global__ void build(node **lists, int n) {
    node *head = nullptr;
    for (int k = 0; k < n; k++) {
        node *x = (node *)malloc(sizeof(node));
        x->value = threadIdx.x + k;
        x->next = head;
        head = x;
    }
    lists[blockIdx.x * blockDim.x + threadIdx.x] = head;
}
__global__ void sum(node **lists, int *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, total = 0;
    for (node *x = lists[i], *next; x; x = next) {
        total += x->value;
        next = x->next;
        delete x;
    }
    out[i] = total;
}
__global__ void misuse(int *out, int how) {
    int *p = (int *)malloc(8), *q = new int[4];
    switch (how) {
    case 0:
        p[2] = 1;
        break;
    case 1:
        free(p), p[0] = 1;
        break;
    case 2:
        free(p), free(p);
        break;
    case 3:
        free(out);
        break;
    case 4:
        free(p + 1);
        break;
    case 5:
        *out = p[0] > 3 ? 1 : 2;
        break;
    case 6:
        *out = malloc(9 << 20) == nullptr;
        break; // more than the heap has
    case 7:
        free(nullptr), *out = malloc(0) == nullptr;
        break;
    }
    delete[] q;
}
static int asked(int how) {
    int *out, host;
    cudaMalloc(&out, sizeof host);
    misuse<<<1, 1>>>(out, how);
    cudaMemcpy(&host, out, sizeof host, cudaMemcpyDeviceToHost);
    return host;
}
int main(int argc, char **argv) {
    enum { N = 128 };
    node **lists;
    int *out, host[N], bad = 0;
    size_t limit;
    char x, *first;
    if (argc > 1) return asked(atoi(argv[1])) * 0;
    cudaMalloc(&lists, sizeof(node *) * N), cudaMalloc(&out, sizeof host);
    for (int turn = 0; turn < 3; turn++) {
        build<<<4, 32>>>(lists, 10);
        if (!turn) { // the host cannot use it
            cudaMemcpy(&first, lists, sizeof first, cudaMemcpyDeviceToHost);
            bad += cudaMemcpy(&x, first, 1, cudaMemcpyDeviceToHost) == cudaSuccess;
            bad += cudaFree(first) == cudaSuccess;
            cudaGetLastError();
        }
        sum<<<2, 64>>>(lists, out);
        cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
        for (int i = 0; i < N; i++) bad += host[i] != 10 * (i % 32) + 45;
    }
    bad += asked(6) != 1;
    bad += asked(7) != 1;
    cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize);
    cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20);
    bad += asked(6) != 0;
    printf("%zu bytes of heap, %d wrong\n", limit, bad);
    return bad != 0;
}
