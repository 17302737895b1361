#include "without.h"

#include "common/base/heap.h"
#include "exec.h"
#include "listing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Waits and fences. Arrivals that do not wait are kept, or other warps would wait forever. */
static bool waits(const struct sass_kernel *k, int i) {
    switch (k->inst[i].op) {
    case SASS_OP_SYNCS:
        return strstr(k->text[i], "PHASECHK");
    case SASS_OP_BAR:
    case SASS_OP_UCGABAR_WAIT:
    case SASS_OP_DEPBAR:
    case SASS_OP_WARPGROUP:
    case SASS_OP_MEMBAR:
    case SASS_OP_FENCE:
    case SASS_OP_ERRBAR:
    case SASS_OP_ACQBULK:
        return true;
    default:
        return false;
    }
}

/* The lines in the file of the outermost frame, outermost first. */
static void place_of(const struct sass_origin *o, char out[SASS_PLACE_BYTES]) {
    size_t n = 0;
    *out = 0;
    for (int f = o->n_frames - 1; f >= 0 && n < SASS_PLACE_BYTES; f--)
        if (o->frame[f].file && !strcmp(o->frame[f].file, o->frame[o->n_frames - 1].file))
            n += (size_t)snprintf(out + n, SASS_PLACE_BYTES - n, "%s%d", n ? ">" : "",
                                  o->frame[f].line);
}

/* The mnemonic and its first modifier, once each. */
static void add_what(const char *text, char what[SASS_PLACE_BYTES]) {
    char name[32];
    if (*text == '@') text += strcspn(text, " ") + 1;
    size_t n = strcspn(text, " "), at = strlen(what), dot = strcspn(text, ".");
    if (dot < n) n = dot + 1 + strcspn(text + dot + 1, ". ");
    snprintf(name, sizeof name, "%.*s", (int)n, text);
    if (!strstr(what, name))
        snprintf(what + at, SASS_PLACE_BYTES - at, "%s%s", at ? ", " : "", name);
}

bool sass_without_place(const struct sass_kernel *k, int n, char place[SASS_PLACE_BYTES],
                        char what[SASS_PLACE_BYTES]) {
    char other[SASS_PLACE_BYTES];
    int first = -1;
    for (int i = 0; i < k->n_inst && first < 0; i++) {
        bool is_new = waits(k, i);
        place_of(&k->origin[i], place);
        for (int before = 0; before < i && is_new; before++) {
            if (!waits(k, before)) continue;
            place_of(&k->origin[before], other);
            is_new = strcmp(other, place);
        }
        if (is_new && *place && n-- == 0) first = i;
    }
    *what = 0;
    for (int i = first; i >= 0 && i < k->n_inst; i++) {
        place_of(&k->origin[i], other);
        if (waits(k, i) && !strcmp(other, place)) add_what(k->text[i], what);
    }
    return first >= 0;
}

/* A wait that was left out always succeeds. */
static enum sass_go succeed(struct sass_warp *w, const struct sass_exec *x, uint32_t mask) {
    sass_write_pred(w, x->pd, mask, EMU_FULL);
    return SASS_GO_NEXT;
}

int sass_without(const struct sass_kernel *k, const char *place) {
    const struct sass_code *code = sass_code(k);
    char here[SASS_PLACE_BYTES];
    int n = 0;
    for (int i = 0; i < k->n_inst; i++) {
        place_of(&k->origin[i], here);
        if (!waits(k, i) || strcmp(here, place)) continue;
        struct sass_inst *inst = code->exec[i].inst;
        const char **text = (const char **)(uintptr_t)&k->text[i];
        code->exec[i].run = inst->op == SASS_OP_SYNCS ? succeed : sass_nop;
        free((void *)(uintptr_t)*text);
        *text = heap_text("NOP"); /* the predictor reads it */
        inst->op = SASS_OP_NOP;
        inst->pipe = SASS_PIPE_NONE;
        n++;
    }
    return n;
}
