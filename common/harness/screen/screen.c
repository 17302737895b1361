#include "screen.h"

#include "meter.h"

#include <ctype.h>
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    INDENT = 15,
    LEAST_COLUMNS = 40,
    NARROW = 50,
    WIDE = 80,
    NARROW_BAR = 2,
    BAR = 8,
    WIDE_BAR = 20,
    PCT = 9
};

/* ---- What the stream can show -------------------------------------------------------------------- */

static bool is_utf8(void) {
    locale_t l = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    const bool yes = l && !strcmp(nl_langinfo_l(CODESET, l), "UTF-8");
    if (l) freelocale(l);
    return yes;
}

static int columns_of(FILE *f) {
    const char *given = getenv("COLUMNS");
    struct winsize size = {0};
    int n = given ? atoi(given) : 0;
    if (n < 1 && isatty(fileno(f)) && !ioctl(fileno(f), TIOCGWINSZ, &size)) n = size.ws_col;
    if (n < 1 || n > SCREEN_COLUMNS) return SCREEN_COLUMNS;
    return n < LEAST_COLUMNS ? LEAST_COLUMNS : n;
}

static bool has_colour(FILE *f) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fileno(f)) && !(no && *no) && term && *term && strcmp(term, "dumb");
}

void screen_open(struct screen *s, FILE *f) {
    *s = (struct screen){.columns = columns_of(f), .blocks = is_utf8(), .colour = has_colour(f)};
}

/* ---- Paragraphs ------------------------------------------------------------------------------------ */

/* What a terminal would take for a command, or cannot show, becomes a question mark. */
static void plain(char *text) {
    for (; *text; text++)
        if (iscntrl((unsigned char)*text) || (unsigned char)*text > 126) *text = '?';
}

/* The next one; it continues a gap. A bug (too many) ends in the last one's place. */
static struct screen_part *next(struct screen *s, const char *label, const char *format,
                                va_list args) {
    struct screen_part *p = &s->part[s->n < SCREEN_PARTS ? s->n++ : SCREEN_PARTS - 1];
    p->pct = NAN;
    p->rank = 0;
    snprintf(p->label, sizeof p->label, "%s", label);
    vsnprintf(p->text, sizeof p->text, format, args);
    plain(p->text);
    return p;
}

void screen_title(struct screen *s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    next(s, "", format, args);
    va_end(args);
}

void screen_say(struct screen *s, int rank, enum screen_tone tone, const char *label,
                const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct screen_part *p = next(s, label, format, args);
    va_end(args);
    p->rank = rank;
    p->tone = tone;
}

void screen_meter(struct screen *s, enum screen_tone tone, const char *label, double pct,
                  const char *format, ...) {
    va_list args;
    va_start(args, format);
    struct screen_part *p = next(s, label, format, args);
    va_end(args);
    p->pct = pct;
    p->tone = tone;
}

void screen_gap(struct screen *s) {
    if (s->n < SCREEN_PARTS) s->part[s->n].apart = s->n > 0;
}

/* ---- Lines ------------------------------------------------------------------------------------------- */

/* How much of `text` fits into `width` columns, cut between words where there is a blank. */
static int fitting(const char *text, int width) {
    int n = (int)strlen(text), cut = width;
    if (n <= width) return n;
    while (cut > 0 && text[cut] != ' ') cut--;
    return cut > 0 ? cut : width;
}

static const char *start_of(const char *text) { return text + strspn(text, " "); }

static bool is_title(const struct screen_part *p) { return !*p->label; }

static int bar_of(const struct screen *s) {
    return s->columns < NARROW ? NARROW_BAR : s->columns < WIDE ? BAR : WIDE_BAR;
}

/* Where its text begins. */
static int indent_of(const struct screen *s, const struct screen_part *p) {
    if (is_title(p)) return 0;
    return INDENT + (isnan(p->pct) ? 0 : bar_of(s) + PCT);
}

static int lines_of(const struct screen *s, const struct screen_part *p) {
    const int width = s->columns - indent_of(s, p);
    int n = 0;
    const char *text = p->text;
    do {
        text = start_of(text + fitting(text, width));
        n++;
    } while (*text);
    return n + p->apart;
}

static int lines_of_all(const struct screen *s) {
    int lines = 1; /* the empty one behind it */
    for (int i = 0; i < s->n; i++) lines += lines_of(s, &s->part[i]);
    return lines;
}

/* Leaves out what matters least until the rest fits: empty lines, then parts by their rank. */
static void fit(struct screen *s) {
    for (int i = 0; i < s->n && lines_of_all(s) > SCREEN_LINES; i++) s->part[i].apart = false;
    while (lines_of_all(s) > SCREEN_LINES) {
        int least = 0;
        for (int i = 0; i < s->n; i++)
            if (s->part[i].rank > s->part[least].rank) least = i;
        if (!s->n || !s->part[least].rank) return;
        memmove(&s->part[least], &s->part[least + 1], (size_t)(s->n - least - 1) * sizeof *s->part);
        s->n--;
    }
}

static void tone_begin(const struct screen *s, const char *code, FILE *f) {
    if (s->colour && *code) fprintf(f, "\033[%sm", code);
}

static void tone_end(const struct screen *s, const char *code, FILE *f) {
    if (s->colour && *code) fputs("\033[0m", f);
}

static void put(const struct screen *s, const char *code, const char *text, int n, FILE *f) {
    tone_begin(s, code, f);
    fwrite(text, 1, (size_t)n, f);
    tone_end(s, code, f);
}

static void print_part(const struct screen *s, const struct screen_part *p, FILE *f) {
    static const char *const codes[] = {
        [SCREEN_PLAIN] = "", [SCREEN_GOOD] = "1;32", [SCREEN_BAD] = "1;31", [SCREEN_WARN] = "33"};
    const int indent = indent_of(s, p), width = s->columns - indent;
    const char *text = p->text;
    char bar[METER_BYTES];
    if (p->apart) fputc('\n', f);
    if (!is_title(p)) {
        put(s, "1", p->label, (int)strlen(p->label), f);
        fprintf(f, "%*s", INDENT - (int)strlen(p->label), "");
    }
    if (!isnan(p->pct)) {
        meter(p->pct, bar_of(s), s->blocks, bar);
        put(s, *codes[p->tone] ? codes[p->tone] : "36", bar, (int)strlen(bar), f);
        fprintf(f, " %5.1f %% ", p->pct);
    }
    for (bool first = true; first || *text; first = false) {
        int n = fitting(text, width);
        int word = first && isnan(p->pct) ? (int)strcspn(text, " .,:") : 0;
        if (word > n) word = n;
        if (!first) fprintf(f, "%*s", indent, "");
        put(s, is_title(p) ? "1" : codes[p->tone], text, is_title(p) ? n : word, f);
        if (!is_title(p)) fwrite(text + word, 1, (size_t)(n - word), f);
        fputc('\n', f);
        text = start_of(text + n);
    }
}

void screen_print(struct screen *s, FILE *f) {
    fit(s);
    for (int i = 0; i < s->n; i++) print_part(s, &s->part[i], f);
    fputc('\n', f);
}

/* ---- Words ---------------------------------------------------------------------------------------------- */

const char *screen_short(const char *name, int most, char out[128]) {
    const int n = (int)strlen(name), half = (most - 3) / 2;
    if (n <= most)
        snprintf(out, 128, "%s", name);
    else
        snprintf(out, 128, "%.*s...%s", most - 3 - half, name, name + n - half);
    return out;
}

const char *screen_count(double x, char out[32]) {
    char digits[32];
    const int n = snprintf(digits, sizeof digits, "%.0f", x);
    char *to = out;
    for (int i = 0; i < n && to < out + 30; i++) {
        if (i && (n - i) % 3 == 0 && digits[i - 1] != '-') *to++ = ',';
        *to++ = digits[i];
    }
    *to = 0;
    return out;
}
