/* CONSTANT_FUNCTION: a function of C and of CUDA C whose result can be a constant in CUDA C. Stages
 * say their tiles with it, once, in tile.h: kernel.cu cuts arrays by them, stage.c plans launches. */
#pragma once

#ifdef __cplusplus
#define CONSTANT_FUNCTION constexpr
#else
#define CONSTANT_FUNCTION static inline
#endif
