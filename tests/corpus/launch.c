/* Runs kernels of the corpus, one launch each, in the order of standard input.
 *
 *   corpus-launch emu|cuda FOLDER < LIST
 *
 * A line of LIST is `IMAGE KERNEL THREADS BLOCKS CLUSTER AFTER`: the image is FOLDER/IMAGE.*, CLUSTER 0 means none,
 * AFTER is a kernel whose launch this one overlaps, or -. Before each kernel stands `begin KERNEL`, behind it
 * `end KERNEL` and why its launch failed; the emulator's reports stand in between. A GPU that failed once runs
 * nothing more, so the program ends there. */
#include "common/base/reason.h"
#include "common/device/device.h"
#include "emulator/core/emulator_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 16384, BYTES = 4 * WORDS };

struct kernel {
    char image[32], name[64], after[64];
    unsigned threads, blocks, cluster;
};

static struct device *device;
static struct device_image *image;
static char loaded[32];
static device_ptr in, out;
static unsigned char in_map[128], out_map[128];

/* 64 x 512 halves in boxes of 64 x 8, no swizzle: corpus.cuh. */
static const char *map_of(device_ptr base, unsigned char *map) {
    const struct device_tensor_map m = {
        .base = base, .rank = 2, .extent = {64, 512}, .stride = {2, 128}, .box = {64, 8}};
    return device_tensor_map(device, &m, map);
}

static const char *make_memory(void) {
    const char *why = device_alloc(device, BYTES, &in);
    if (!why) why = device_alloc(device, BYTES, &out);
    if (!why) why = map_of(in, in_map);
    return why ? why : map_of(out, out_map);
}

static const char *fill_memory(void) {
    static unsigned word[WORDS];
    for (unsigned i = 0; i < WORDS; i++) word[i] = i;
    const char *why = device_copy_in(device, in, word, BYTES);
    return why ? why : device_fill(device, out, 0, BYTES);
}

static const char *load(const char *folder, const char *name) {
    if (!strcmp(loaded, name)) return NULL;
    if (image) device_unload(device, image);
    image = NULL;
    loaded[0] = 0;
    const char *why = device_load(device, folder, name, &image);
    if (!why) snprintf(loaded, sizeof loaded, "%s", name);
    return why;
}

static const char *launch(const struct kernel *k, const char *name, bool overlaps) {
    struct device_launch l = {.grid = {k->blocks, 1, 1},
                              .block = {k->threads, 1, 1},
                              .cluster = {k->cluster, !!k->cluster, !!k->cluster},
                              .overlaps_previous = overlaps};
    snprintf(l.kernel, sizeof l.kernel, "%s", name);
    device_launch_arg(&l, &in, sizeof in);
    device_launch_arg(&l, &out, sizeof out);
    device_launch_arg(&l, in_map, sizeof in_map);
    device_launch_arg(&l, out_map, sizeof out_map);
    return device_launch(device, image, &l);
}

static const char *run(const char *folder, const struct kernel *k) {
    const bool overlaps = strcmp(k->after, "-") != 0;
    const char *why = load(folder, k->image);
    if (!why) why = fill_memory();
    if (!why && overlaps) why = launch(k, k->after, false);
    if (!why) why = launch(k, k->name, overlaps);
    const char *synced = device_sync(device);
    return why ? why : synced;
}

int main(int n, char **arg) {
    static const struct emu_options options = {.n_threads = 1, .timeout_s = 20};
    struct kernel k;
    if (n != 3 || (strcmp(arg[1], "emu") && strcmp(arg[1], "cuda"))) {
        fprintf(stderr,
                "corpus-launch: the arguments are a device, emu or cuda, and the images' folder\n");
        return STATUS_USAGE;
    }
    const bool gpu = !strcmp(arg[1], "cuda");
    setvbuf(stdout, NULL, _IOLBF, 0);
    device_emulator_options(&options);
    const char *why = device_open(gpu ? DEVICE_CUDA : DEVICE_EMU, NULL, &device);
    if (!why) why = make_memory();
    if (why) {
        fprintf(stderr, "corpus-launch: %s\n", why);
        return reason_status(why, STATUS_DEVICE);
    }
    while (scanf("%31s %63s %u %u %u %63s", k.image, k.name, &k.threads, &k.blocks, &k.cluster,
                 k.after) == 6) {
        printf("begin %s\n", k.name);
        why = run(arg[2], &k);
        fflush(stderr);
        printf("end %s%s%s\n", k.name, why ? ": " : "", why ? why : "");
        if (why && gpu) return STATUS_DEVICE;
    }
    device_close(device);
    return STATUS_RIGHT;
}
