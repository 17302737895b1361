#include "groups_folder.h"

#include "common/base/program.h"
#include "common/base/path.h"
#include "common/base/reason.h"
#include "common/base/heap.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FILE_BYTES = 64 << 10 };

/* $ATTNLAB_GROUPS, or profiler/groups in the program's folder or the nearest above it. */
static const char *find_folder(char *out, size_t out_bytes) {
    const char *chosen = getenv("ATTNLAB_GROUPS");
    if (chosen && *chosen) {
        snprintf(out, out_bytes, "%s", chosen);
        return NULL;
    }
    if (program_find("profiler/groups", out, out_bytes)) return NULL;
    return "the counter groups are not found (profiler/groups at or above the program's folder): "
           "set ATTNLAB_GROUPS to their folder";
}

static int is_group_file(const struct dirent *entry) {
    size_t n = strlen(entry->d_name);
    return n > 4 && *entry->d_name != '.' && !strcmp(entry->d_name + n - 4, ".txt");
}

static const char *read_text(const char *path, char *text, size_t *bytes) {
    FILE *f = path_open(path);
    if (!f) return reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
    *bytes = fread(text, 1, MAX_FILE_BYTES, f);
    bool failed = ferror(f), whole = fgetc(f) == EOF;
    fclose(f);
    if (failed) return reason_as(STATUS_FILE, "%s cannot be read", path);
    if (!whole) return reason("%s is longer than %d bytes: no counter group", path, MAX_FILE_BYTES);
    return NULL;
}

static bool is_group_name(const char *name) {
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return n > 0 && !name[n];
}

const char *group_read(const char *name, struct group *out) {
    char folder[PATH_MAX], path[PATH_MAX + 64], known[256];
    const char *why = find_folder(folder, sizeof folder);
    if (why) return why;
    snprintf(path, sizeof path, "%s/%.32s.txt", folder, name);
    if (!is_group_name(name) || (access(path, F_OK) && errno == ENOENT))
        return reason_as(STATUS_USAGE, "there is no counter group %.40s; there are %s (%s)", name,
                         groups_list(", ", known, sizeof known), folder);
    char *text = heap_take(MAX_FILE_BYTES);
    size_t bytes = 0;
    why = read_text(path, text, &bytes);
    if (!why) why = group_parse(text, bytes, path, out);
    if (!why && strcmp(out->name, name))
        why = reason("%s: the group is named %s, its file must be %s.txt", path, out->name,
                     out->name);
    free(text);
    return why;
}

const char *groups_list(const char *separator, char *out, size_t out_bytes) {
    char folder[PATH_MAX];
    struct dirent **entry;
    *out = 0;
    if (find_folder(folder, sizeof folder)) return out;
    int n = scandir(folder, &entry, is_group_file, alphasort);
    if (n < 0 && errno == ENOMEM) heap_exhausted();
    for (int i = 0; i < n; i++) {
        size_t at = strlen(out);
        snprintf(out + at, out_bytes - at, "%s%.*s", at ? separator : "",
                 (int)strlen(entry[i]->d_name) - 4, entry[i]->d_name);
        free(entry[i]);
    }
    if (n >= 0) free(entry);
    return out;
}

static void print_group(const struct group *g, FILE *f) {
    fprintf(f, "%s: %s\n\n", g->name, g->question);
    for (int i = 0; i < g->n; i++) {
        const struct group_value *v = &g->value[i];
        fprintf(f, "  %-24s %-6s %s\n", v->name, v->unit, v->meaning);
        for (int k = 0; k < v->n_origins; k++) {
            const struct group_origin *o = &v->origin[k];
            if (*o->formula)
                fprintf(f, "  %24s   %s: %s\n", "", o->places, o->formula);
            else
                fprintf(f, "  %24s   %s: n/a (%s)\n", "", o->places, o->reason);
        }
    }
    fprintf(f, "\n%s\n\n", g->manual);
}

const char *groups_print(FILE *f) {
    char names[256];
    struct group *g = heap_take(sizeof *g);
    const char *why = NULL;
    groups_list(",", names, sizeof names);
    if (!*names && !(why = find_folder(names, sizeof names)))
        why = reason_as(STATUS_FILE, "no counter group can be read from %s", names);
    for (char *save, *name = strtok_r(names, ",", &save); name && !why;
         name = strtok_r(NULL, ",", &save)) {
        why = group_read(name, g);
        if (!why) print_group(g, f);
    }
    free(g);
    return why;
}
