/* columns: chosen values of records as plain columns, for gnuplot, `column -t` or a spreadsheet.
 *
 *   columns [--strict] FILE [PATH=VALUE ...] -- PATH [PATH ...]
 *   columns records/runs/h200-stage-5.jsonl sweep=depth -- pipeline.group cycles.median
 *
 * A PATH names a value by its keys, joined by dots; counters.NAME is the value of that counter,
 * kernels.NAME.registers that of a kernel. Only records that have all the VALUEs are printed,
 * in the order of the file; a value that is not there is "-", blanks in text become "_".
 * A damaged line of the file is named and left out; --strict makes that status 5.
 * Exit status: 0 printed; 2 bad usage; 5 the file cannot be read or stdout has failed. */
#include "common/base/heap.h"
#include "common/base/path.h"
#include "common/base/reason.h"
#include "common/harness/record.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The value of the object with this name, of n letters, in an array
 * of counters or gates; of kernels, the object. */
static const json_t *named(const json_t *array, const char *name, size_t n) {
    const json_t *one;
    size_t i;
    json_array_foreach(array, i, one) {
        const json_t *is = json_object_get(one, "name"), *value = json_object_get(one, "value");
        if (json_string_length(is) == n && !memcmp(json_string_value(is), name, n))
            return value ? value : one;
    }
    return NULL;
}

/* What lies at path[0 .. length - 1], as text that heap_take() made; "-" if there is nothing. */
static char *text_at(const json_t *record, const char *path, size_t length) {
    const json_t *v = record;
    char number[32] = "-";
    for (const char *end = path + length; v && path < end;) {
        const char *dot = memchr(path, '.', (size_t)(end - path));
        size_t n = (size_t)((dot ? dot : end) - path);
        v = json_is_array(v) ? named(v, path, n) : json_object_getn(v, path, n);
        path += n + 1;
    }
    if (json_is_integer(v))
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(v));
    else if (json_is_number(v))
        snprintf(number, sizeof number, "%.6g", json_number_value(v));
    else if (json_is_boolean(v))
        snprintf(number, sizeof number, "%d", json_is_true(v));
    char *text = heap_text(json_is_string(v) ? json_string_value(v) : number);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c <= ' ') *c = '_';
    return text;
}

static bool wanted(const json_t *record, char **filter, int n) {
    bool all = true;
    for (int i = 0; all && i < n; i++) {
        size_t length = strcspn(filter[i], "=");
        char *text = text_at(record, filter[i], length);
        all = !strcmp(text, filter[i] + length + 1);
        free(text);
    }
    return all;
}

int main(int argc, char **argv) {
    bool strict = argc > 1 && !strcmp(argv[1], "--strict");
    if (strict) argc--, argv++;
    int split = 2;
    while (split < argc && strcmp(argv[split], "--") && strchr(argv[split], '=')) split++;
    if (split + 1 >= argc || strcmp(argv[split], "--")) {
        fprintf(stderr, "columns: give [--strict] FILE [PATH=VALUE ...] -- PATH [PATH ...]\n");
        return 2;
    }
    json_t *records, *record;
    int n_cut;
    size_t i;
    const char *why = record_read(argv[1], &records, &n_cut);
    if (why) {
        fprintf(stderr, "columns: %s\n", why);
        return (int)reason_status(why, STATUS_FILE);
    }
    fputs("#", stdout);
    for (int c = split + 1; c < argc; c++) printf(" %s", argv[c]);
    fputc('\n', stdout);
    json_array_foreach(records, i, record) {
        if (!wanted(record, argv + 2, split - 2)) continue;
        for (int c = split + 1; c < argc; c++) {
            char *text = text_at(record, argv[c], strlen(argv[c]));
            printf(c == split + 1 ? "%s" : " %s", text);
            free(text);
        }
        fputc('\n', stdout);
    }
    json_decref(records);
    if ((why = path_stdout())) fprintf(stderr, "columns: %s\n", why);
    return why               ? (int)reason_status(why, STATUS_FILE)
           : strict && n_cut ? STATUS_FILE
                             : STATUS_RIGHT;
}
