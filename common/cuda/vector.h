/* Vectors of the host's processor, 256 bits, as GCC's extensions have them: + - * & | ^ << >> and comparisons, which
 * give -1 or 0 in each element. Here is what operators do not say, and the only intrinsics of the host code: those of
 * x86-64 (AVX2, F16C) where GCC makes slower code of the loops that other processors compile. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

typedef int32_t v8i __attribute__((vector_size(32)));
typedef uint32_t v8u __attribute__((vector_size(32)));
typedef float v8f __attribute__((vector_size(32)));
typedef int64_t v4l __attribute__((vector_size(32)));
typedef uint64_t v4ul __attribute__((vector_size(32)));
typedef double v4d __attribute__((vector_size(32)));
typedef int32_t v4i __attribute__((vector_size(16)));
typedef float v4f __attribute__((vector_size(16)));
typedef uint16_t v8h __attribute__((vector_size(16))); /* binary16 or whole numbers */

/* Any address is good. */
static inline v8i load8(const void *at) {
    v8i v;
    memcpy(&v, at, sizeof v);
    return v;
}
static inline void store8(void *at, v8i v) { memcpy(at, &v, sizeof v); }

static inline v8i all8(int32_t x) { return (v8i){x, x, x, x, x, x, x, x}; }
static inline v8i select8(v8i mask, v8i yes, v8i no) { return (mask & yes) | (~mask & no); }

/* The lanes of 8 whose bits are set in mask: -1, the others 0. */
static inline v8i lanes8(uint32_t mask) {
    const v8i bit = {1, 2, 4, 8, 16, 32, 64, 128};
    return (all8((int32_t)mask) & bit) == bit;
}

/* ---- What a processor has an instruction for ------------------------------------------------------- */

#ifdef __x86_64__

static inline v8i widen8(v8h v) { return (v8i)_mm256_cvtepu16_epi32((__m128i)v); }
static inline v8i widen8_bytes(const void *at) {
    return (v8i)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i_u *)at));
}
static inline v8h narrow8(v8i v) {
    const __m256i w = (__m256i)v;
    return (v8h)_mm_packus_epi32(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
}
static inline bool any8(v8i v) { return !_mm256_testz_si256((__m256i)v, (__m256i)v); }
static inline v8i max8(v8i a, v8i b) { return (v8i)_mm256_max_epi32((__m256i)a, (__m256i)b); }
static inline v8i abs8(v8i v) { return (v8i)_mm256_abs_epi32((__m256i)v); }
static inline v8i sign8(v8i v, v8i like) {
    return (v8i)_mm256_sign_epi32((__m256i)v, (__m256i)like);
}
static inline v8i multiply8(v8i a, v8i b) { return (v8i)_mm256_madd_epi16((__m256i)a, (__m256i)b); }
static inline v8i shift8(v8i v, v8i by) { return (v8i)_mm256_srlv_epi32((__m256i)v, (__m256i)by); }
static inline v8i gather8(const void *at, v8i delta) {
    return (v8i)_mm256_i32gather_epi32((const int *)at, (__m256i)delta, 1);
}
static inline v8i gather8_some(v8i old, v8i lanes, const void *at, v8i delta) {
    return (v8i)_mm256_mask_i32gather_epi32((__m256i)old, (const int *)at, (__m256i)delta,
                                            (__m256i)lanes, 1);
}
static inline v8f floats8(v8h halves) { return (v8f)_mm256_cvtph_ps((__m128i)halves); }
static inline v8h halves8(v8f x) {
    return (v8h)_mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline float float_of_half(uint16_t h) { return _cvtsh_ss(h); }
static inline uint16_t half_of_float(float x) {
    return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

#else

/* 8 numbers without sign of 16 or 8 bits, as int32; and back, where they fit. */
static inline v8i widen8(v8h v) { return __builtin_convertvector(v, v8i); }
static inline v8i widen8_bytes(const void *at) {
    typedef uint8_t v8b __attribute__((vector_size(8)));
    v8b v;
    memcpy(&v, at, sizeof v);
    return __builtin_convertvector(v, v8i);
}
static inline v8h narrow8(v8i v) { return __builtin_convertvector(v, v8h); }
/* Is an element not 0? */
static inline bool any8(v8i v) {
    const v4l w = (v4l)v;
    return (w[0] | w[1] | w[2] | w[3]) != 0;
}
static inline v8i max8(v8i a, v8i b) { return select8(a > b, a, b); }
static inline v8i abs8(v8i v) { return max8(v, -v); }
/* v with the sign of `like`; 0 where that is 0. */
static inline v8i sign8(v8i v, v8i like) { return select8(like < 0, -v, v & (like != 0)); }
/* Products of numbers that fit 16 bits with their sign; the upper halves of a or of b are 0 or nothing but signs,
 * and of one of them 0: the lower halves are multiplied, and the upper ones give 0. */
static inline v8i multiply8(v8i a, v8i b) { return (a << 16 >> 16) * (b << 16 >> 16); }
/* Without sign; by 32 and more, or by less than nothing: 0. */
static inline v8i shift8(v8i v, v8i by) {
    const v8i fits = (v8i)((v8u)by < 32);
    return (v8i)((v8u)v >> (v8u)(by & 31)) & fits;
}
/* 4 bytes at each of 8 distances, in bytes, from `at`. */
static inline v8i gather8(const void *at, v8i delta) {
    v8i v;
    for (int l = 0; l < 8; l++) memcpy((char *)&v + 4 * l, (const char *)at + delta[l], 4);
    return v;
}
/* The same for some lanes; the others keep what is old, and read nothing. */
static inline v8i gather8_some(v8i old, v8i lanes, const void *at, v8i delta) {
    for (int l = 0; l < 8; l++)
        if (lanes[l]) memcpy((char *)&old + 4 * l, (const char *)at + delta[l], 4);
    return old;
}
/* binary16 to float is exact, and back rounded to nearest, ties to even; of a NaN all but its quiet bit. */
typedef _Float16 v8_half __attribute__((vector_size(16)));
static inline v8f floats8(v8h halves) { return __builtin_convertvector((v8_half)halves, v8f); }
static inline v8h halves8(v8f x) { return (v8h) __builtin_convertvector(x, v8_half); }
static inline float float_of_half(uint16_t h) {
    _Float16 f;
    memcpy(&f, &h, 2);
    return (float)f;
}
static inline uint16_t half_of_float(float x) {
    const _Float16 f = (_Float16)x;
    uint16_t h;
    memcpy(&h, &f, 2);
    return h;
}

#endif

static inline v8i load8_halves(const void *at) {
    v8h v;
    memcpy(&v, at, sizeof v);
    return widen8(v);
}
