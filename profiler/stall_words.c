#include "stall_words.h"

#include <stddef.h>
#include <string.h>

static const struct {
    const char *name, *words;
} all[] = {
    {"selected", "issue"},
    {"not_selected", "are ready while another issues"},
    {"wait", "wait for their own last result"},
    {"long_scoreboard", "wait for data from global memory"},
    {"short_scoreboard", "wait for shared memory or MUFU"},
    {"math_pipe", "wait for a pipe that is taken"},
    {"mio", "wait for room in the queue to shared memory"},
    {"lg", "wait for room in the queue to global memory"},
    {"barrier", "wait at a barrier or for their WGMMA"},
    {"gmma", "wait for their warpgroup before a WGMMA"},
    {"branch", "wait for a branch to find its target"},
    {"dispatch", "are held back by register ports"},
    {"no_instruction", "wait for the instruction cache"},
    {"membar", "wait at a memory fence"},
    {"sleeping", "sleep"},
    {"imc", "wait for a constant"},
    {"drain", "wait at their end for their last stores"},
};

const char *stall_words(const char *name) {
    if (!strncmp(name, "stall_", 6)) name += 6;
    const char *throttle = strstr(name, "_throttle");
    const size_t n = throttle ? (size_t)(throttle - name) : strlen(name);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strlen(all[i].name) == n && !memcmp(all[i].name, name, n)) return all[i].words;
    return name;
}
