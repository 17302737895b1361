#include "record.h"

#include "common/base/heap.h"
#include "common/base/path.h"
#include "common/base/reason.h"
#include "common/base/revision.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char lost[64]; /* the first field of this record that could not be made; "" if none */

void record_set(json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) && !*lost) snprintf(lost, sizeof lost, "%s", key);
}

void record_add(json_t *array, json_t *value) {
    if (json_array_append_new(array, value) && !*lost) snprintf(lost, sizeof lost, "%s", "a list");
}

json_t *record_new(int argc, char **argv) {
    char now[32], command[1024] = "";
    json_set_alloc_funcs(heap_take, free); /* no field is dropped for want of memory */
    *lost = 0;
    time_t t = time(NULL);
    struct tm utc;
    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&t, &utc));
    size_t used = 0;
    for (int i = 0; i < argc && used < sizeof command; i++)
        used +=
            (size_t)snprintf(command + used, sizeof command - used, "%s%s", i ? " " : "", argv[i]);
    /* jansson refuses what is not UTF-8 by returning NULL: the command is left out then */
    json_t *record =
        json_pack("{s:s, s:s, s:s}", "schema", RECORD_SCHEMA, "time", now, "revision", revision());
    json_t *line = json_string(command);
    if (line) record_set(record, "command", line);
    return record;
}

json_t *record_device(const struct device_info *info, int clock_mhz_before, int clock_mhz_after) {
    json_t *device =
        json_pack("{s:s, s:s, s:s, s:s}", "kind", info->is_emulator ? "emulator" : "cuda", "name",
                  info->name, "chip", info->chip.family, "toolkit", info->toolkit);
    if (*info->driver) record_set(device, "driver", json_string(info->driver));
    if (*info->uuid) {
        const char *visible = getenv("CUDA_VISIBLE_DEVICES");
        record_set(device, "uuid", json_string(info->uuid));
        if (info->is_slice) record_set(device, "mig", json_true());
        if (visible && *visible) record_set(device, "visible", json_string(visible));
        if (info->n_others >= 0)
            record_set(device, "other_processes", json_integer(info->n_others));
    }
    if (clock_mhz_before) {
        record_set(device, "clock_mhz_before", json_integer(clock_mhz_before));
        record_set(device, "clock_mhz_after", json_integer(clock_mhz_after));
    }
    return device;
}

/* All bytes, or -1 with errno. */
static int write_all(int fd, const char *text, size_t bytes) {
    while (bytes) {
        ssize_t n = write(fd, text, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        text += n;
        bytes -= (size_t)n;
    }
    return 0;
}

/* A file that a kill left without its last newline: the cut line stays alone on its line. */
static int ends_in_cut_line(int fd, off_t size) {
    char last = '\n';
    return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

const char *record_append(const char *path, json_t *record) {
    const char *why = NULL;
    if (*lost)
        return reason("%s: \"%s\" of this record cannot be written as JSON; nothing was added",
                      path, lost);
    char *line = json_dumps(record, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9));
    if (!line) return reason("%s: this record cannot be written as JSON", path);
    struct stat before;
    bool is_pipe = !stat(path, &before) && S_ISFIFO(before.st_mode); /* it must have a reader */
    int fd = open(path, (is_pipe ? O_WRONLY | O_NONBLOCK : O_RDWR) | O_CREAT | O_APPEND | O_CLOEXEC,
                  0666);
    if (fd >= 0 && is_pipe) fcntl(fd, F_SETFL, O_APPEND);
    if (fd < 0) {
        why = reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
        free(line);
        return why;
    }
    size_t bytes = strlen(line);
    line[bytes] = '\n'; /* over the final 0: write_all is told the length */
    if (flock(fd, LOCK_EX) || fstat(fd, &before)) goto failed;
    if (ends_in_cut_line(fd, before.st_size) && write_all(fd, "\n", 1)) goto undo;
    if (write_all(fd, line, bytes + 1)) goto undo;
    if (fsync(fd) && errno != EINVAL && errno != EROFS) goto undo; /* a pipe cannot be synced */
    goto done;
undo:
    why = reason_as(STATUS_FILE, "%s: %s; nothing was added", path, strerror(errno));
    if (ftruncate(fd, before.st_size) && S_ISREG(before.st_mode))
        why = reason_as(STATUS_FILE, "%s: its last line is cut", path);
    goto done;
failed:
    why = reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
done:
    close(fd);
    free(line);
    return why;
}

/* Refuses another major schema; says once that a newer minor one is read as this one. */
static const char *check_schema(const char *path, int line, json_t *record, bool *said) {
    int major, minor;
    const char *schema = json_string_value(json_object_get(record, "schema"));
    if (!schema || sscanf(schema, "attnlab-%d.%d", &major, &minor) != 2)
        return reason_as(STATUS_FILE, "%s:%d: no record of this program (no schema attnlab-N.N)",
                         path, line);
    if (major != RECORD_MAJOR)
        return reason_as(STATUS_FILE, "%s:%d: schema %.32s; this program reads attnlab-%d.*", path,
                         line, schema, RECORD_MAJOR);
    if (minor > RECORD_MINOR && !*said) {
        fprintf(stderr, "%s: %s:%d: schema %.32s is newer than %s; what is unknown is ignored\n",
                program_invocation_short_name, path, line, schema, RECORD_SCHEMA);
        *said = true;
    }
    return NULL;
}

const char *record_read(const char *path, json_t **array, int *n_cut) {
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    const char *why = NULL;
    bool said = false;
    FILE *f = path_open(path);
    *array = NULL;
    *n_cut = 0;
    json_set_alloc_funcs(heap_take, free); /* a record that finds no memory is not a cut one */
    if (!f) return reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
    json_t *all = json_array();
    for (int i = 1; !why && (n = getline(&line, &room, f)) >= 0; i++) {
        json_error_t error;
        if (*line == '\n') continue; /* an empty line */
        json_t *record = json_loadb(line, (size_t)n, JSON_REJECT_DUPLICATES, &error);
        if (!record || !json_is_object(record)) {
            /* a kill cuts the last line; a later append puts it on a line of its own */
            fprintf(stderr,
                    "%s: %s:%d: no whole record, left out (%s); delete the line or record again\n",
                    program_invocation_short_name, path, i, record ? "no JSON object" : error.text);
            *n_cut += 1;
        } else if (!(why = check_schema(path, i, record, &said))) {
            json_array_append(all, record);
        }
        json_decref(record);
    }
    /* getline() that finds no memory returns as at the end of the file */
    if (!why && !feof(f)) why = reason_as(STATUS_FILE, "%s: %s", path, strerror(errno));
    if (!why && *n_cut > 1 && !json_array_size(all))
        why = reason_as(STATUS_FILE, "%s: none of its lines is a record", path);
    fclose(f);
    free(line);
    if (why)
        json_decref(all);
    else
        *array = all;
    return why;
}

json_t *record_real(double x) { return isfinite(x) ? json_real(x) : json_null(); }

json_t *record_counters(const struct counters *c) {
    json_t *all = json_array();
    for (int i = 0; i < c->n; i++) {
        const struct counter *k = &c->counter[i];
        json_t *one = json_pack("{s:s, s:s}", "group", k->group, "name", k->name);
        if (*k->reason) {
            record_set(one, "na", json_string(k->reason));
        } else {
            record_set(one, "value", record_real(k->value));
            record_set(one, "unit", json_string(k->unit));
            record_set(one, "source", json_string(counter_source_name(k->source)));
            record_set(one, "metric", json_string(k->metric));
            if (*k->validated) record_set(one, "validated", json_string(k->validated));
            if (*k->note) record_set(one, "note", json_string(k->note));
        }
        record_add(all, one);
    }
    return all;
}
