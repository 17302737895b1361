/* build/trial-N: draws cases, runs a kernel on one, judges what it left (trial.h); looks for a GPU. */
#include "trial.h"

#include "common/base/heap.h"
#include "common/base/path.h"
#include "common/base/reason.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *trial_case(const char *path, const char *index, json_t **out) {
    json_error_t error;
    json_t *all = json_load_file(path, 0, &error);
    if (!all) return reason_as(STATUS_FILE, "%s: %s", path, error.text);
    *out = json_incref(json_array_get(all, (size_t)atoi(index)));
    json_decref(all);
    return *out ? NULL : reason_as(STATUS_USAGE, "%s has no case %s", path, index);
}

int trial_int(const json_t *t, const char *name) {
    return (int)json_integer_value(json_object_get(t, name));
}

const char *trial_text(const json_t *t, const char *name) {
    const char *text = json_string_value(json_object_get(t, name));
    return text ? text : "";
}

uint64_t trial_seed(const json_t *t) {
    return (uint64_t)json_integer_value(json_object_get(t, "seed"));
}

const char *trial_put(const char *folder, const char *name, const void *data, size_t bytes) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.bin", folder, name);
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(data, 1, bytes, f) == bytes;
    if (f && fclose(f)) ok = false;
    return ok ? NULL : reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
}

const char *trial_get(const char *folder, const char *name, void *data, size_t bytes) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.bin", folder, name);
    size_t size = 0;
    char *text = path_read(path, &size);
    if (!text) return reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
    if (size == bytes) memcpy(data, text, bytes);
    free(text);
    return size == bytes
               ? NULL
               : reason_as(STATUS_FILE, "%s has %zu bytes, %zu are right", path, size, bytes);
}

/* Ends well if there is a GPU that `run --device cuda` would take. */
static const char *trial_gpu(void) {
    struct device *d = NULL;
    const char *why = device_open(DEVICE_CUDA, NULL, &d);
    if (!why) device_close(d);
    return why;
}

int main(int argc, char **argv) {
    const char *why = NULL, *what = argc > 1 ? argv[1] : "";
    json_set_alloc_funcs(heap_take,
                         free); /* a case or a count that is dropped would be another grade */
    if (!strcmp(what, "draw"))
        why = trial_draw(argc - 2, argv + 2);
    else if (!strcmp(what, "run"))
        why = trial_run(argc - 2, argv + 2);
    else if (!strcmp(what, "judge"))
        why = trial_judge(argc - 2, argv + 2);
    else if (!strcmp(what, "facts"))
        why = trial_facts(argc - 2, argv + 2);
    else if (!strcmp(what, "gpu"))
        why = trial_gpu();
    else
        why = reason_as(STATUS_USAGE,
                        "draw, run, judge, facts or gpu: see notebooks/course/grade/README.md");
    if (why) fprintf(stderr, "%s: %s\n", program_invocation_short_name, why);
    return why ? (int)reason_status(why, STATUS_DEVICE) : 0;
}
