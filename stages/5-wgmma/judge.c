/* What came out: compared with the exact product, and drawn. */
#include "experiment.h"
#include "common/cuda/half.h"

#include <math.h>

/* The exponent of the largest power of two that is not above |x|; very low for 0. */
static int exponent(double x) {
    int e;
    if (x == 0) return -1000;
    frexp(x, &e);
    return e - 1;
}

/* C[row][col], exactly (in double: 16 products of 22 bits fit), and the bound of judge(). */
static double exact(const struct matrices *m, int row, int col, double *bound) {
    int k = m->a_layout.k;
    double sum = 0;
    *bound = 0;
    for (int k0 = 0; k0 < k; k0 += WGMMA_K) {
        int e_max = exponent(sum);
        for (int i = k0; i < k0 + WGMMA_K; i++) {
            double product =
                (double)half_to_float(m->a[row * k + i]) * half_to_float(m->b[col * k + i]);
            if (exponent(product) > e_max) e_max = exponent(product);
            sum += product;
        }
        *bound += ldexp(17, e_max - 25) + ldexp(1, exponent(sum) - 23);
    }
    return sum;
}

void judge(const struct experiment *e, const struct matrices *m, const float *c, bool *is_wrong,
           struct verdict *out) {
    *out = (struct verdict){.n_elements = WGMMA_M * e->n};
    double sum = 0;
    for (int i = 0; i < out->n_elements; i++) {
        double bound, want = exact(m, i / e->n, i % e->n, &bound);
        double error = fabs(c[i] - want);
        if (!(error <= INFINITY)) error = INFINITY; /* NaN */
        is_wrong[i] = !(error <= bound);
        out->n_wrong += is_wrong[i];
        sum += error;
        if (error > out->max_error) out->max_error = error;
        if (error > 0 && error / bound > out->worst_of_bound) out->worst_of_bound = error / bound;
    }
    out->mean_error = sum / out->n_elements;
}

void picture(FILE *f, const struct experiment *e, const bool *is_wrong) {
    fprintf(f,
            "C, 64 rows x %d columns, a character for 2 x 2: . right  + some wrong  # all wrong\n",
            e->n);
    for (int row = 0; row < WGMMA_M; row += 2) {
        fprintf(f, "  %2d ", row);
        for (int col = 0; col < e->n; col += 2) {
            const bool *at = is_wrong + row * e->n + col;
            int n_wrong = at[0] + at[1] + at[e->n] + at[e->n + 1];
            fputc(n_wrong == 4 ? '#' : n_wrong ? '+' : '.', f);
        }
        fputc('\n', f);
    }
}
