/* --without LINE[:TEXT]: the kernel runs as if the barriers, waits and fences of this source
 * line were not there (with TEXT: those whose opcode contains it; A>B: those of line B where
 * line A calls it). What goes wrong then is what they are for. --without list prints all of them
 * with how often they ran; the tests delete each in turn. */
#include "without.h"

#include "emulator/instructions/lanes.h"
#include "common/base/reason.h"
#include "common/base/heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool synchronises(const struct emu_inst *i) {
    return i->class == EMU_BARRIER || i->class == EMU_MBARRIER || i->class == EMU_FENCE ||
           emu_has(i, "wait_group") || emu_has(i, "wait_all") || emu_has(i, "commit_group") ||
           emu_has(i, "wait"); /* griddepcontrol.wait */
}

/* The lines in the kernel's file, outermost first: "511>308>77". */
static const char *chain(const struct emu_origin *o, char *out, size_t bytes) {
    size_t n = 0;
    *out = 0;
    for (int f = o->n_frames - 1; f >= 0 && n < bytes; f--)
        if (emu_in_kernel(o, f))
            n += (size_t)snprintf(out + n, bytes - n, "%s%d", n ? ">" : "", o->frame[f].line);
    return out;
}

/* what: LINES[:TEXT] */
static bool meant(const struct emu_inst *i, const struct emu_origin *o, const char *what) {
    char lines[128], here[128];
    size_t n = strcspn(what, ":");
    if (!synchronises(i) || n >= sizeof lines) return false;
    memcpy(lines, what, n);
    lines[n] = 0;
    if (what[n] && !strstr(i->opcode, what + n + 1)) return false;
    return strchr(lines, '>') ? !strcmp(chain(o, here, sizeof here), lines)
                              : emu_on_line(o, atoi(lines));
}

static enum emu_step skip(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    (void)w, (void)i, (void)mask;
    return EMU_NEXT;
}

/* A wait that is not there has always succeeded. */
static enum emu_step succeed(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    write_pred(w, i->row[0], mask, EMU_FULL);
    return EMU_NEXT;
}

const char *emu_without(const struct emu_kernel *k, const char *what, struct emu_kernel *out,
                        int *n) {
    *n = 0;
    *out = *k;
    if (!strcmp(what, "list")) return NULL;
    if (*what < '1' || *what > '9')
        return reason_as(STATUS_USAGE, "--without takes LINE, LINE:TEXT or list, not '%.64s'",
                         what);
    size_t bytes = (size_t)k->n_inst * sizeof *k->inst;
    out->inst = heap_line(bytes);
    memcpy(out->inst, k->inst, bytes);
    for (int pc = 0; pc < k->n_inst; pc++) {
        struct emu_inst *i = &out->inst[pc];
        if (!meant(i, &k->origin[pc], what)) continue;
        i->run = emu_has(i, "try_wait") || emu_has(i, "test_wait") ? succeed : skip;
        ++*n;
    }
    return NULL;
}

/* A run launches a kernel several times: to check, to time, to count. */
static bool was_listed(const struct emu_kernel *k) {
    static struct {
        char name[128];
        int n_inst;
    } listed[64];
    static int n;
    for (int i = 0; i < n && i < 64; i++)
        if (listed[i].n_inst == k->n_inst && !strncmp(listed[i].name, k->name, 127)) return true;
    snprintf(listed[n % 64].name, sizeof listed->name, "%s", k->name);
    listed[n++ % 64].n_inst = k->n_inst;
    return false;
}

void emu_without_list(const struct emu_kernel *k, const struct emu_count *count) {
    char here[128], there[128];
    if (was_listed(k)) return;
    for (int pc = 0; pc < k->n_inst; pc++) {
        uint64_t executed = 0;
        bool first = synchronises(&k->inst[pc]);
        chain(&k->origin[pc], here, sizeof here);
        for (int other = 0; first && other < k->n_inst; other++) {
            if (strcmp(k->inst[other].opcode, k->inst[pc].opcode) ||
                strcmp(chain(&k->origin[other], there, sizeof there), here))
                continue;
            if (other < pc) first = false;
            executed += count[other].executed;
        }
        if (first) printf("%s:%s %llu\n", here, k->inst[pc].opcode, (unsigned long long)executed);
    }
}
