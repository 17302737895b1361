/* Cache file, named by a hash of the cubin; tabs between the fields of a line:
 *
 *   function  name       instructions
 *   @!P0      IADD3.X    R1,R2,R3,RZ,P0,!PT   104   common/cuda/ptx.cuh:99|stages/1-scalar/kernel.cu:104
 *
 * A cubin that was compiled again has another hash. Written beside its place and renamed, so that
 * it is whole or not there. */
#include "listing.h"

#include "common/base/heap.h"
#include "common/base/path.h"
#include "common/base/reason.h"
#include "common/base/toolkit.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 3 };

/* ---- nvdisasm -------------------------------------------------------------------------------- */

static const char *start(const char *program, const char *options, const char *path, FILE **out) {
    char command[3 * PATH_MAX];
    if (strchr(program, '\'') || strchr(path, '\''))
        return reason_as(STATUS_FILE, "%s: a path with a quote", path);
    snprintf(command, sizeof command, "'%s' %s '%s'", program, options, path);
    *out = popen(command, "r");
    return *out ? NULL : reason_as(STATUS_DEVICE, "%s: %s", program, strerror(errno));
}

static const char *text_of(json_t *object, const char *key) {
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

/* "R6,[R20]": CUDA 13.0's has no comma there. */
static void write_operands(const char *s, FILE *all) {
    size_t name = s[0] == 'R' ? (s[1] == 'Z' ? 2 : 1 + strspn(s + 1, "0123456789")) : 0;
    bool joined = name > 1 && s[name] == '[';
    fprintf(all, "%.*s%s%s\n", (int)name, s, joined ? "," : "", s + name);
}

/* From the JSON to `all`: the cache's text without lines. CUDA 13.0's lists the subroutines at the end of
 * a kernel's section as functions of their own, which do not start at 0. */
static const char *functions(json_t *root, FILE *all) {
    json_t *list = json_array_get(root, 1), *f, *i;
    size_t nf, ni;
    if (!json_is_array(list)) return "nvdisasm's JSON has another schema";
    json_array_foreach(list, nf, f) {
        json_t *code = json_object_get(f, "sass-instructions");
        if (!json_is_array(code)) return "nvdisasm's JSON has another schema";
        if (!nf || !json_integer_value(json_object_get(f, "start"))) {
            size_t n = json_array_size(code), next = nf + 1;
            json_t *part;
            while ((part = json_array_get(list, next++)) &&
                   json_integer_value(json_object_get(part, "start")) == (json_int_t)(16 * n))
                n += json_array_size(json_object_get(part, "sass-instructions"));
            fprintf(all, "function\t%s\t%zu\n", text_of(f, "function-name"), n);
        }
        json_array_foreach(code, ni, i) {
            fprintf(all, "%s\t%s\t", text_of(i, "predicate"), text_of(i, "opcode"));
            write_operands(text_of(i, "operands"), all);
        }
    }
    return NULL;
}

/* ---- Lines ----------------------------------------------------------------------------------- */

struct listing_place {
    char chain[2048]; /* "a.h:1|b.cu:2" */
    int n_frames;
    int kernel_line;
    bool in_kernel; /* kernel_line has been found */
};

/* //## File "a.h", line 1 inlined at "b.cu", line 2: the first of a block is the innermost, the
 * last the outermost. kernel_line is of the innermost that lies in a .cu file. */
static void read_place(const char *s, struct listing_place *p, bool first) {
    const char *quote = strchr(s, '"'), *end = quote ? strchr(quote + 1, '"') : NULL;
    const char *line = end ? strstr(end, "line ") : NULL;
    if (!line) return;
    if (first) *p = (struct listing_place){0};
    size_t n = strlen(p->chain);
    if (p->n_frames == SASS_FRAMES) /* the outermost takes the place of the last */
        n = (size_t)(strrchr(p->chain, '|') - p->chain), p->n_frames--;
    int more = snprintf(p->chain + n, sizeof p->chain - n, "%s%.*s:%d", n ? "|" : "",
                        (int)(end - quote - 1), quote + 1, atoi(line + 5));
    if (more >= (int)(sizeof p->chain - n))
        p->chain[n] = 0;
    else
        p->n_frames++;
    if (p->in_kernel) return;
    p->in_kernel = end - quote > 3 && !memcmp(end - 3, ".cu", 3);
    p->kernel_line = atoi(line + 5);
}

/* Calls for each instruction of the text, in order of functions; the text's functions come in
 * another order than the JSON's, so they go by name. */
struct lines {
    char function[256];
    int n;
    struct listing_place *place;
};

static struct lines *read_lines(FILE *text, int *n_functions) {
    struct lines *all = NULL, *now = NULL;
    struct listing_place place = {0};
    char *s = NULL;
    size_t capacity = 0;
    int n = 0;
    bool in_block = false;
    while (getline(&s, &capacity, text) > 0) {
        const char *head = s + strspn(s, " \t");
        const char *section = strncmp(head, ".section", 8) ? NULL : strstr(head, ".text.");
        unsigned pc;
        if (section) {
            all = heap_grown(all, (size_t)++n * sizeof *all);
            now = &all[n - 1];
            memset(now, 0, sizeof *now);
            snprintf(now->function, sizeof now->function, "%.*s", (int)strcspn(section + 6, ",\n"),
                     section + 6);
            memset(&place, 0, sizeof place);
        } else if (!strncmp(head, "//## File", 9)) {
            read_place(head, &place, !in_block);
            in_block = true;
        } else if (now && sscanf(head, "/*%x*/", &pc) == 1) {
            now->place = heap_grown(now->place, (size_t)(now->n + 1) * sizeof place);
            now->place[now->n++] = place;
            in_block = false;
        }
    }
    free(s);
    *n_functions = n;
    return all;
}

/* ---- Building and reading the cache's text --------------------------------------------------- */

static bool split_line(char **text, char *field[5], int *n) {
    char *s = *text, *end = strchr(s, '\n');
    if (!end) return false;
    *end = 0;
    *text = end + 1;
    for (*n = 0; *n < 5; s = end + 1) {
        field[(*n)++] = s;
        end = strchr(s, '\t');
        if (!end) return true;
        *end = 0;
    }
    return true;
}

static void read_frames(char *chain, struct sass_line *l) {
    while (*chain && l->n_frames < SASS_FRAMES) {
        char *end = chain + strcspn(chain, "|"), *next = *end ? end + 1 : end;
        *end = 0;
        char *colon = strrchr(chain, ':');
        if (!colon) return;
        *colon = 0;
        l->frame[l->n_frames++] = (struct sass_frame){chain, atoi(colon + 1)};
        chain = next;
    }
}

/* Takes over `text`, which may lack the lines' fields. */
static const char *parse(char *text, struct sass_listing *out) {
    char *field[5], *at = text;
    int n;
    out->text = text;
    while (split_line(&at, field, &n)) {
        if (n != 3 || strcmp(field[0], "function")) return "the cache is damaged";
        struct sass_function *f =
            heap_grown(out->function, (size_t)(out->n + 1) * sizeof *out->function);
        out->function = f;
        f = &out->function[out->n++];
        *f = (struct sass_function){.name = field[1], .n = atoi(field[2])};
        if (f->n < 0 || (size_t)f->n > strlen(at)) return f->n = 0, "the cache is damaged";
        f->line = heap_zeroed((size_t)f->n + 1, sizeof *f->line);
        for (int i = 0; i < f->n; i++) {
            if (!split_line(&at, field, &n) || (n != 3 && n != 5)) return "the cache is damaged";
            f->line[i] =
                (struct sass_line){.guard = field[0], .opcode = field[1], .operands = field[2]};
            if (n == 3) continue;
            f->line[i].kernel_line = atoi(field[3]);
            read_frames(field[4], &f->line[i]);
        }
    }
    return NULL;
}

static const char *disassemble(const char *cubin_path, char **out) {
    char program[PATH_MAX], *bare = NULL;
    FILE *pipe, *memory = NULL;
    size_t bytes;
    struct sass_listing l = {0};
    json_error_t error;
    const char *why = toolkit_find("nvdisasm", program, sizeof program);
    if (!why) why = start(program, "-json", cubin_path, &pipe);
    if (why) return why;
    json_t *root = json_loadf(pipe, 0, &error);
    if (pclose(pipe) || !root) {
        json_decref(root);
        return reason_as(STATUS_DEVICE, "%s does not take %s", program, cubin_path);
    }
    memory = open_memstream(&bare, &bytes);
    if (!memory) heap_exhausted();
    why = functions(root, memory);
    if (fclose(memory)) heap_exhausted();
    json_decref(root);
    if (!why) why = parse(bare, &l);
    if (!why) why = start(program, "-c -gi", cubin_path, &pipe);
    if (why) {
        sass_listing_close(&l);
        return why;
    }
    int n_lines = 0;
    struct lines *lines = read_lines(pipe, &n_lines);
    if (pclose(pipe)) { /* kept, such a listing would never have lines */
        for (int g = 0; g < n_lines; g++) free(lines[g].place);
        free(lines);
        sass_listing_close(&l);
        return reason_as(STATUS_DEVICE, "%s -gi does not take %s", program, cubin_path);
    }
    memory = open_memstream(out, &bytes);
    if (!memory) heap_exhausted();
    for (int f = 0; f < l.n; f++) {
        const struct lines *of = NULL;
        for (int g = 0; g < n_lines; g++)
            if (!strcmp(lines[g].function, l.function[f].name)) of = &lines[g];
        if (of && of->n != l.function[f].n) of = NULL;
        fprintf(memory, "function\t%s\t%d\n", l.function[f].name, l.function[f].n);
        for (int i = 0; i < l.function[f].n; i++) {
            const struct sass_line *s = &l.function[f].line[i];
            fprintf(memory, "%s\t%s\t%s\t%d\t%s\n", s->guard, s->opcode, s->operands,
                    of ? of->place[i].kernel_line : 0, of ? of->place[i].chain : "");
        }
    }
    if (fclose(memory)) heap_exhausted();
    for (int g = 0; g < n_lines; g++) free(lines[g].place);
    free(lines);
    sass_listing_close(&l);
    return NULL;
}

static uint64_t hash(const unsigned char *p, size_t n) { /* FNV-1a */
    uint64_t h = 0xcbf29ce484222325;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 0x100000001b3;
    return h;
}

/* The listing in the cache; false if there is none, or it is damaged. */
static bool read_cached(const char *path, struct sass_listing *out) {
    size_t n;
    char *text = path_read(path, &n);
    if (!text) return false;
    if (n && !parse(text, out)) return true;
    if (!out->text) free(text);
    sass_listing_close(out);
    return false;
}

/* Nothing, if it cannot be written. */
static void write_cached(const char *folder, const char *path, const char *text) {
    char part[PATH_MAX + 32];
    snprintf(part, sizeof part, "%s.%d", path, (int)getpid());
    mkdir(folder, 0777);
    FILE *f = fopen(part, "w");
    bool ok = f && fputs(text, f) >= 0;
    if (f && fclose(f)) ok = false;
    if (!ok || rename(part, path)) unlink(part);
}

const char *sass_listing_open(const char *cubin_path, const void *cubin, size_t bytes,
                              const char *cache_dir, struct sass_listing *out) {
    char cached[PATH_MAX] = "", *text = NULL;
    memset(out, 0, sizeof *out);
    if (cache_dir) {
        snprintf(cached, sizeof cached, "%s/%016llx-%zu.v%d", cache_dir,
                 (unsigned long long)hash(cubin, bytes), bytes, VERSION);
        if (read_cached(cached, out)) return NULL;
    }
    const char *why = disassemble(cubin_path, &text);
    if (why) return why;
    if (cache_dir) write_cached(cache_dir, cached, text);
    why = parse(text, out);
    if (why) sass_listing_close(out);
    return why ? reason_as(STATUS_FILE, "%s: %s", cached, why) : NULL;
}

void sass_listing_close(struct sass_listing *l) {
    for (int f = 0; f < l->n; f++) free(l->function[f].line);
    free(l->function);
    free(l->text);
    memset(l, 0, sizeof *l);
}
