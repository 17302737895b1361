/* Kernels that cannot run here: what is not understood in one is noted while the rest of it is
 * read, and said in one sentence when somebody launches it. Other kernels of the module run. */
#include "parser.h"

#include <stdio.h>
#include <string.h>

struct problem {
    struct problem *next;
    const char *text; /* an opcode, or a sentence */
    bool is_form;
    int ptx_line;
    uint32_t line; /* of the source; 0: not known */
    int n;         /* how often */
};

void ptx_note_problem(struct parser *p, const char *text, bool is_form) {
    for (struct problem *o = p->problems; o; o = o->next)
        if (!strcmp(o->text, text)) {
            o->n++;
            return;
        }
    struct problem *new = ptx_alloc(p, sizeof *new);
    char *kept = ptx_alloc(p, strlen(text) + 1);
    uint32_t line = p->n_frames ? (uint32_t)p->frame[p->n_frames - 1].line : 0; /* in the kernel */
    *new = (struct problem){p->problems, strcpy(kept, text), is_form, 0, line, 1};
    new->ptx_line = p->at < p->n_tokens ? p->token[p->at].line : 0;
    p->problems = new;
}

void ptx_unknown(struct parser *p, const char *opcode) {
    ptx_note_problem(p, opcode, true);
    longjmp(*p->failed, 1);
}

/* What to do about a form, by how its opcode begins. */
static const char *remedy(const char *opcode) {
    static const struct {
        const char *head, *text;
    } known[] = {
        {"tcgen05.", "compile for compute_90a"},
        {"clusterlaunchcontrol.", "compile for compute_90a"},
        {"tex.", "read one level, without gradients"},
        {"tld4.", "read the four texels one by one"},
    };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (!strncmp(opcode, known[k].head, strlen(known[k].head))) return known[k].text;
    return "do without, or run this kernel on a GPU";
}

static size_t place(char *out, size_t room, const struct problem *o) {
    char times[24] = "";
    if (o->n > 1) snprintf(times, sizeof times, ", %d times", o->n);
    int n = o->line ? snprintf(out, room, " (line %u, PTX line %d%s)", o->line, o->ptx_line, times)
                    : snprintf(out, room, " (PTX line %d%s)", o->ptx_line, times);
    return (size_t)n < room ? (size_t)n : 0;
}

/* Reports are made of the problems in the order of the text. */
static struct problem *reversed(struct problem *o) {
    struct problem *first = NULL;
    for (struct problem *next; o; o = next) next = o->next, o->next = first, first = o;
    return first;
}

const char *ptx_refusal(struct parser *p) {
    enum { ROOM = 1600, KEPT = 160 }; /* a reason takes 2048 */
    char text[ROOM];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "kernel %.200s of %.80s cannot run here: ", p->kernel->name,
                                p->module->name);
    const char *what = NULL;
    int left = 0;
    bool unknown = false;
    for (struct problem *o = p->problems = reversed(p->problems); o; o = o->next) {
        if (n + KEPT + strlen(o->text) > ROOM) {
            left++;
            continue;
        }
        const char *lead = o->is_form && !unknown ? "the emulator does not know " : "";
        n += (size_t)snprintf(text + n, ROOM - n, "%s%s%s", what ? ", " : "", lead, o->text);
        n += place(text + n, ROOM - n, o);
        if (!what || o->is_form) what = o->is_form ? remedy(o->text) : "run it on a GPU";
        unknown |= o->is_form;
    }
    if (left) n += (size_t)snprintf(text + n, ROOM - n, ", and %d more", left);
    snprintf(text + n, ROOM - n, "; %s", what);
    char *kept = ptx_alloc(p, strlen(text) + 1);
    return strcpy(kept, text);
}
