/* What an experiment is called, which image has it, and the mistakes that it may make. */
#include "experiment.h"

#include <string.h>

#define ENTRY(name, text) {name, text},
static const struct { const char *name, *text; } mistakes[] = {MISTAKES(ENTRY)};
enum { N_MISTAKES = sizeof mistakes / sizeof mistakes[0] };

const char *mistake_text(const char *name) {
    for (int i = 0; i < N_MISTAKES; i++)
        if (!strcmp(mistakes[i].name, name)) return mistakes[i].text;
    return NULL;
}

bool experiment_makes(const struct experiment *e, const char *mistake) {
    return e->mistake && !strcmp(e->mistake, mistake);
}

const char *experiment_image(const struct experiment *e, char out[48]) {
    bool in_compiler = experiment_makes(e, "missing-fence") || experiment_makes(e, "missing-wait");
    snprintf(out, 48, "n%d%s%s", e->n, in_compiler ? "-" : "", in_compiler ? e->mistake : "");
    return out;
}

const char *experiment_text(const struct experiment *e, char out[96]) {
    snprintf(out, 96, "m64n%dk16 x%d, A %s %s-major, B %s-major, swizzle %d", e->n, e->k_steps,
             e->a_in_registers ? "regs" : "smem", e->a_m_major ? "M" : "K",
             e->b_n_major ? "N" : "K", e->swizzle);
    return out;
}

json_t *experiment_json(const struct experiment *e) {
    char text[96];
    return json_pack("{ss,si,si,ss,ss,ss,si,ss,sI}", "text", experiment_text(e, text), "n", e->n,
                     "k_steps", e->k_steps, "a", e->a_in_registers ? "regs" : "smem", "major_a",
                     e->a_m_major ? "m" : "k", "major_b", e->b_n_major ? "n" : "k", "swizzle",
                     e->swizzle, "input", e->input, "seed", (json_int_t)e->seed);
}
