/* What one product prints without --all and --csv. */
#include "product.h"
#include "common/harness/stage.h"
#include "common/harness/screen/summary.h"

static void screen_time(struct screen *s, const struct product *r) {
    const struct chip *chip = &device_info(r->device)->chip;
    if (r->verdict.n_wrong) {
        screen_say(s, 0, SCREEN_PLAIN, "time", "Not taken: the answer is wrong.");
    } else if (r->apart.n) {
        screen_say(s, 0, SCREEN_PLAIN, "time",
                   "Measured %.1f cycles a WGMMA alone, %.2f in a steady stream; the model says "
                   "%.2f.",
                   r->alone.median, r->apart.median, model_cycles(r->experiment));
        screen_say(s, 0, SCREEN_PLAIN, "rate", "%.1f TFLOPS, measured on all %d SMs.", r->tflops,
                   chip->n_sms);
    } else {
        screen_say(s, 0, SCREEN_PLAIN, "time", "Not taken: %s.",
                   *r->no_time ? r->no_time : "--no-time");
    }
}

/* Of the product one screen (screen.h): it has no next stage, no gates and nothing beside it. */
void product_screen(const struct product *r) {
    const struct device_info *d = device_info(r->device);
    const struct verdict *v = &r->verdict;
    struct screen s;
    char text[96];
    screen_open(&s, stdout);
    screen_title(&s, "stage %s: %s", stage.name, experiment_text(r->experiment, text));
    if (d->is_emulator)
        screen_say(&s, 0, SCREEN_PLAIN, "device", "The emulator stands for one %s.", d->chip.board);
    else
        screen_say(&s, 0, SCREEN_PLAIN, "device", "%s, driver %s, CUDA %s.", d->name, d->driver,
                   d->toolkit);
    screen_gap(&s);
    if (v->n_wrong)
        screen_say(&s, 0, SCREEN_BAD, "verdict", "WRONG: %d of %d elements are beyond the bound.",
                   v->n_wrong, v->n_elements);
    else
        screen_say(&s, 0, SCREEN_GOOD, "verdict",
                   "RIGHT: of %d elements the worst has %.0f %% of the error that the tensor "
                   "cores' bound allows.",
                   v->n_elements, 100 * v->worst_of_bound);
    screen_time(&s, r);
    screen_gap(&s);
    summary_meters(&s, &r->counters, &d->chip);
    summary_kind(&s, &r->counters, &d->chip, "tensor pipe");
    summary_stalls(&s, &r->counters);
    screen_gap(&s);
    summary_missing(&s, &r->counters, "--all");
    screen_say(&s, 5, SCREEN_PLAIN, "more",
               "make stage-5 run ARGS=--explain: the descriptors. ARGS=--all: every value.");
    screen_print(&s, stdout);
}
