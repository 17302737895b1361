/* A stage program: what its command line asks for. */
#include "profiler/counters.h"
#include "profiler/groups_folder.h"
#include "common/base/interrupt.h"
#include "common/base/path.h"
#include "common/base/program.h"
#include "common/base/revision.h"
#include "random_problems.h"
#include "run.h"
#include "stage.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Becomes the stage before with the same options; returns only if it cannot. */
static enum status fall_back(const char *because, char **argv) {
    char program[PATH_MAX];
    int previous = stage_number(stage.previous);
    if (!*stage.previous) return run_failed("no stage to fall back to", STATUS_UNSUPPORTED);
    snprintf(program, sizeof program, "%s/stage-%d", program_folder(), previous);
    fprintf(stderr, "%s: %s; running stage-%d instead\n", program_invocation_short_name, because,
            previous);
    argv[0] = program;
    fflush(stdout);
    execv(program, argv);
    return run_failed(
        reason_as(STATUS_FILE, "%s: %s (make stage-%d)", program, strerror(errno), previous),
        STATUS_FILE);
}

/* What can be known to fail before any work is done. */
static const char *check_options(const struct options *o) {
    const char *path[] = {o->json_path, o->out_path, o->lse_path, o->timeline_path, o->watch_page};
    const char *why = o->counters_asked ? counters_check(o->counters) : NULL;
    for (int i = 0; i < 5 && !why; i++)
        if (path[i]) why = path_writable(path[i]);
    return why;
}

static int run(const struct options *o, int argc, char **argv) {
    bool gates_failed = false;
    const char *why = check_options(o);
    if (why) return run_failed(why, STATUS_FILE);
    device_emulator_options(&o->emulator);
    if (stage.run) return stage.run(o, argc, argv);
    if (o->sweep_random) return random_problems(o, argc, argv);
    if (o->repeat_check) return run_repeats(o, argc, argv);
    if (o->explain) return run_explain(o);
    if (o->turns) return run_turns(o);
    if (o->source) return run_source(o, argc, argv);
    if (o->whatif) return run_whatif(o);
    if (o->timeline_path) return run_timeline(o);
    if (o->watch_page) return run_watch(o);
    enum status status = run_one(o, argc, argv, &gates_failed);
    if (o->fallback && !interrupt_signal()) {
        if (status == STATUS_UNSUPPORTED) return fall_back("this stage cannot run here", argv);
        if (status == STATUS_RIGHT && gates_failed && *stage.previous)
            return fall_back("a gate failed", argv);
    }
    return status;
}

static enum status list_counters(void) {
    const char *why = groups_print(stdout);
    return why ? run_failed(why, STATUS_FILE) : STATUS_RIGHT;
}

int main(int argc, char **argv) {
    struct options o;
    enum status status = STATUS_RIGHT;
    interrupt_catch();
    const char *why = options_read(argc, argv, stage.options, &o);
    if (why) return run_failed(why, STATUS_USAGE);
    if (o.help)
        options_help(stdout, program_invocation_short_name, stage.options);
    else if (o.list_counters)
        status = list_counters();
    else if (o.version)
        printf("attnlab stage %s, %s\n", stage.name, revision());
    else
        status = run(&o, argc, argv);
    if (!status && (why = path_stdout())) status = run_failed(why, STATUS_FILE);
    return interrupt_signal() ? 128 + interrupt_signal() : (int)status;
}
