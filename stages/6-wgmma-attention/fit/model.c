/* The model of stage 6's choice with its constants open, for fit.py: cut.c itself, in which
 * nothing is const. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define const
#include "stages/6-wgmma-attention/cut.c"

/* The constants: those of all shapes, then those of each. */
double *model_speed(int *n) { return *n = sizeof speed / sizeof(double), (double *)&speed; }
double *model_shapes(int *n) {
    return *n = sizeof shape_speed / sizeof(double), (double *)&shape_speed;
}

/* Where hot and hot_wide are among the first. */
int model_hot(void) { return offsetof(struct speed, hot) / sizeof(double); }
int model_hot_wide(void) { return offsetof(struct speed, hot_wide) / sizeof(double); }

/* The number in chip.c of the chip on this board; -1: none. */
int model_chip(char *board) {
    for (int i = 0; chip_at(i); i++)
        if (!strcmp(chip_at(i)->board, board)) return i;
    return -1;
}

/* A way: batch, heads, kv_heads, queries, keys, head_dim, causal; shape, pack, split, n_cut, parts;
 * the chip's number in chip.c. */
void model_us(int n, int way[][13], double *us) {
    for (int i = 0; i < n; i++) {
        int *p = way[i];
        struct attention a = {.batch = p[0],
                              .heads = p[1],
                              .kv_heads = p[2],
                              .seqlen_q = p[3],
                              .seqlen_k = p[4],
                              .head_dim = p[5],
                              .mask = p[6] ? MASK_CAUSAL_BOTTOM_RIGHT : MASK_NONE};
        struct cut c = {p[7], p[8], p[9], p[10], p[11], 0, 0};
        estimate(&a, chip_at(p[12]), &c);
        us[i] = c.us;
    }
}
