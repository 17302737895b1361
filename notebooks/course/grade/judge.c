/* judge CASES INDEX OUT: are the outputs out0 and out1 in OUT the answer? Reads no more of what a run
 * left than their bytes. Prints one JSON object. out2, if it is there: what timed launches
 * left, of the inputs of the next seed. */
#include "cases.h"
#include "trial.h"

#include "common/base/reason.h"
#include "common/harness/check.h"
#include "common/harness/inputs.h"
#include "common/harness/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The outputs of two runs against the reference of these inputs. */
static const char *judge(const struct attention *a, const char *input, uint64_t seed,
                         const char *folder, const char *const name[2], struct check_result *out) {
    struct inputs in = {0};
    struct reference reference = {0};
    size_t o_bytes = (attention_o_elements(a) + 2 * CHECK_GUARD) * sizeof(half),
           lse_bytes = (attention_lse_elements(a) + 2 * CHECK_GUARD) * sizeof(float);
    char *run[2] = {malloc(o_bytes + lse_bytes), malloc(o_bytes + lse_bytes)};
    float *lse[2] = {malloc(lse_bytes), malloc(lse_bytes)}; /* aligned */
    const char *why = run[0] && run[1] && lse[0] && lse[1] ? NULL : "out of memory";
    for (int r = 0; r < 2 && !why; r++)
        if (!(why = trial_get(folder, name[r], run[r], o_bytes + lse_bytes)))
            memcpy(lse[r], run[r] + o_bytes, lse_bytes);
    if (!why) why = inputs_make(a, input, seed, &in);
    if (!why)
        why = reference_open(a, in.q + CHECK_GUARD, in.k + CHECK_GUARD, in.v + CHECK_GUARD, 0x1p26,
                             seed, &reference);
    if (!why)
        check_attention(&(struct check_evidence){.problem = a,
                                                 .reference = &reference,
                                                 .run = {{(half *)(void *)run[0], lse[0]},
                                                         {(half *)(void *)run[1], lse[1]}},
                                                 .row_error_limit = stage.row_error_limit,
                                                 .outlier_input = !strcmp(input, "outlier")},
                        out);
    for (int r = 0; r < 2; r++) free(run[r]), free(lse[r]);
    reference_close(&reference);
    inputs_free(&in);
    return why;
}

const char *trial_judge(int argc, char **argv) {
    static const char *const runs[2] = {"out0", "out1"}, *const timed[2] = {"out2", "out2"};
    struct attention a;
    struct check_result result = {0};
    json_t *t = NULL;
    char path[4096];
    if (argc != 3) return reason_as(STATUS_USAGE, "judge CASES INDEX OUT");
    const char *why = trial_case(argv[0], argv[1], &t);
    if (!why) why = case_problem(t, &a);
    if (!why) why = judge(&a, trial_text(t, "input"), trial_seed(t), argv[2], runs, &result);
    snprintf(path, sizeof path, "%s/out2.bin", argv[2]);
    if (!why && result.passed && !access(path, R_OK))
        why = judge(&a, trial_text(t, "input"), trial_seed(t) + 1, argv[2], timed, &result);
    json_t *said = json_pack("{s:b, s:s}", "passed", result.passed, "why", result.why);
    if (!why) json_dumpf(said, stdout, JSON_COMPACT);
    json_decref(said);
    json_decref(t);
    return why;
}
