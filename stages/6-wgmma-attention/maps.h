/* Tensor maps: how TMA finds pages of Q, K, V and O. */
#pragma once

#include "common/harness/stage.h"

/* What TMA asks of a tensor's strides. */
const char *map_rule(const char *name, const struct tensor_stride *s);

/* `map` is 128 bytes. One page of 64 elements by `rows` of K or V, or of Q or O; what a box reaches
 * beyond a head's last row is zero, not the next head: that is why the map has 4 dimensions. */
const char *map_rows(struct device *d, device_ptr base, const struct tensor_stride *s,
                     const struct attention *a, int heads, int seqlen, int rows, void *map);

/* The same for 64 rows of Q or O, of `pack` heads packed: packed_rows(pack) of each query. */
const char *map_packed_rows(struct device *d, device_ptr base, const struct tensor_stride *s,
                            const struct attention *a, int pack, void *map);

/* maps[0] of K, maps[1] of V, in boxes of bkv rows. */
const char *map_kv(struct device *d, const struct stage_tensors *t, const struct attention *a,
                   int bkv, unsigned char maps[2][128]);
