/* columns: chosen values of records as plain columns, for gnuplot, `column -t` or a spreadsheet.
 *
 *   columns FILE [PATH=VALUE ...] -- PATH [PATH ...]
 *   columns plots/recorded/h200-stage-5.jsonl sweep=depth -- pipeline.group cycles.median
 *
 * A PATH names a value by its keys, joined by dots; counters.NAME is the value of that counter,
 * kernels.NAME.registers that of a kernel. Only records that have all the VALUEs are printed,
 * in the order of the file; a value that is not there is "-", blanks in text become "_".
 * Exit status: 0 printed; 2 bad usage; 5 the file cannot be read or stdout has failed. */
#include "common/base/path.h"
#include "common/base/reason.h"
#include "common/harness/record.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* The value of the object with this name in an array
 * of counters or gates; of kernels, the object. */
static const json_t *named(const json_t *array, const char *name) {
    const json_t *one;
    size_t i;
    json_array_foreach(array, i, one) {
        const char *n = json_string_value(json_object_get(one, "name"));
        const json_t *value = json_object_get(one, "value");
        if (n && !strcmp(n, name)) return value ? value : one;
    }
    return NULL;
}

/* The value as text; "-" if there is none. */
static void value_text(const json_t *record, const char *path, char *out, size_t out_bytes) {
    const json_t *v = record;
    char key[64];
    while (v && *path) {
        size_t n = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)(n < sizeof key ? n : sizeof key - 1), path);
        v = json_is_array(v) ? named(v, key) : json_object_get(v, key);
        path += n + (path[n] == '.');
    }
    if (json_is_string(v))
        snprintf(out, out_bytes, "%s", json_string_value(v));
    else if (json_is_integer(v))
        snprintf(out, out_bytes, "%lld", (long long)json_integer_value(v));
    else if (json_is_number(v))
        snprintf(out, out_bytes, "%.6g", json_number_value(v));
    else if (json_is_boolean(v))
        snprintf(out, out_bytes, "%d", json_is_true(v));
    else
        snprintf(out, out_bytes, "-");
    for (char *c = out; *c; c++)
        if ((unsigned char)*c <= ' ') *c = '_';
}

static bool wanted(const json_t *record, char **filter, int n) {
    for (int i = 0; i < n; i++) {
        char path[128], text[256];
        size_t length = strcspn(filter[i], "=");
        snprintf(path, sizeof path, "%.*s", (int)length, filter[i]);
        value_text(record, path, text, sizeof text);
        if (strcmp(text, filter[i] + length + 1)) return false;
    }
    return true;
}

int main(int argc, char **argv) {
    int split = 2;
    while (split < argc && strcmp(argv[split], "--") && strchr(argv[split], '=')) split++;
    if (split + 1 >= argc || strcmp(argv[split], "--")) {
        fprintf(stderr, "columns: give FILE [PATH=VALUE ...] -- PATH [PATH ...]\n");
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
        char text[256];
        if (!wanted(record, argv + 2, split - 2)) continue;
        for (int c = split + 1; c < argc; c++) {
            value_text(record, argv[c], text, sizeof text);
            printf(c == split + 1 ? "%s" : " %s", text);
        }
        fputc('\n', stdout);
    }
    json_decref(records);
    if ((why = path_stdout())) fprintf(stderr, "columns: %s\n", why);
    return why ? (int)reason_status(why, STATUS_FILE) : 0;
}
