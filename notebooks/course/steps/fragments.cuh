// Fragments of WMMA whose x[i] stops the kernel where i is not below num_elements. cuda.py includes it before a file with mma.h;
// plain WMMA lets such an access pass unseen, as its elements are registers.
#pragma once
#include <mma.h>

namespace nvcuda {
namespace wmma {

template <typename T, int N> struct checked_elements {
    T (&all)[N];
    __device__ T &operator[](int i) const {
        if (i < 0 || i >= N) __trap();
        return all[i];
    }
};

template <typename T, int N> __device__ checked_elements<T, N> checked(T (&all)[N]) {
    return {all};
}

template <typename Use, int M, int N, int K, typename T, typename Layout = void>
struct checked_fragment : fragment<Use, M, N, K, T, Layout> {
    using plain = fragment<Use, M, N, K, T, Layout>;
    decltype(checked(plain::x)) x = checked(plain::x);
    __device__ checked_fragment() {}
    __device__ checked_fragment(const checked_fragment &other) : plain(other) {}
    __device__ checked_fragment &operator=(const checked_fragment &other) {
        plain::operator=(other);
        return *this;
    }
};

} // namespace wmma
} // namespace nvcuda

#define fragment checked_fragment
