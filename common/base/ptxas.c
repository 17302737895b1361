#include "ptxas.h"

#include "path.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ptxas -v says "Compiling entry function 'attention' for 'sm_90a'", later "Used 64 registers,
 * ...". */
int ptxas_registers(const char *path, const char *kernel) {
    FILE *f = path_open(path);
    if (!f) return errno == ENOENT ? -1 : -2;
    char line[1024], name[256];
    bool inside = false;
    int registers = -1;
    while (registers < 0 && fgets(line, sizeof line, f)) {
        const char *entry = strstr(line, "entry function '"), *used = strstr(line, "Used ");
        if (entry && sscanf(entry, "entry function '%255[^']'", name) == 1)
            inside = !strcmp(name, kernel);
        if (inside && used) sscanf(used, "Used %d registers", &registers);
    }
    if (ferror(f)) registers = -2;
    fclose(f);
    return registers;
}
