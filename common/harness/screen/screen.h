/* One screen of text for people: paragraphs behind labels, folded to the width of the terminal, and
 * meters. Where it would be longer than SCREEN_LINES, what matters least is left out.
 *
 *   screen_open - screen_title, screen_say, screen_meter ... - screen_print
 *
 *   verdict        RIGHT, 2.5 times below the limit: ...
 *   tensor pipe    ##------------------  12.9 % of an SM's busy cycles, HMMA.
 *
 * In a pipe there is no colour. Meters are block characters where the locale is UTF-8, else ASCII. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

enum { SCREEN_LINES = 28, SCREEN_COLUMNS = 100, SCREEN_PARTS = 24, SCREEN_TEXT = 1024 };

enum screen_tone { SCREEN_PLAIN, SCREEN_GOOD, SCREEN_BAD, SCREEN_WARN };

/* One paragraph. */
struct screen_part {
    char label[16];
    char text[SCREEN_TEXT];
    int rank;              /* 0: it stays; of the others the largest is left out first */
    enum screen_tone tone; /* of the first word; of a meter its bar */
    double pct;            /* of a meter; NaN: it is none */
    bool apart;            /* behind an empty line */
};

struct screen {
    int columns;
    bool blocks, colour;
    int n;
    struct screen_part part[SCREEN_PARTS];
};

/* For this stream, by its kind and by COLUMNS, NO_COLOR, TERM and the locale. */
void screen_open(struct screen *s, FILE *f);

/* A paragraph across the whole width, in bold. */
void screen_title(struct screen *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void screen_say(struct screen *s, int rank, enum screen_tone tone, const char *label,
                const char *format, ...) __attribute__((format(printf, 5, 6)));
/* pct of 100, and a sentence about it. */
void screen_meter(struct screen *s, enum screen_tone tone, const char *label, double pct,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));
/* What comes next stands behind an empty line. */
void screen_gap(struct screen *s);

/* All of it. */
void screen_print(struct screen *s, FILE *f);

/* A name of at most `most` bytes, shortened in its middle: "cutlass::Kernel...Sm90TmaWarp". Returns out. */
const char *screen_short(const char *name, int most, char out[128]);
/* A whole number with its thousands apart: "26,982". Returns out. */
const char *screen_count(double x, char out[32]);
