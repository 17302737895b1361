/* The command line: what is right is read, every bad
 * value is refused by one sentence that names it. */
#include "tests/test.h"

#include "common/harness/options.h"
#include "common/base/reason.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct options o;

/* Splits at blanks and reads. */
static const char *line_of(const struct option_table *own, const char *text) {
    static char buffer[512];
    static char *argv[64];
    int argc = 0;
    argv[argc++] = "stage-1";
    snprintf(buffer, sizeof buffer, "%s", text);
    for (char *word = strtok(buffer, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    argv[argc] = NULL;
    return options_read(argc, argv, own, &o);
}

static const char *line(const char *text) { return line_of(NULL, text); }

static void nothing_said_is_the_mission_shape(void **state) {
    (void)state;
    assert_fine(line(""));
    assert_int_equal(o.problem.batch, 1);
    assert_int_equal(o.problem.heads, 8);
    assert_int_equal(o.problem.kv_heads, 8);
    assert_int_equal(o.problem.seqlen_q, 512);
    assert_int_equal(o.problem.seqlen_k, 512);
    assert_int_equal(o.problem.head_dim, 64);
    assert_int_equal(o.problem.mask, MASK_NONE);
    assert_string_equal(o.input, "normal");
    assert_true(o.check && o.time && !o.cold && !o.csv && !o.quiet && !o.fallback);
    assert_int_equal(o.device, DEVICE_AUTO);
    assert_string_equal(o.counters, COUNTERS_DEFAULT);
    assert_false(o.counters_asked);
}

static void outputs_have_files_of_their_own(void **state) {
    (void)state;
    assert_reason(line("--ptx"), "--ptx and --sass stand below source lines");
    assert_reason(line("--sass"), "--ptx and --sass stand below source lines");
    assert_fine(line("--ptx --sass --source"));
    assert_fine(line("--source"));
    assert_reason(line("--out /tmp/a --lse /tmp/a"), "two outputs go to /tmp/a");
    assert_reason(line("--out a --lse ./a"), "two outputs go to ./a");
    assert_reason(line("--json /tmp/../tmp/a --lse /tmp/a"), "two outputs");
    assert_fine(line("--out /tmp/a --lse /tmp/b --json a"));
    assert_fine(line("--out /dev/null --lse /dev/null")); /* which takes any number */
}

/* Every number at its limits and just past them. */
static void numbers_have_limits(void **state) {
    (void)state;
    static const struct {
        const char *name, *least, *below, *most, *above;
    } limits[] = {
        {"batch", "0", "-1", "2147483647", "2147483648"},
        {"heads", "0", "-1", "2147483647", "2147483648"},
        {"kv-heads", "0", "-1", "2147483647", "2147483648"},
        {"seqlen", "0", "-1", "2147483647", "2147483648"},
        {"seqlen-q", "0", "-1", "2147483647", "2147483648"},
        {"seqlen-k", "0", "-1", "2147483647", "2147483648"},
        {"head-dim", "1", "0", "2147483647", "2147483648"},
        {"rest", "0", "-1", "10000", "10001"},
        {"max-samples", "1", "0", "1000000", "1000001"},
        {"sweep-random", "1", "0", "10000000", "10000001"},
        {"repeat-check", "2", "1", "1000000", "1000001"},
        {"choice", "0", "-1", "1000", "1001"},
        {"jobs", "1", "0", "1024", "1025"},
        {"trace", "1", "0", "1000000", "1000001"},
        {"banks", "1", "0", "1000000", "1000001"},
        {"min-time", "0", "-1e-9", "3600", "3600.001"},
        {"sm-clock", "1", "0.999", "10000", "10000.1"},
        {"timeout", "0.001", "0.000999", "1e6", "1000001"},
        {"max-instructions", "1", "0.999", "1e18", "1.001e18"},
        {"scale", "1e-30", "0.999e-30", "1e30", "1.001e30"},
        {"seed", "0", "-1", "18446744073709551615", "18446744073709551616"},
        {"watch", "0", "-1", "0xffffffffffffffff", "0x10000000000000000"},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const char *values[] = {limits[i].least, limits[i].most, limits[i].below, limits[i].above};
        for (int k = 0; k < 4; k++) {
            char text[128], word[64];
            snprintf(text, sizeof text, "--%s %s", limits[i].name, values[k]);
            snprintf(word, sizeof word, "--%s takes ", limits[i].name);
            const char *why = line(text);
            if (k >= 2)
                assert_reason(why, word);
            else if (why && strstr(why, word))
                fail_msg("%s: %s", text, why);
        }
    }
    assert_fine(line("--max-instructions 1e18 --watch shared:16 --sweep-random 2"));
    assert_int_equal(o.emulator.watch, 16);
    assert_true(o.emulator.watch_shared);
    assert_fine(line("--watch 16"));
    assert_false(o.emulator.watch_shared);
    assert_reason(line("--watch shared16"), "--watch takes");
    assert_true(o.emulator.max_instructions == 0);
    assert_fine(line("--image 0123456789012345678901234567890123456789"));
    assert_reason(line("--image 01234567890123456789012345678901234567890"), "--image takes");
    errno = ERANGE; /* of something before */
    assert_fine(line("--min-time 1 --seed 1 --watch 1"));
    assert_fine(line("--l2 warm --causal=bottom-right --schedule round-robin --device auto"));
    assert_reason(line("--sweep-random 2 --repeat-check 2"), "choose one of");
    assert_fine(line("--repeat-check 2"));
    assert_fine(line(""));
    assert_true(o.seed == 1 && o.max_samples == 200 && o.min_time_s == 0.25 && !o.emulator_asked);
    assert_fine(line("--sm-clock 1000"));
    assert_true(o.emulator_asked);
    assert_reason(line("--seqlen 5 --seqlen-q 7"), "--seqlen sets queries and keys");
    assert_fine(line("--seqlen 5"));
    assert_int_equal(o.problem.seqlen_k, 5);
    assert_false(o.emulator_asked);
}

/* Names of one file, of two, and of none yet. */
static void outputs_are_told_apart(void **state) {
    (void)state;
    char folder[OWN_BYTES], text[4 * OWN_BYTES];
    assert_non_null(own_folder(folder, "options"));
    static const char *const names[] = {"a", "b", "link", "d/a"};
    snprintf(text, sizeof text, "cd %s && mkdir d && touch a b d/a && ln a link", folder);
    assert_int_equal(system(text), 0);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            snprintf(text, sizeof text, "--lse %s/%s --timeline %s/%s", folder, names[i], folder,
                     names[k]);
            if (i == k || (i + k == 2 && i != k))
                assert_reason(line(text), "two outputs go to");
            else
                assert_fine(line(text));
        }
    for (int i = 0; i < 4; i++) { /* one of them is not there yet, or is elsewhere */
        snprintf(text, sizeof text, "--out %s/new --json %s/%s", folder, folder, names[i]);
        assert_fine(line(text));
        snprintf(text, sizeof text, "--json %s/%s --out %s/d/new", folder, names[i], folder);
        assert_fine(line(text));
    }
    snprintf(text, sizeof text, "--out %s/new --json %s/d/new", folder, folder);
    assert_fine(line(text));
    snprintf(text, sizeof text, "--out %s/new --json %s/d/../new", folder, folder);
    assert_reason(line(text), "two outputs go to");
    assert_reason(line("--out new-a --lse ./new-a"), "two outputs go to");
    assert_reason(line("--out /new-a --lse //new-a"), "two outputs go to");
    assert_reason(line("--out /nosuch/a --lse /nosuch/a"), "two outputs go to /nosuch/a");
    assert_fine(line("--out new-a --lse /new-a"));
    snprintf(text, sizeof text, "rm -r %s", folder);
    assert_int_equal(system(text), 0);
}

static void every_option_is_read(void **state) {
    (void)state;
    assert_fine(
        line("--batch 2 --heads 32 --kv-heads 8 --seqlen-q 1 --seqlen-k 4096 --head-dim 128 "
             "--causal=top-left --scale 0.5 --input outlier --seed 0x10 --out o.npy --lse l.npy "
             "--device emu --chip l4 --counters TENSOR,MIX --no-check --no-time --l2 cold "
             "--rest 30 --min-time 1.5 --max-samples 7 --fallback --csv --json r.jsonl --quiet "
             "--image d64-nopad"));
    assert_int_equal(o.problem.batch, 2);
    assert_int_equal(o.problem.kv_heads, 8);
    assert_int_equal(o.problem.seqlen_q, 1);
    assert_int_equal(o.problem.seqlen_k, 4096);
    assert_int_equal(o.problem.mask, MASK_CAUSAL_TOP_LEFT);
    assert_float_equal(o.problem.scale, 0.5, 0);
    assert_int_equal(o.seed, 16);
    assert_string_equal(o.out_path, "o.npy");
    assert_string_equal(o.lse_path, "l.npy");
    assert_int_equal(o.device, DEVICE_EMU);
    assert_string_equal(o.chip, "l4");
    assert_true(o.counters_asked && o.cold && o.fallback && o.csv && o.quiet);
    assert_string_equal(o.image, "d64-nopad");
    assert_true(!o.check && !o.time);
    assert_float_equal(o.min_time_s, 1.5, 0);
    assert_int_equal(o.max_samples, 7);
    assert_int_equal(o.rest_ms, 30);
    assert_string_equal(o.json_path, "r.jsonl");
}

static void heads_without_kv_heads_set_both(void **state) {
    (void)state;
    assert_fine(line("--heads 6"));
    assert_int_equal(o.problem.kv_heads, 6);
    assert_fine(line("--kv-heads 2"));
    assert_int_equal(o.problem.heads, 8);
}

static void causal_is_bottom_right_unless_said(void **state) {
    (void)state;
    assert_fine(line("--causal"));
    assert_int_equal(o.problem.mask, MASK_CAUSAL_BOTTOM_RIGHT);
    assert_fine(line("--causal=bottom-right"));
    assert_int_equal(o.problem.mask, MASK_CAUSAL_BOTTOM_RIGHT);
}

static void files_are_the_problem(void **state) {
    (void)state;
    assert_fine(line("--q q.npy --k k.npy --v v.npy --causal --scale 2"));
    assert_string_equal(o.q_path, "q.npy");
    assert_int_equal(o.problem.q_stride.row, 0); /* completed when the files were read */
    assert_fine(line("--q q.npy --k k.npy --v v.npy"));
    assert_true(o.problem.scale == 0);
    assert_reason(line("--q q.npy --k k.npy"), "go together");
    assert_reason(line("--q q.npy --k k.npy --v v.npy --seqlen 5"), "shapes of the files");
    assert_reason(line("--q q.npy --k k.npy --v v.npy --seed 5"), "--input");
}

static void the_emulator_has_its_own(void **state) {
    (void)state;
    assert_fine(line(
        "--jobs 3 --schedule adversarial --early --no-races --count-ptx --mma-exact --trace 120 "
        "--watch shared:0x40 --seed 7"));
    assert_int_equal(o.emulator.n_threads, 3);
    assert_int_equal(o.emulator.schedule, EMU_ADVERSARIAL);
    assert_true(o.emulator.async_early && o.emulator.no_checks && o.emulator.mma_exact);
    assert_true(o.emulator.count_ptx);
    assert_int_equal(o.emulator.trace_line, 120);
    assert_int_equal(o.emulator.watch, 0x40);
    assert_true(o.emulator.watch_shared);
    assert_int_equal(o.emulator.seed, 7);
    assert_fine(line("--trace all"));
    assert_int_equal(o.emulator.trace_line, EMU_EVERY_LINE);
    assert_reason(line("--trace every"), "every");
}

static void counters_none_asks_for_none(void **state) {
    (void)state;
    assert_fine(line("--counters none"));
    assert_string_equal(o.counters, "none");
    assert_false(o.counters_asked);
}

static void bad_lines_are_usage_errors(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"--nosuch", "--nosuch"},
        {"word", "'word'"},
        {"--causal top-left",
         "'top-left' is no option; join a value of --causal by =: --causal=top-left"},
        {"--causal --seed 1 word", "'word' is no option; "},
        {"word --causal top-left", "'word' is no option; "},
        {"-x", "-x"},
        {"--seqlen", "--seqlen"},
        {"--seqlen 12x", "12x"},
        {"--seqlen -1", "-1"},
        {"--seqlen 99999999999999999999", "99999999999999999999"},
        {"--seqlen 3000000000", "3000000000"},
        {"--seqlen 1.5", "1.5"},
        {"--batch nan", "nan"},
        {"--head-dim 0", "--head-dim"},
        {"--scale 0", "--scale"},
        {"--scale -2", "--scale"},
        {"--scale nan", "--scale"},
        {"--scale inf", "--scale"},
        {"--causal=left", "left"},
        {"--input nosuch", "nosuch"},
        {"--seed -1", "-1"},
        {"--seed x", "'x'"},
        {"--seed 99999999999999999999999", "--seed"},
        {"--device gpu", "gpu"},
        {"--chip h300", "h300"},
        {"--l2 lukewarm", "lukewarm"},
        {"--jobs 0", "--jobs"},
        {"--schedule fair", "fair"},
        {"--trace 0", "--trace"},
        {"--watch here", "here"},
        {"--watch shared:-4", "shared:-4"},
        {"--min-time -1", "--min-time"},
        {"--min-time nan", "--min-time"},
        {"--max-samples 0", "--max-samples"},
        {"--rest -1", "--rest"},
        {"--sweep-random 0", "--sweep-random"},
        {"--repeat-check 1", "--repeat-check"},
        {"--image ../d64", "../d64"},
        {"--seqlen 5 --seqlen-q 6", "--seqlen"},
        {"--sweep-random 5 --repeat-check 5", "--repeat-check"},
        {"--csv=5", "--csv"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *why = line(bad[i][0]);
        if (!why) fail_msg("'%s' was taken", bad[i][0]);
        assert_reason(why, bad[i][1]);
        assert_int_equal(reason_status(why, STATUS_RIGHT), STATUS_USAGE);
    }
}

static void impossible_problems_are_unsupported(void **state) {
    (void)state;
    static const char *const bad[] = {"--heads 6 --kv-heads 4", "--head-dim 100", "--head-dim 4",
                                      "--heads 0"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(reason_status(line(bad[i]), STATUS_RIGHT), STATUS_UNSUPPORTED);
}

static void help_and_version_need_nothing_else(void **state) {
    (void)state;
    assert_fine(line("--heads 6 --kv-heads 4 --help"));
    assert_true(o.help);
    assert_fine(line("--version"));
    assert_true(o.version);
}

static void a_problem_of_its_own_has_options_of_its_own(void **state) {
    (void)state;
    static struct own {
        int n;
        bool explain;
        const char *name;
    } own;
    static const struct option_row rows[] = {
        {"n", "N", "a number", OPTION_INT(struct own, n, 8, 256)},
        {"explain", NULL, "a switch", OPTION_SWITCH(struct own, explain, true)},
        {"name", "NAME", "a text,\nexplained", OPTION_TEXT(struct own, name)},
        {0},
    };
    const struct option_table table = {rows, &own};
    assert_fine(line_of(&table, "--n 16 --explain --n 24 --name x --quiet --device emu"));
    assert_int_equal(own.n, 24); /* the last one said */
    assert_true(own.explain && o.quiet && o.device == DEVICE_EMU);
    assert_string_equal(own.name, "x");
    assert_int_equal(reason_status(line_of(&table, "--n 7"), STATUS_RIGHT), STATUS_USAGE);
    assert_int_equal(reason_status(line_of(&table, "--heads 8"), STATUS_RIGHT), STATUS_USAGE);
    assert_int_equal(reason_status(line("--name x"), STATUS_RIGHT), STATUS_USAGE);

    char help[8192] = "";
    FILE *f = fmemopen(help, sizeof help, "w");
    assert_non_null(f);
    options_help(f, "stage-9", &table);
    fclose(f);
    assert_non_null(strstr(help, "\n  --n N                a number\n"));
    assert_non_null(
        strstr(help, "\n  --name NAME          a text,\n                       explained\n"));
    assert_non_null(strstr(help, "\n  --device D "));
    assert_null(strstr(help, "--heads"));
    assert_non_null(strstr(help, "\nexit: 0 right, 1 wrong answer, 2 usage, "));
}

/* Whatever the bytes are, reading ends in a reason or in options. */
static void noise_is_survived(void **state) {
    (void)state;
    static const char *const words[] = {"--seqlen", "--causal", "--causal=", "=",
                                        "--",       "-",        "--q",       "1e9",
                                        "--batch",  "\xff",     "--scale",   "%s%n"};
    unsigned random = 1;
    for (int i = 0; i < 20000; i++) {
        char text[256] = "";
        for (int w = 0; w < 4; w++) {
            random = random * 1664525 + 1013904223;
            strcat(strcat(text, words[random / 65536 % 12]), " ");
        }
        line(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_said_is_the_mission_shape),
        cmocka_unit_test(outputs_have_files_of_their_own),
        cmocka_unit_test(every_option_is_read),
        cmocka_unit_test(numbers_have_limits),
        cmocka_unit_test(outputs_are_told_apart),
        cmocka_unit_test(heads_without_kv_heads_set_both),
        cmocka_unit_test(causal_is_bottom_right_unless_said),
        cmocka_unit_test(files_are_the_problem),
        cmocka_unit_test(the_emulator_has_its_own),
        cmocka_unit_test(counters_none_asks_for_none),
        cmocka_unit_test(bad_lines_are_usage_errors),
        cmocka_unit_test(impossible_problems_are_unsupported),
        cmocka_unit_test(help_and_version_need_nothing_else),
        cmocka_unit_test(a_problem_of_its_own_has_options_of_its_own),
        cmocka_unit_test(noise_is_survived),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
