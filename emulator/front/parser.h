/* The front end's own structures, and its functions in the order in which an instruction meets
 * them: README.md walks that way. */
#pragma once

#include "arena.h"

#include "emulator/core/memory.h"
#include "emulator/core/state.h"

#include <setjmp.h>

/* ---- Tokens ---------------------------------------------------------------------------------- */

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_PUNCT };

struct token {
    enum token_kind kind;
    char punct;
    uint8_t float_bytes; /* of a number: 0 integer, 4 or 8 for 0f... and 0d... */
    int line;
    uint32_t length;
    const char *text; /* in the file; not terminated */
    uint64_t value;
};

/* ---- Names ----------------------------------------------------------------------------------- */

enum symbol_kind { SYMBOL_REGISTER, SYMBOL_VARIABLE, SYMBOL_LABEL, SYMBOL_FUNCTION };

struct symbol {
    struct symbol *chain;   /* same hash bucket */
    struct symbol *sibling; /* declared before it in the same scope */
    const char *name;
    uint32_t length;
    enum symbol_kind kind;
    /* registers: %r<n> is one symbol "%r" */
    uint8_t bytes;   /* 0: predicate; else 2, 4, 8 of the declaration (1 counts as 2) */
    uint32_t n_rows; /* 0: no <n> */
    uint32_t *rows;  /* allocated when first used; 0: not yet */
    /* variables: offset in its space; for .global and .const the address */
    enum emu_space space;
    bool is_call_param; /* .param inside a body: kept in local memory */
    bool is_dynamic;    /* the extern shared array */
    uint64_t value;
    uint64_t size;
    /* labels */
    uint32_t pc;
    uint32_t *targets; /* of a .branchtargets list */
    struct token *target_names;
    uint32_t n_targets;
};

struct scope {
    struct scope *parent;
    struct symbol *symbols; /* linked by sibling */
    struct label_use *uses; /* not yet resolved */
};

struct label_use {
    struct label_use *next;
    struct token name;
    int64_t *where; /* takes the pc */
};

enum { SYMBOL_BUCKETS = 4096 };

struct emu_module {
    struct emu_arena arena;
    struct emu_memory *memory;
    const char *name;
    struct emu_kernel **kernel;
    int n_kernels;
    struct {
        const char *name;
        uint64_t address, bytes;
    } * variable; /* .global and .const */
    int n_variables;
    const char **file; /* .file n "..." */
    uint32_t n_files;
};

/* ---- The parser ------------------------------------------------------------------------------ */

struct location { /* of the last .loc, and where that place was inlined */
    uint32_t file, line, column;
};
struct inlined {
    struct location inner, outer;
};

struct parser {
    struct emu_module *module;
    struct token *token; /* all of them */
    uint32_t n_tokens, at;
    struct symbol *bucket[SYMBOL_BUCKETS];
    struct scope *scope;
    /* the kernel being read */
    struct emu_kernel *kernel;
    uint32_t inst_capacity, row_capacity;
    uint32_t pred_row, pred_used; /* the row that predicates are carved from */
    struct {
        uint64_t value;
        bool wide;
        uint32_t row;
    } * constant;
    uint32_t n_constants, constant_capacity;
    struct location here;
    int n_frames;
    struct emu_frame frame[EMU_FRAMES]; /* of the last .loc */
    struct inlined *inlined;
    uint32_t n_inlined, inlined_capacity;
    uint32_t dynamic_align;  /* of the extern shared array */
    uint32_t dynamic_offset; /* where that array starts in this kernel */
    uint32_t module_shared;  /* .shared variables outside kernels: every kernel has them */
    jmp_buf failed;
    const char *why;
};

/* parser.c */
_Noreturn void ptx_fail(struct parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void *ptx_alloc(struct parser *p, size_t bytes); /* from the arena; fails the parse */
/* Makes room for one more element of `size` in an array of n; doubles it. */
void *ptx_grow(struct parser *p, void *array, uint32_t n, uint32_t *capacity, size_t size);

/* lex.c: text -> tokens, and taking them */
void ptx_lex(struct parser *p, const char *text, size_t bytes);
static inline struct token *ptx_peek(struct parser *p) { return &p->token[p->at]; }
bool ptx_is(const struct token *t, const char *word);
bool ptx_accept(struct parser *p, char punct);
void ptx_expect(struct parser *p, char punct);
struct token *ptx_word(struct parser *p);
uint64_t ptx_integer(struct parser *p);
const char *ptx_string(struct parser *p, const struct token *t); /* a terminated copy */

/* declare.c: names, and what declares them */
struct symbol *ptx_find(struct parser *p, const struct token *name);
struct symbol *ptx_declare(struct parser *p, const struct token *name, enum symbol_kind kind);
void ptx_push_scope(struct parser *p);
void ptx_pop_scope(struct parser *p);
bool ptx_declaration(struct parser *p); /* false: the next token starts none */
void ptx_params(struct parser *p);      /* of a kernel */

/* parse.c: statements */
void ptx_parse(struct parser *p);

/* lower.c: opcode and operands up to ';' -> one emu_inst */
void ptx_instruction(struct parser *p, uint32_t guard, bool negated);
void ptx_finish_kernel(struct parser *p);

/* ---- One instruction being lowered ----------------------------------------------------------- */

enum { MAX_OPERANDS = 72 };

struct lowering {
    struct parser *p;
    struct emu_inst *inst;
    struct emu_operand op[MAX_OPERANDS];
    int64_t *label_at[MAX_OPERANDS]; /* operands that wait for a label */
    struct token label[MAX_OPERANDS];
    bool is_label[MAX_OPERANDS];
    int n;
};

/* resolve.c: operands -> rows */
uint32_t ptx_new_row(struct parser *p, uint32_t bytes);
uint32_t ptx_register_row(struct parser *p, struct symbol *s, const struct token *name);
/* Reads the operands as the form's signature wants them. */
void ptx_operands(struct lowering *l, const char *signature);

/* ---- A kernel that is complete --------------------------------------------------------------- */

/* order.c: rank[pc], such that running the lowest rank first reconverges */
void emu_order(struct emu_kernel *k, uint32_t *rank);
/* merge.c: finds loads that ptxas joins, for the counts */
void emu_join_loads(struct emu_kernel *k);
