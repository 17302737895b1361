/* What was counted: a value with its name, unit and source, or the reason why there is none. */
#pragma once

enum counter_source { SOURCE_CUPTI, SOURCE_EVENT, SOURCE_EMULATOR, SOURCE_MODEL, SOURCE_PTXAS };

struct counter {
    char group[16], name[48], unit[16];
    char metric[128];    /* its origin: a CUPTI metric, or a formula */
    char validated[192]; /* of a predicted value: the chip, and the error of its predictions */
    char note[192];      /* not "": why the formula's first choice was not available */
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
