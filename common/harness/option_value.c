#include "option_value.h"

#include "input.h"
#include "common/base/reason.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *option_int(const char *option, const char *text, long min, long max, int *out) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < min || value > max)
        return reason_as(STATUS_USAGE, "--%s takes a whole number from %ld to %ld, not '%.64s'",
                         option, min, max, text);
    *out = (int)value;
    return NULL;
}

const char *option_real(const char *option, const char *text, double min, double max, double *out) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= min && value <= max))
        return reason_as(STATUS_USAGE, "--%s takes a number from %g to %g, not '%.64s'", option,
                         min, max, text);
    *out = value;
    return NULL;
}

/* Index of `text` among NULL-terminated words, or -1. */
static int word_index(const char *const *words, const char *text) {
    for (int i = 0; words[i]; i++)
        if (!strcmp(words[i], text)) return i;
    return -1;
}

const char *option_device(const char *text, enum device_kind *out) {
    static const char *const words[] = {"auto", "cuda", "emu", NULL};
    int i = word_index(words, text);
    if (i < 0)
        return reason_as(STATUS_USAGE, "--device takes auto, cuda or emu, not '%.64s'", text);
    *out = (enum device_kind)i;
    return NULL;
}

const char *option_causal(const char *text, enum mask *out) {
    static const char *const words[] = {"bottom-right", "top-left", NULL};
    int i = text ? word_index(words, text) : 0;
    if (i < 0)
        return reason_as(STATUS_USAGE, "--causal takes bottom-right or top-left, not '%.64s'",
                         text);
    *out = i ? MASK_CAUSAL_TOP_LEFT : MASK_CAUSAL_BOTTOM_RIGHT;
    return NULL;
}

const char *option_dtype(const char *text, enum dtype *out) {
    static const char *const words[] = {"fp16", "bf16", NULL};
    int i = word_index(words, text);
    if (i < 0) return reason_as(STATUS_USAGE, "--dtype takes fp16 or bf16, not '%.64s'", text);
    *out = i ? DTYPE_BF16 : DTYPE_FP16;
    return NULL;
}

const char *option_image(const char *text, const char **out) {
    const char *name_characters = "abcdefghijklmnopqrstuvwxyz0123456789-";
    if (!*text || strlen(text) > 40 || strspn(text, name_characters) != strlen(text))
        return reason_as(STATUS_USAGE,
                         "--image takes a name from the stage's file images, not '%.64s'", text);
    *out = text;
    return NULL;
}

const char *option_l2(const char *text, bool *cold) {
    static const char *const words[] = {"warm", "cold", NULL};
    int i = word_index(words, text);
    if (i < 0) return reason_as(STATUS_USAGE, "--l2 takes warm or cold, not '%.64s'", text);
    *cold = i == 1;
    return NULL;
}

const char *option_schedule(const char *text, enum emu_schedule *out) {
    static const char *const words[] = {"round-robin", "random", "adversarial", NULL};
    int i = word_index(words, text);
    if (i < 0)
        return reason_as(STATUS_USAGE,
                         "--schedule takes round-robin, random or adversarial, not '%.64s'", text);
    *out = (enum emu_schedule)i;
    return NULL;
}

const char *option_watch(const char *text, struct emu_options *e) {
    static const char prefix[] = "shared:";
    char *end;
    e->watch_shared = !strncmp(text, prefix, sizeof prefix - 1);
    const char *digits = e->watch_shared ? text + sizeof prefix - 1 : text;
    errno = 0;
    e->watch = strtoull(digits, &end, 0);
    if (end == digits || *end || errno || strchr(digits, '-'))
        return reason_as(STATUS_USAGE, "--watch takes an address or shared:ADDRESS, not '%.64s'",
                         text);
    return NULL;
}

const char *option_seed(const char *text, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(text, &end, 0);
    if (end == text || *end || errno || strchr(text, '-'))
        return reason_as(STATUS_USAGE, "--seed takes a whole number below 2^64, not '%.64s'", text);
    return NULL;
}

const char *option_chip(const char *text, const char **out) {
    if (!chip_find(text))
        return reason_as(STATUS_USAGE,
                         "--chip takes h200, h100, l4, rtx4090, a100 or the NAME of a "
                         "chips/NAME.txt, not '%.64s'",
                         text);
    *out = text;
    return NULL;
}

const char *option_input(const char *text, const char **out) {
    if (!input_is_name(text))
        return reason_as(STATUS_USAGE, "--input knows no '%.64s' (--help lists the names)", text);
    *out = text;
    return NULL;
}
