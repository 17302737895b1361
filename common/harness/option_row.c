#include "option_row.h"

#include "option_value.h"
#include "common/base/reason.h"

#include <getopt.h>
#include <string.h>

enum { MAX_OPTIONS = 100, FIRST_CODE = 256 };

void option_rows_help(FILE *f, const struct option_row *rows) {
    for (const struct option_row *r = rows; r->name; r++) {
        char left[40];
        const char *value = r->value ? r->value : "";
        snprintf(left, sizeof left, "--%s%s%s%s", r->name,
                 *value == '=' ? "["
                 : *value      ? " "
                               : "",
                 value, *value == '=' ? "]" : "");
        const char *line = r->help;
        for (int first = 1; line; first = 0) {
            int bytes = (int)strcspn(line, "\n");
            fprintf(f, "  %-20s %.*s\n", first ? left : "", bytes, line);
            line = line[bytes] ? line + bytes + 1 : NULL;
        }
    }
}

static const char *read_one(const struct option_row *r, const char *value, void *into) {
    void *at = (char *)into + r->at;
    switch (r->kind) {
    case OPTION_IS_INT:
        return option_int(r->name, value, r->min, r->max, at);
    case OPTION_IS_TEXT:
        *(const char **)at = value;
        return NULL;
    case OPTION_IS_SWITCH:
        *(bool *)at = r->min != 0;
        return NULL;
    default:
        return r->read(value, into);
    }
}

const char *option_tables_read(const struct option_table *tables, int n, int argc, char **argv,
                               unsigned *seen) {
    struct option longs[MAX_OPTIONS + 1] = {0};
    const struct option_row *rows[MAX_OPTIONS];
    void *into[MAX_OPTIONS];
    int code, n_rows = 0;
    /* an option without its value, and the word behind it */
    const char *optional = NULL, *apart = NULL;
    for (const struct option_table *t = tables; t < tables + n; t++)
        for (const struct option_row *r = t->rows; r->name && n_rows < MAX_OPTIONS; r++) {
            int has_value = !r->value          ? no_argument
                            : *r->value == '=' ? optional_argument
                                               : required_argument;
            longs[n_rows] = (struct option){r->name, has_value, NULL, FIRST_CODE + n_rows};
            rows[n_rows] = r;
            into[n_rows++] = t->into;
        }
    optind = 0; /* start over: tests read several lines */
    while ((code = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
        const char *word = argv[optind > 0 ? optind - 1 : 0];
        if (code == ':')
            return reason_as(STATUS_USAGE, "%.64s needs a value; %.64s --help lists all options",
                             word, argv[0]);
        if (code == '?')
            return reason_as(STATUS_USAGE, "no option %.64s; %.64s --help lists all", word,
                             argv[0]);
        *seen |= rows[code - FIRST_CODE]->seen;
        if (longs[code - FIRST_CODE].has_arg == optional_argument && !optarg)
            optional = longs[code - FIRST_CODE].name, apart = argv[optind];
        const char *why = read_one(rows[code - FIRST_CODE], optarg, into[code - FIRST_CODE]);
        if (why) return why;
    }
    if (optind < argc && argv[optind] == apart)
        return reason_as(STATUS_USAGE,
                         "'%.64s' is no option; join a value of --%s by =: --%s=%.64s", apart,
                         optional, optional, apart);
    if (optind < argc)
        return reason_as(STATUS_USAGE, "'%.64s' is no option; %.64s --help lists all", argv[optind],
                         argv[0]);
    return NULL;
}
