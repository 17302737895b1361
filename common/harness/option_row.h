/* Tables of command-line options: --help is printed from them, and the line is read by them.
 *
 *   static const struct option_row rows[] = {
 *       {"n", "N", "columns of C (64)", OPTION_INT(struct experiment, n, 8, 256)},
 *       {"sweep", NULL, "measure everything", OPTION_SWITCH(struct experiment, sweep, true)},
 *       {"a", "FROM", "smem (default) or regs", .read = read_a},
 *       {0},
 *   }; */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct option_row {
    const char *name, *value; /* value NULL: a switch; "=X": an optional value */
    const char *help;         /* its lines */
    enum { OPTION_READ, OPTION_IS_INT, OPTION_IS_TEXT, OPTION_IS_SWITCH } kind;
    size_t at;     /* of the field, in the table's struct */
    long min, max; /* a switch: what it sets is in min */

    /* OPTION_READ: reads the value (NULL: an optional one was left out) into the table's struct.
     * NULL, or a reason (STATUS_USAGE) that names the option and the value. */
    const char *(*read)(const char *value, void *into);

    unsigned seen; /* bits that say it was there: options_complete() */
};
#define OPTION_AT(type, field) .at = offsetof(type, field)
#define OPTION_INT(type, field, low, high)                                                         \
    .kind = OPTION_IS_INT, OPTION_AT(type, field), .min = low, .max = high
#define OPTION_TEXT(type, field)       .kind = OPTION_IS_TEXT, OPTION_AT(type, field)
#define OPTION_SWITCH(type, field, to) .kind = OPTION_IS_SWITCH, OPTION_AT(type, field), .min = to

struct option_table {
    const struct option_row *rows; /* up to one without a name */
    void *into;                    /* the struct that they are read into */
};

/* Reads a line by n tables. NULL, or a reason (STATUS_USAGE). */
const char *option_tables_read(const struct option_table *tables, int n, int argc, char **argv,
                               unsigned *seen);
void option_rows_help(FILE *f, const struct option_row *rows);
