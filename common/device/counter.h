/* What was counted: a value with its name, unit and source, or the reason why there is none. */
#pragma once

enum counter_source { SOURCE_CUPTI, SOURCE_EVENT, SOURCE_EMULATOR, SOURCE_MODEL, SOURCE_PTXAS };

struct counter {
    char group[16], name[48], unit[16];
    char metric[128];    /* what it was read from: a CUPTI metric, or a formula */
    char validated[192]; /* of a predicted value: the chip, and how good its predictions were */
    char note[192];      /* not "": why it is not from what its formula names first */
    char reason[256];    /* not "": there is no value, and this is why */
    double value;
    enum counter_source source;
};

struct counters {
    int n;
    struct counter *counter; /* counters_free() */
};

void counters_free(struct counters *c);
/* The one of this name, if it has a value; else NULL. */
const struct counter *counters_find(const struct counters *c, const char *name);
const char *counter_source_name(enum counter_source s);
