/* Private to the decoder (sd_: SASS decoder). A mnemonic's function takes the operands and modifiers of its
 * instruction one after the other:
 *
 *   sd_split - sd_dst, sd_source, sd_mod ... in the order of the text
 *
 * decode.c has the frame; the mnemonics are in tables: decode_int.c, decode_float.c, decode_memory.c and
 * decode_flow.c. */
#pragma once

#include "emulator/sass/exec.h"
#include "emulator/sass/ops.h"

enum { MAX_OPERANDS = 8, MAX_MODIFIERS = 8 };
enum kind { REG, UREG, PRED, UPRED, NUMBER, FLOAT, CONSTANT, MEMORY, DESC, GDESC, WORD };

struct operand {
    enum kind kind;
    char text[96];
    bool negated, inverted, absolute, not ;
    int number;      /* of the register or predicate; of memory: the vector register, or RZ */
    int uniform;     /* of memory: the uniform register added, or URZ */
    bool wide;       /* .64 behind the register of an address */
    int shift;       /* .X2, .X4, .X8, .X16 behind it: 1 to 4 */
    int64_t value;   /* NUMBER; offset of MEMORY */
    int bank;        /* CONSTANT: the rest as MEMORY */
    char suffix[32]; /* "H0_H0", "tnspB" ... */
    bool reg_in_brackets;
};

struct decoder {
    struct sass_code *code;
    const struct sass_text *text;
    uint64_t low, high;
    uint32_t pc;
    const struct sass_symbol *symbols;
    int n_symbols;
    struct sass_inst *i;
    struct sass_exec *x;
    char name[24], modifier[MAX_MODIFIERS][24];
    bool used[MAX_MODIFIERS];
    int n_modifiers;
    struct operand op[MAX_OPERANDS];
    int n, next; /* operands, and how many were taken */
    bool bad;
};

/* The mnemonics of a file, up to one without a function. */
struct sd_mnemonic {
    enum sass_op op;
    void (*decode)(struct decoder *c);
};
extern const struct sd_mnemonic sd_int[], sd_float[], sd_convert[], sd_memory_ops[], sd_flow[];

/* Name, modifiers and operands of the text; NULL or what is wrong with it. */
const char *sd_split(struct decoder *c);
bool sd_parse_operand(const char *s, struct operand *o);

extern const struct sass_pred sd_none_true, sd_none_false;
bool sd_mod(struct decoder *c, const char *name);
void sd_must(struct decoder *c, const char *name);
bool sd_at(const struct decoder *c, enum kind kind);
struct operand *sd_take(struct decoder *c);
uint32_t sd_constant(struct decoder *c, uint32_t value);
uint32_t sd_row_of(struct decoder *c, enum kind kind, int number, int n, int align);
/* n registers written, R or UR */
void sd_dst(struct decoder *c, int n);
void sd_reads(struct decoder *c, enum kind kind, int number, int slot, int n);
/* Source `slot`: n registers, or an immediate. as_float: signs are bits, and the immediate is in
 * the word. */
void sd_source(struct decoder *c, int slot, int n, bool as_float);
void sd_isrc(struct decoder *c, int slot);
void sd_fsrc(struct decoder *c, int slot);
/* The same without signs. */
void sd_plain(struct decoder *c, int slot, int n);
uint8_t sd_pdst(struct decoder *c);
struct sass_pred sd_psrc(struct decoder *c);
bool sd_at_pred(const struct decoder *c);
uint32_t sd_number(struct decoder *c);
void sd_set(struct decoder *c, sass_handler *run);
/* The rounding that a modifier says, as fesetround() has it. */
uint32_t sd_rounding(struct decoder *c);
/* fp64: a pair of registers with a sign, or an immediate, of which the word has the upper half. */
void sd_double(struct decoder *c, int slot);
/* The comparison of floats that a modifier says, and how it is joined. */
uint8_t sd_comparison(struct decoder *c);
/* AND, OR, XOR: how a comparison's result is joined with a predicate. */
uint8_t sd_joined(struct decoder *c);
/* An address in shared memory. */
void sd_shared_address(struct decoder *c);
/* desc[UR][R.64+n], of sm_89 [R.64+n]; or generic: [R+n] with a pair */
int32_t sd_global_address(struct decoder *c, int slot, enum kind kind);
int sd_width(struct decoder *c);
/* Of a load, which may also be of signed numbers (mode). */
int sd_load_width(struct decoder *c);
void sd_memory(struct decoder *c, enum sass_memory m, int bytes);
int sd_words(int bytes);
