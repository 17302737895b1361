#include "table.h"
#include "heap.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void table_append(struct table *t, const char *const *cells) {
    size_t n = (size_t)t->n_rows * t->n_columns;
    t->cell = heap_grown(t->cell, (n + t->n_columns) * sizeof *t->cell);
    for (int c = 0; c < t->n_columns; c++) t->cell[n + c] = heap_text(cells[c] ? cells[c] : "");
    t->n_rows++;
}

void table_open(struct table *t, int n_columns, const char *const *heading) {
    *t = (struct table){.n_columns = n_columns};
    table_append(t, heading);
}

void table_row(struct table *t, const char *const *cells) { table_append(t, cells); }

void table_close(struct table *t) {
    for (int i = 0; i < t->n_rows * t->n_columns; i++) free(t->cell[i]);
    free(t->cell);
    *t = (struct table){0};
}

/* The last column of a row that holds something; 0 for an empty row. */
static int last_filled(const struct table *t, int row) {
    int c = t->n_columns - 1;
    while (c > 0 && !*t->cell[row * t->n_columns + c]) c--;
    return c;
}

int table_print(const struct table *t, FILE *f) {
    int width[TABLE_MAX_COLUMNS] = {0};
    for (int r = 0; r < t->n_rows; r++)
        for (int c = 0; c < last_filled(t, r); c++) {
            int n = (int)strlen(t->cell[r * t->n_columns + c]);
            if (n > width[c]) width[c] = n;
        }
    for (int r = 0; r < t->n_rows; r++) {
        int last = last_filled(t, r);
        for (int c = 0; c <= last; c++) {
            int n = 0;
            for (const char *p = t->cell[r * t->n_columns + c]; *p; p++, n++)
                fputc(iscntrl((unsigned char)*p) ? '?' : *p, f);
            fprintf(f, "%*s", c == last ? 0 : width[c] - n + 2, "");
        }
        fputc('\n', f);
    }
    return ferror(f) ? -1 : 0;
}

static bool is_number(const char *text) {
    char *end;
    strtod(text, &end);
    return end != text && !*end;
}

static void print_field(const char *text, FILE *f) {
    bool formula = *text && (strchr("=+-@", *text) || iscntrl((unsigned char)*text));
    bool quote = strpbrk(text, ",\"\r\n") != NULL;
    if (quote) fputc('"', f);
    if (formula && !is_number(text)) fputc('\'', f);
    for (const char *p = text; *p; p++) {
        if (*p == '"') fputc('"', f);
        fputc(*p, f);
    }
    if (quote) fputc('"', f);
}

int table_print_csv(const struct table *t, FILE *f) {
    for (int r = 0; r < t->n_rows; r++)
        for (int c = 0; c < t->n_columns; c++) {
            print_field(t->cell[r * t->n_columns + c], f);
            fputc(c + 1 < t->n_columns ? ',' : '\n', f);
        }
    return ferror(f) ? -1 : 0;
}
