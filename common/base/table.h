/* A table of text cells, printed in columns or as CSV.
 *
 *   group  name    value  unit  source  note
 *   time   median  9.12   us    event   n 50, IQR 0.03
 *   time   clock   n/a (the emulator has no clock)   <- with nothing to its right, may overhang */
#pragma once

#include <stdio.h>

enum { TABLE_MAX_COLUMNS = 12 };

struct table {
    int n_columns, n_rows;
    char **cell; /* (n_rows, n_columns), row 0 is the heading */
};

/* One string per column; NULL stands for "". */
void table_open(struct table *t, int n_columns, const char *const *heading);
void table_row(struct table *t, const char *const *cells);
void table_close(struct table *t);

/* 0, or -1 if the stream has failed. Control characters are printed as '?'. */
int table_print(const struct table *t, FILE *f);

/* Fields with commas, quotes or newlines are quoted; a field that starts like a formula (= + -
 * @ or a control character) and is no number gets a leading apostrophe, so that no spreadsheet
 * runs it. */
int table_print_csv(const struct table *t, FILE *f);
