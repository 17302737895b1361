/* What a recorded H200 took for one stage on one problem: the newest line of records/runs/h200.jsonl. */
#pragma once

#include <stdbool.h>

struct beside {
    double cycles;     /* of one launch alone (CUPTI); 0: not recorded */
    double us;         /* of launches back to back, the median; 0: not recorded */
    bool is_same;      /* the kernel by its hash */
    char revision[24]; /* of the source then */
};

/* `problem` as attention_describe() says it, normal inputs; `hash`: kernel_hash(), or "". False: there is
 * no such line, or no such file. */
bool beside_find(const char *stage, const char *problem, const char *hash, struct beside *out);
