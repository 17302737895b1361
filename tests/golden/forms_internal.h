/* Shared by forms*.c only. */
#pragma once

#include "forms.h"

enum { GOLDEN_MAX_FORMS = 512, GOLDEN_SMEM = 48 * 1024 };

struct golden_text {
    char *at;
    size_t n;
};

uint64_t golden_next(uint64_t *state);
uint64_t golden_seed(const struct golden_form *f, int c);
uint32_t golden_draw(uint64_t *state, char kind, int flavour);
void golden_emit(struct golden_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void golden_head(struct golden_text *t, const struct golden_form *f);

/* forms_wgmma.c, forms_tma.c */
void golden_ptx_wgmma(struct golden_text *t, const struct golden_form *f);
void golden_operands_wgmma(const struct golden_form *f, int c, void *in);
void golden_ptx_tma(struct golden_text *t, const struct golden_form *f);
void golden_operands_tma(const struct golden_form *f, int c, void *in);
int golden_list_wgmma(struct golden_form *out);
int golden_list_tma(struct golden_form *out);

/* forms_cluster.c */
int golden_list_cluster(struct golden_form *out);

/* forms_mma.c, forms_bulk.c */
int golden_list_mma(struct golden_form *out);
int golden_list_bulk(struct golden_form *out);

/* forms_op.c */
int golden_list_ops(struct golden_form *out);

/* forms_list.c: the next form after `at`, of registers; texts are copied. */
struct golden_form *golden_add(struct golden_form *at, const char *name, const char *kinds,
                               int n_out, int n_cases, const char *body);
/* Fills `out`, returns how many. */
int golden_list(struct golden_form *out);
