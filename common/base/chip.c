#include "chip.h"
#include "path.h"

#include "program.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* tensor_flop_per_clk counts fp16 in, fp32 accumulate: 4096 on GH100 by WGMMA (mma.sync gets 8192
 * / 3 of them: one m16n8k16 in 6 cycles of a sub-core; tests/plots/bounds.py), 2048 on GA100, 1024 on
 * AD10x, halved on GeForce boards. An L4's 121 TFLOPS are 1024 * 58 SMs * 2.04 GHz; an H200's 989
 * are 4096 * 132 * 1.83 GHz. */
static const struct chip chips[] = {
    {.name = "h200",
     .board = "NVIDIA H200",
     .family = "GH100",
     .cc = 90,
     .n_sms = 132,
     .clock_mhz = 1980,
     .max_warps_per_sm = 64,
     .max_blocks_per_sm = 32,
     .registers_per_sm = 65536,
     .shared_per_sm = 228 * 1024,
     .shared_per_block = 227 * 1024,
     .tensor_flop_per_clk = 4096,
     .mma_flop_per_clk = 2731,
     .fp32_fma_per_clk = 128,
     .mufu_per_clk = 16,
     .datasheet_tflops = 989.5,
     .shared_bytes_per_clk = 128,
     .dram_gb_per_s = 4800,
     .l2_bytes = 60 << 20},
    {.name = "h100",
     .board = "NVIDIA H100 80GB HBM3",
     .family = "GH100",
     .cc = 90,
     .n_sms = 132,
     .clock_mhz = 1980,
     .max_warps_per_sm = 64,
     .max_blocks_per_sm = 32,
     .registers_per_sm = 65536,
     .shared_per_sm = 228 * 1024,
     .shared_per_block = 227 * 1024,
     .tensor_flop_per_clk = 4096,
     .mma_flop_per_clk = 2731,
     .fp32_fma_per_clk = 128,
     .mufu_per_clk = 16,
     .datasheet_tflops = 989.5,
     .shared_bytes_per_clk = 128,
     .dram_gb_per_s = 3350,
     .l2_bytes = 50 << 20},
    {.name = "l4",
     .board = "NVIDIA L4",
     .family = "AD104",
     .cc = 89,
     .n_sms = 58,
     .clock_mhz = 2040,
     .max_warps_per_sm = 48,
     .max_blocks_per_sm = 24,
     .registers_per_sm = 65536,
     .shared_per_sm = 100 * 1024,
     .shared_per_block = 99 * 1024,
     .tensor_flop_per_clk = 1024,
     .mma_flop_per_clk = 1024,
     .fp32_fma_per_clk = 128,
     .mufu_per_clk = 16,
     .datasheet_tflops = 121,
     .shared_bytes_per_clk = 128,
     .dram_gb_per_s = 300,
     .l2_bytes = 48 << 20},
    {.name = "rtx4090",
     .board = "NVIDIA GeForce RTX 4090",
     .family = "AD102",
     .cc = 89,
     .n_sms = 128,
     .clock_mhz = 2520,
     .max_warps_per_sm = 48,
     .max_blocks_per_sm = 24,
     .registers_per_sm = 65536,
     .shared_per_sm = 100 * 1024,
     .shared_per_block = 99 * 1024,
     .tensor_flop_per_clk = 512,
     .mma_flop_per_clk = 512,
     .fp32_fma_per_clk = 128,
     .mufu_per_clk = 16,
     .datasheet_tflops = 165.2,
     .shared_bytes_per_clk = 128,
     .dram_gb_per_s = 1008,
     .l2_bytes = 72 << 20},
    {.name = "a100",
     .board = "NVIDIA A100-SXM4-40GB",
     .family = "GA100",
     .cc = 80,
     .n_sms = 108,
     .clock_mhz = 1410,
     .max_warps_per_sm = 64,
     .max_blocks_per_sm = 32,
     .registers_per_sm = 65536,
     .shared_per_sm = 164 * 1024,
     .shared_per_block = 163 * 1024,
     .tensor_flop_per_clk = 2048,
     .mma_flop_per_clk = 2048,
     .fp32_fma_per_clk = 64,
     .mufu_per_clk = 16,
     .datasheet_tflops = 312,
     .shared_bytes_per_clk = 128,
     .dram_gb_per_s = 1555,
     .l2_bytes = 40 << 20},
};

const struct chip *chip_at(int i) {
    return i >= 0 && i < (int)(sizeof chips / sizeof *chips) ? &chips[i] : NULL;
}

/* The number of a line "NAME NUMBER unit source" of a chip's file, or `otherwise`. */
static double number_of(FILE *f, const char *name, double otherwise) {
    char line[512];
    size_t n = strlen(name);
    rewind(f);
    while (fgets(line, sizeof line, f))
        if (!strncmp(line, name, n) && line[n] == ' ') return strtod(line + n, NULL);
    return otherwise;
}

/* A Hopper chip that has only its file, chips/NAME.txt: an H200 but for what the file says. */
static const struct chip *of_file(const char *name) {
    static struct chip found;
    static char known[33], board[96];
    char file[64], path[PATH_MAX], line[128] = "";
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    if (!n || name[n] || n >= sizeof known || *name == '-') return NULL;
    if (!strcmp(known, name)) return &found;
    snprintf(file, sizeof file, "chips/%s.txt", name);
    FILE *f = program_find(file, path, sizeof path) ? path_open(path) : NULL;
    if (!f) return NULL;
    /* "# NVIDIA H800: numbers of the predictor ..." */
    bool titled = fgets(line, sizeof line, f) && line[0] == '#' && strchr(line, ':');
    snprintf(board, sizeof board, "%.*s", titled ? (int)strcspn(line + 2, ":") : 0, line + 2);
    snprintf(known, sizeof known, "%s", name);
    found = chips[0];
    found.name = known;
    found.board = *board ? board : known;
    found.n_sms = (int)number_of(f, "sms", found.n_sms);
    found.l2_bytes = (int)number_of(f, "l2_bytes", found.l2_bytes);
    found.dram_gb_per_s = (int)number_of(f, "dram_bytes_per_ns", found.dram_gb_per_s);
    fclose(f);
    return &found;
}

const struct chip *chip_find(const char *name) {
    for (int i = 0; chip_at(i); i++)
        if (!strcmp(chip_at(i)->name, name)) return chip_at(i);
    return of_file(name);
}
