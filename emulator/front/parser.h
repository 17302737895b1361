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
    bool is_call_param;      /* .param inside a body: kept in local memory */
    char param_kind;         /* of a kernel's: 'f' real, 'u' whole, 0 anything */
    bool is_dynamic;         /* the extern shared array */
    struct emu_array *array; /* a static shared one */
    uint64_t value;
    uint64_t size;
    bool in_frame; /* of the function that is being read: rows hold its address */
    /* functions: where the text behind .func begins, 0: declared only; value is the address */
    uint32_t body;
    bool is_taken;
    struct symbol *next_taken; /* another one whose address an initial value has */
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
enum { RESERVED_SHARED = 1024 }; /* bytes, as on every chip since sm_80 */

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
        bool wide, is_address; /* of a shared variable */
        uint32_t row;
    } * constant;
    uint32_t n_constants, constant_capacity, drawn_capacity;
    struct location here;
    int n_frames;
    struct emu_frame frame[EMU_FRAMES]; /* of the last .loc */
    struct inlined *inlined;
    uint32_t n_inlined, inlined_capacity;
    uint32_t reserved_at;    /* the system's own shared memory; UINT32_MAX: the kernel names none */
    uint32_t dynamic_align;  /* of the extern shared array */
    uint32_t dynamic_offset; /* where that array starts in this kernel */
    uint32_t module_shared;  /* .shared variables outside kernels: every kernel has them */
    uint32_t module_align;   /* their largest alignment */
    jmp_buf *failed; /* where ptx_fail goes: to the next statement, while a kernel is read */
    struct problem *problems; /* of that kernel, the last one first */
    bool in_body;
    /* functions that the kernel being read may call; the one being read, NULL: the kernel itself */
    struct symbol **called;
    uint32_t called_capacity, function_capacity;
    struct emu_function *function;
    uint32_t saved_capacity, frame_capacity;
    struct call_edge *edges;
    uint32_t n_functions; /* of the module, so far */
    uint32_t *entry;      /* where its kernels begin: behind .entry */
    uint32_t n_entries, entry_capacity;
    bool calls_by_address;
    struct symbol *taken;  /* functions whose addresses initial values have */
    uint32_t after_kernel; /* the token behind the kernel, while functions are read */
    int depth;             /* of its braces */
    const char *why;
};

/* parser.c */
_Noreturn void ptx_fail(struct parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void *ptx_alloc(struct parser *p, size_t bytes); /* from the arena; fails the parse */
/* Makes room for one more element of `size` in an array of n; doubles it. */
void *ptx_grow(struct parser *p, void *array, uint32_t n, uint32_t *capacity, size_t size);

/* refuse.c: a kernel that holds what is not understood is read on to its end, and refused when it
 * is launched, with all of it at once */
_Noreturn void ptx_unknown(struct parser *p, const char *opcode);
void ptx_note_problem(struct parser *p, const char *text, bool is_form);
const char *ptx_refusal(struct parser *p); /* a sentence, from p->problems */

/* supplied.c: what is to stand behind the text; "" most often */
const char *ptx_supplied(const char *text, size_t bytes);

/* lex.c: text -> tokens, and taking them */
void ptx_lex(struct parser *p, const char *text, size_t bytes);
static inline struct token *ptx_peek(struct parser *p) { return &p->token[p->at]; }
bool ptx_is(const struct token *t, const char *word);
bool ptx_accept(struct parser *p, char punct);
void ptx_expect(struct parser *p, char punct);
struct token *ptx_word(struct parser *p);
uint64_t ptx_integer(struct parser *p);
char *ptx_string(struct parser *p, const struct token *t); /* a terminated copy */

/* declare.c: names, and what declares them */
struct symbol *ptx_find(struct parser *p, const struct token *name);
struct symbol *ptx_declare(struct parser *p, const struct token *name, enum symbol_kind kind);
void ptx_push_scope(struct parser *p);
void ptx_pop_scope(struct parser *p);
void ptx_drop_scopes(struct parser *p, struct scope *down_to); /* whatever they left undefined */
bool ptx_declaration(struct parser *p); /* false: the next token starts none */
void ptx_params(struct parser *p);      /* of a kernel */
/* One .param behind `top`, which grows; of a kernel or a function. */
struct symbol *ptx_parameter(struct parser *p, uint32_t *top);

/* parse.c: statements */
void ptx_parse(struct parser *p);
void ptx_body(struct parser *p); /* statements up to the brace that closes the body */
void ptx_skip_braces(struct parser *p);

/* function.c: .func, read for each kernel that may call it */
void ptx_function(struct parser *p);                     /* notes where it stands */
uint32_t ptx_called(struct parser *p, struct symbol *s); /* the kernel's number of it */
void ptx_read_called(struct parser *p);                  /* behind the kernel's own code */
uint32_t ptx_frame_row(struct parser *p, uint32_t offset, bool wide);
void ptx_save_row(struct parser *p, uint32_t row, uint8_t bytes);

/* forms.c: opcode -> its line of a form table, NULL if there is none. *opcode becomes the same with
 * its modifiers in the table's order. */
const struct emu_form *ptx_form(struct parser *p, const char **opcode);

/* lower.c: opcode and operands up to ';' -> one emu_inst */
void ptx_instruction(struct parser *p, uint32_t guard, bool negated);
void ptx_finish_kernel(struct parser *p);

/* ---- One instruction being lowered ----------------------------------------------------------- */

enum { MAX_OPERANDS = 72 };

struct lowering {
    struct parser *p;
    struct emu_inst *inst;
    struct emu_operand op[MAX_OPERANDS];
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
/* arrays.c: fills k->array, with memory of alloc(user, bytes) */
void emu_find_arrays(struct emu_kernel *k, void *(*alloc)(void *user, size_t bytes), void *user);
/* merge.c: finds loads that ptxas joins, for the counts */
void emu_join_loads(struct emu_kernel *k);
void emu_fetch_ahead(struct emu_kernel *k); /* ahead.c */
/* anew.c: fills k->anew, with memory of alloc(user, bytes) */
void emu_find_anew(struct emu_kernel *k, void *(*alloc)(void *user, size_t bytes), void *user);
