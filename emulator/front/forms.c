/* Which instructions there are: an opcode as written -> its line of a form table. ptxas takes
 * modifiers in almost any order ("fma.f32.rn.ftz", "ld.nc.global.f32"); handlers find them in the
 * order of the table. */
#include "form_lists.h"
#include "parser.h"

#include "emulator/instructions/handlers.h"

#include <string.h>

static const struct emu_form forms[] = {
#define FORM(pattern, operands, class, handler)    {pattern, operands, class, handler, NULL},
#define SELECT(pattern, operands, class, selector) {pattern, operands, class, NULL, selector},
#include "forms_scalar.def"
#include "forms_tensor.def"
#undef FORM
#undef SELECT
};

/* Does the pattern up to `end` match the text up to `stop`? (a|b) is one of, {a|b} one of or
 * none. */
static bool matches(const char *pattern, const char *end, const char *text, const char *stop) {
    for (; pattern < end; pattern++, text++) {
        if (*pattern == '(' || *pattern == '{') {
            const char *close = strchr(pattern, *pattern == '(' ? ')' : '}');
            if (*pattern == '{' && matches(close + 1, end, text, stop)) return true;
            for (const char *a = pattern + 1; a < close;) {
                const char *next = a;
                while (*next != '|' && next < close) next++;
                size_t n = (size_t)(next - a);
                if (n <= (size_t)(stop - text) && !memcmp(a, text, n) &&
                    matches(close + 1, end, text + n, stop))
                    return true;
                a = next + 1;
            }
            return false;
        }
        if (text == stop || *pattern != *text) return false;
    }
    return text == stop;
}

/* Letters up to the first dot: enough to skip most of the table. */
static bool same_head(const char *pattern, const char *text) {
    for (; *pattern && *pattern != '.' && *pattern != '{' && *pattern != '('; pattern++, text++)
        if (*pattern != *text) return false;
    return true;
}

/* ---- Modifiers in another order -------------------------------------------------------------- */

enum { MAX_WORDS = 24 };

struct words { /* of an opcode: what stands between its dots */
    const char *at[MAX_WORDS];
    size_t length[MAX_WORDS];
    int n, order[MAX_WORDS], n_placed; /* in the table's order */
    uint32_t placed;
};

/* "{.a|.b}", or ".text" up to the next dot or brace that is in no parentheses. */
static const char *slot_end(const char *at) {
    if (*at == '{') return strchr(at, '}') + 1;
    int depth = 0;
    for (++at; *at && (depth || (*at != '.' && *at != '{')); at++)
        depth += (*at == '(') - (*at == ')');
    return at;
}

static bool fits(const char *slot, const char *end, const struct words *w, int k) {
    const char *word = w->at[k], *stop = word + w->length[k];
    if (*slot != '{') return matches(slot + 1, end, word, stop);
    for (const char *a = slot + 1; a < end; a += strcspn(a, "|}") + 1)
        if (strcspn(a, "|}") == (size_t)(stop - word) + 1 && !memcmp(a + 1, word, stop - word))
            return true;
    return false;
}

/* Gives each slot of the pattern a word; slots that take the same words, such as two types, get
 * them in the order of the text. */
static bool arrange(const char *pattern, struct words *w) {
    if (!*pattern) return w->n_placed == w->n;
    const char *end = slot_end(pattern);
    for (int k = 1; k < w->n; k++) {
        if (w->placed >> k & 1 || !fits(pattern, end, w, k)) continue;
        w->order[w->n_placed++] = k;
        w->placed |= 1u << k;
        if (arrange(end, w)) return true;
        w->placed &= ~(1u << k);
        w->n_placed--;
    }
    return *pattern == '{' && arrange(end, w);
}

static bool split(const char *opcode, struct words *w) {
    *w = (struct words){.n_placed = 1, .placed = 1};
    for (const char *at = opcode;; at++) {
        if (w->n == MAX_WORDS) return false;
        size_t n = strcspn(at, ".");
        w->at[w->n] = at;
        w->length[w->n++] = n;
        at += n;
        if (!*at) return true;
    }
}

static const char *head_end(const char *pattern) {
    int depth = 0;
    for (; *pattern && (depth || (*pattern != '.' && *pattern != '{')); pattern++)
        depth += (*pattern == '(') - (*pattern == ')');
    return pattern;
}

/* The opcode with its words as they were placed. */
static const char *in_order(struct parser *p, const char *opcode, const struct words *w) {
    char *out = ptx_alloc(p, strlen(opcode) + 1), *at = out;
    for (int k = 0; k < w->n; k++) {
        if (k) *at++ = '.';
        memcpy(at, w->at[w->order[k]], w->length[w->order[k]]);
        at += w->length[w->order[k]];
    }
    return out;
}

const struct emu_form *ptx_form(struct parser *p, const char **opcode) {
    enum { N = sizeof forms / sizeof *forms };
    const char *stop = *opcode + strlen(*opcode);
    for (size_t i = 0; i < N; i++)
        if (same_head(forms[i].pattern, *opcode) &&
            matches(forms[i].pattern, strchr(forms[i].pattern, 0), *opcode, stop))
            return &forms[i];
    struct words w;
    for (size_t i = 0; i < N; i++) {
        const char *pattern = forms[i].pattern, *head = head_end(pattern);
        if (!same_head(pattern, *opcode) || !split(*opcode, &w)) continue;
        if (!matches(pattern, head, w.at[0], w.at[0] + w.length[0]) || !arrange(head, &w)) continue;
        *opcode = in_order(p, *opcode, &w);
        return &forms[i];
    }
    return NULL;
}
