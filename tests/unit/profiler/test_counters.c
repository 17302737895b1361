/* counters_collect() from group file to value, with a device made for the test in place of the
 * emulator. */
#include "tests/test.h"

#include "profiler/counters.h"
#include "common/device/device_ops.h"
#include "common/base/reason.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    double wavefronts;
    int n_registers;
    double instructions; /* of PTX: how much work the launches are */
    const char *refuses, *no_sass;
    int n_sass_runs;
} fake;

static const char *fake_kernel_info(struct device *d, struct device_image *image,
                                    const char *kernel, struct device_kernel_info *out) {
    (void)d, (void)image, (void)kernel;
    *out = (struct device_kernel_info){
        .n_registers = fake.n_registers, .static_shared = 1024, .max_threads = 1024};
    return NULL;
}

static void add(struct counters *out, const char *name, double value, enum counter_source source) {
    out->counter = realloc(out->counter, (size_t)(out->n + 1) * sizeof *out->counter);
    struct counter *c = &out->counter[out->n++];
    *c = (struct counter){.value = value, .source = source};
    snprintf(c->name, sizeof c->name, "%s", name);
}

static const char *fake_counters(struct device *d, struct device_image *image,
                                 const struct device_launch *launches, int n,
                                 struct counters *out) {
    (void)d, (void)image, (void)launches, (void)n;
    if (fake.refuses) return fake.refuses;
    add(out, "wavefronts", fake.wavefronts, SOURCE_EMULATOR);
    add(out, "sectors", 7, SOURCE_MODEL);
    add(out, "instructions", fake.instructions, SOURCE_EMULATOR);
    add(out, "tensor_flop", 100 * fake.instructions, SOURCE_EMULATOR);
    return NULL;
}

static const char *fake_sass(struct device *d, struct device_image *image,
                             const struct device_launch *launches, int n, struct counters *out) {
    (void)d, (void)image, (void)launches, (void)n;
    fake.n_sass_runs++;
    if (fake.no_sass) return reason_as(STATUS_UNSUPPORTED, "%s", fake.no_sass);
    add(out, "sectors", 9, SOURCE_EMULATOR);
    return NULL;
}

static const struct device_ops ops = {
    .kernel_info = fake_kernel_info, .counters = fake_counters, .sass = fake_sass};
static struct device device = {.ops = &ops};
static const struct device_launch launches[2] = {
    {.kernel = "prepare", .grid = {1, 1, 1}, .block = {32, 1, 1}},
    {.kernel = "attention", .grid = {8, 8, 1}, .block = {256, 1, 1}, .shared_bytes = 2048},
};

static const char group_text[] = "X: ?\n"
                                 "wavefronts [wf] counted\n"
                                 "    emulator: emu.wavefronts\n"
                                 "sectors [s] modelled\n"
                                 "    emulator: emu.sectors\n"
                                 "share [%] a formula on values above\n"
                                 "    emulator: 100 * sectors / wavefronts\n"
                                 "missing [s] not counted\n"
                                 "    emulator: emu.nosuch\n"
                                 "after [s] built on what is missing\n"
                                 "    emulator: missing + 1\n"
                                 "clock [s] said by the file\n"
                                 "    emulator: n/a (there is no clock)\n"
                                 "elsewhere [s] no line for the emulator\n"
                                 "    GPU: sm__cycles_active.avg\n"
                                 "registers [r] of the larger launch\n"
                                 "    emulator: launch.registers\n"
                                 "occupancy [%] of the larger launch\n"
                                 "    emulator: launch.occupancy_pct\n"
                                 "How to read:\n"
                                 "    It is a test.\n";

static char folder[OWN_BYTES];

static void write_group(const char *name, const char *text) {
    char path[OWN_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s.txt", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static const char *collect(const char *groups, struct counters *out) {
    return counters_collect(&device, NULL, launches, 2, groups, out);
}

static const struct counter *get(const struct counters *all, const char *name) {
    int i = 0;
    while (i < all->n && strcmp(all->counter[i].name, name)) i++;
    if (i == all->n) fail_msg("no %s", name);
    return &all->counter[i];
}

static void values_carry_unit_source_and_origin(void **state) {
    (void)state;
    struct counters all;
    assert_fine(collect("X", &all));
    assert_int_equal(all.n, 9);
    const struct counter *c = get(&all, "wavefronts");
    assert_true(c->value == 28 && c->source == SOURCE_EMULATOR);
    assert_string_equal(c->group, "X");
    assert_string_equal(c->unit, "wf");
    assert_string_equal(c->metric, "emu.wavefronts");
    assert_string_equal(c->reason, "");
    assert_int_equal(get(&all, "sectors")->source, SOURCE_MODEL);
    c = get(&all, "share");
    assert_true(c->value == 25 && c->source == SOURCE_MODEL);
    assert_string_equal(c->metric, "100 * sectors / wavefronts");
    counters_free(&all);
}

static void what_cannot_be_had_says_why(void **state) {
    (void)state;
    struct counters all;
    assert_fine(collect("X", &all));
    assert_reason(get(&all, "missing")->reason, "does not count nosuch");
    assert_reason(get(&all, "after")->reason, "does not count nosuch");
    assert_string_equal(get(&all, "clock")->reason, "there is no clock");
    assert_reason(get(&all, "elsewhere")->reason, "X.txt has no line for emulator");
    for (int i = 0; i < all.n; i++)
        if (*all.counter[i].reason) assert_true(all.counter[i].value == 0);
    counters_free(&all);
    fake.wavefronts = 0;
    assert_fine(collect("X", &all));
    assert_reason(get(&all, "share")->reason, "wavefronts is 0: nothing to divide by");
    counters_free(&all);
}

static void the_larger_launch_is_the_one_described(void **state) {
    (void)state;
    struct counters all;
    assert_fine(collect("X", &all));
    assert_true(get(&all, "registers")->value == 64);
    assert_int_equal(get(&all, "registers")->source, SOURCE_PTXAS);
    assert_true(get(&all, "occupancy")->value == 50); /* 4 blocks of 8 warps by registers, of 64 */
    assert_int_equal(get(&all, "occupancy")->source, SOURCE_MODEL);
    counters_free(&all);
    fake.n_registers = -1;
    assert_fine(collect("X", &all));
    assert_reason(get(&all, "registers")->reason, "how many registers attention takes");
    counters_free(&all);
}

/* A refusal is an error only if nothing else came of the call. */
static void a_refusal_reaches_every_value(void **state) {
    (void)state;
    struct counters all;
    fake.refuses = "not today";
    assert_fine(collect("X", &all));
    assert_string_equal(get(&all, "wavefronts")->reason, "not today");
    assert_true(get(&all, "registers")->value == 64);
    counters_free(&all);
    const char *why = collect("Y", &all);
    assert_reason(why, "not today");
    assert_int_equal(reason_status(why, STATUS_RIGHT), STATUS_COUNTERS);
    assert_null(all.counter);
}

/* Of SASS if it was executed, else of PTX with a note; not executed unless some value is of it. */
static void sass_comes_before_ptx(void **state) {
    (void)state;
    struct counters all;
    assert_fine(collect("S", &all));
    const struct counter *c = get(&all, "sectors");
    assert_true(c->value == 9 && c->source == SOURCE_EMULATOR && fake.n_sass_runs == 1);
    assert_string_equal(c->metric, "sass.sectors");
    assert_string_equal(c->note, "");
    counters_free(&all);
    fake.no_sass = "no cubin";
    assert_fine(collect("S", &all));
    c = get(&all, "sectors");
    assert_true(c->value == 8 && c->source == SOURCE_MODEL && fake.n_sass_runs == 2);
    assert_string_equal(c->metric, "emu.sectors + 1");
    assert_string_equal(c->note, "no cubin");
    assert_string_equal(get(&all, "alone")->reason, "no cubin");
    counters_free(&all);
    assert_fine(collect("X", &all));
    assert_int_equal(fake.n_sass_runs, 2);
    assert_string_equal(get(&all, "sectors")->note, "");
    counters_free(&all);
}

static void large_launches_are_of_ptx(void **state) {
    (void)state;
    struct counters all;
    fake.instructions = 2.5e8; /* and as much for tensor cores */
    assert_fine(collect("S", &all));
    assert_string_equal(get(&all, "sectors")->metric, "sass.sectors");
    counters_free(&all);
    fake.instructions = 2.6e8;
    assert_fine(collect("S", &all));
    assert_string_equal(get(&all, "sectors")->metric, "emu.sectors + 1");
    assert_reason(get(&all, "sectors")->note, "so large a launch takes long");
    assert_int_equal(fake.n_sass_runs, 1);
    counters_free(&all);
}

static void several_groups_keep_to_themselves(void **state) {
    (void)state;
    struct counters all;
    assert_fine(collect("Y,X,Y", &all));
    assert_int_equal(all.n, 11);
    assert_string_equal(all.counter[0].group, "Y");
    assert_string_equal(all.counter[10].group, "Y");
    counters_free(&all);
    assert_reason(collect("LEAK", &all), "LEAK.txt:3: wavefronts is neither");
}

static void wrong_requests_run_nothing(void **state) {
    (void)state;
    struct counters all;
    const char *why = collect("X,NOSUCH", &all);
    assert_reason(why, "there is no counter group NOSUCH; there are");
    assert_int_equal(reason_status(why, STATUS_RIGHT), STATUS_USAGE);
    assert_reason(collect("", &all), "no counter group is named");
    assert_reason(collect("MISNAMED", &all), "its file must be Y.txt");
    assert_reason(counters_collect(&device, NULL, launches, 0, "X", &all), "nothing to count");
}

static int open_folder(void **state) {
    (void)state;
    return !own_folder(folder, "groups") || setenv("ATTNLAB_GROUPS", folder, 1);
}

static int reset(void **state) {
    (void)state;
    fake.wavefronts = 28;
    fake.n_registers = 64;
    fake.refuses = fake.no_sass = NULL;
    fake.instructions = fake.n_sass_runs = 0;
    device.info = (struct device_info){.chip = *chip_find("h200"), .is_emulator = true};
    write_group("X", group_text);
    write_group("Y",
                "Y: ?\nonly [wf] counted\n    emulator: emu.wavefronts\nHow to read:\n    x\n");
    write_group("S",
                "S: ?\nsectors [s] of either\n    emulator: first(sass.sectors, emu.sectors + 1)\n"
                "alone [s] of one\n    emulator: sass.sectors\nHow to read:\n    x\n");
    write_group("MISNAMED", "Y: ?\na [%] b\n    GPU: 1\nHow to read:\n    x\n");
    write_group("LEAK",
                "LEAK: ?\na [%] of another group\n    GPU: wavefronts\nHow to read:\n    x\n");
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    char command[OWN_BYTES + 8];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(values_carry_unit_source_and_origin, reset),
        cmocka_unit_test_setup(what_cannot_be_had_says_why, reset),
        cmocka_unit_test_setup(the_larger_launch_is_the_one_described, reset),
        cmocka_unit_test_setup(a_refusal_reaches_every_value, reset),
        cmocka_unit_test_setup(sass_comes_before_ptx, reset),
        cmocka_unit_test_setup(large_launches_are_of_ptx, reset),
        cmocka_unit_test_setup(several_groups_keep_to_themselves, reset),
        cmocka_unit_test_setup(wrong_requests_run_nothing, reset),
    };
    return cmocka_run_group_tests_name("counters", tests, open_folder, remove_folder);
}
