/* Included before a submission: its kernel prints nothing, and what it meant to print costs it nothing. */
#pragma once
#include <cstdio>

template <class... T> static __host__ __device__ __forceinline__ int leave_unprinted(T...) { return 0; }
namespace std {
using ::leave_unprinted;
}
#define printf leave_unprinted
