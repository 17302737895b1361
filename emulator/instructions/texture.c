/* Textures and surfaces, by the arithmetic of the CUDA programming guide (its appendix on texture
 * fetching): filter weights have 8 bits behind the point, so that a result is exact only where the
 * weights are. There is one level: those of a mipmap are not modelled. */
#include "emulator/core/texture.h"

#include "lanes.h"

#include "common/cuda/half.h"
#include "emulator/core/failed_check.h"
#include "emulator/core/footprint.h"
#include "emulator/core/reach.h"

#include <math.h>

enum { AUX_DIMENSIONS, AUX_LAYERED, AUX_CUBE, AUX_BYTES, AUX_EDGE };

/* An object and the memory of its texels, which has the addresses 0 to t->bytes. */
struct object {
    const struct emu_texture *t;
    struct emu_room texels;
};

/* False: reported. */
static bool find(struct emu_warp *w, const struct emu_inst *i, uint64_t handle, bool surface,
                 struct object *out) {
    const struct emu_memory *m = w->block->launch->memory;
    const struct emu_texture *t = emu_texture_find(m, handle);
    const char *kind = surface ? "surface" : "texture";
    if (!t || t->is_surface != surface) {
        emu_report(
            EMU_BAD_GLOBAL, w, i, NULL,
            "%#llx is the handle of no %s object, or of one that was destroyed: take it from "
            "cudaCreate%sObject",
            (unsigned long long)handle, kind, surface ? "Surface" : "Texture");
        return false;
    }
    struct emu_allocation *a = emu_memory_find(m, t->data);
    *out = (struct object){t, emu_room_part(emu_room_of(a), t->data, t->bytes)};
    if (!out->texels.bytes) {
        emu_report(EMU_BAD_GLOBAL, w, i, NULL,
                   "the memory behind the %s object was freed: destroy the object first", kind);
        return false;
    }
    emu_memory_touch(a, surface ? EMU_ATOM : EMU_READ, a->base, a->end);
    if (a->footprint && !surface)
        emu_footprint_mark(a->footprint, EMU_READ, t->data, t->data + t->bytes);
    return true;
}

/* Where [x, x + bytes) of a row lies: x in bytes, y and z in rows and slices. */
static struct emu_place texel_place(const struct object *o, uint64_t x, uint64_t y, uint64_t z,
                                    uint64_t bytes, enum emu_access what) {
    return emu_reach(o->texels, z * o->t->slice + y * o->t->pitch + x, bytes, what);
}

/* ---- Texels ---------------------------------------------------------------------------------- */

struct texel {
    uint32_t bits[4]; /* as registers hold them */
};

static uint32_t convert(const struct emu_texture *t, const unsigned char *from) {
    int32_t s = 0;
    uint32_t u = 0;
    unsigned bits = 8u * t->channel_bytes;
    memcpy(&u, from, t->channel_bytes);
    if (t->texel == EMU_TEXEL_FLOAT) return bits == 16 ? float_bits(half_to_float((uint16_t)u)) : u;
    if (t->texel == EMU_TEXEL_SIGNED) s = (int32_t)(u << (32 - bits)) >> (32 - bits);
    if (!t->as_fraction) return t->texel == EMU_TEXEL_SIGNED ? (uint32_t)s : u;
    float most = (float)((1u << (bits - (t->texel == EMU_TEXEL_SIGNED))) - 1);
    float f = t->texel == EMU_TEXEL_SIGNED ? fmaxf((float)s / most, -1) : (float)u / most;
    return float_bits(f);
}

/* at[] in texels. An edge that is no edge mode of the texture is the caller's. */
static struct texel read_texel(const struct object *o, const int64_t at[3]) {
    const struct emu_texture *t = o->t;
    struct texel out = {{0}};
    int64_t inside[3];
    for (int d = 0; d < 3; d++) {
        int64_t n = t->extent[d], x = at[d];
        enum emu_texture_edge edge = (enum emu_texture_edge)t->edge[d];
        bool out_of_range = x < 0 || x >= n;
        if (out_of_range && (t->is_buffer || edge == EMU_EDGE_BORDER)) {
            for (int c = 0; c < 4; c++) out.bits[c] = float_bits(t->is_buffer ? 0 : t->border[c]);
            return out;
        }
        if (out_of_range && edge == EMU_EDGE_WRAP && t->normalized)
            x = (x % n + n) % n;
        else if (out_of_range && edge == EMU_EDGE_MIRROR && t->normalized)
            x = (x % (2 * n) + 2 * n) % (2 * n), x = x < n ? x : 2 * n - 1 - x;
        inside[d] = x < 0 ? 0 : x >= n ? n - 1 : x;
    }
    const uint64_t bytes = (uint64_t)t->channels * t->channel_bytes;
    struct emu_place from = texel_place(o, (uint64_t)inside[0] * bytes, (uint64_t)inside[1],
                                        (uint64_t)inside[2], bytes, EMU_READ);
    for (int c = 0; from.byte && c < t->channels; c++)
        out.bits[c] = convert(t, from.byte + c * t->channel_bytes);
    return out;
}

/* ---- Filters --------------------------------------------------------------------------------- */

/* A coordinate as the edge mode leaves it, in texels. */
static float place(const struct emu_texture *t, int d, float x) {
    if (!t->normalized) return x;
    float whole = floorf(x);
    if (t->edge[d] == EMU_EDGE_WRAP) x -= whole;
    if (t->edge[d] == EMU_EDGE_MIRROR) x = fmodf(whole, 2) != 0 ? 1 - (x - whole) : x - whole;
    return x * (float)t->extent[d];
}

static int64_t texel_at(float x) { /* far outside stays outside */
    return x != x ? 0 : (int64_t)fminf(fmaxf(floorf(x), -1e9f), 1e9f);
}

/* x[0..n) are coordinates, z a layer or face where n < 3. */
static struct texel sample(const struct object *o, int n, const float x[3], int64_t z) {
    const struct emu_texture *t = o->t;
    int64_t at[3] = {0, 0, z}, low[3] = {0, 0, z};
    float weight[3] = {0};
    for (int d = 0; d < n; d++) {
        float p = place(t, d, x[d]);
        if (!t->linear) {
            at[d] = texel_at(p);
            continue;
        }
        p -= 0.5f;
        low[d] = texel_at(p);
        weight[d] = floorf((p - floorf(p)) * 256 + 0.5f) / 256;
    }
    if (!t->linear) return read_texel(o, at);
    float sum[4] = {0};
    for (int corner = 0; corner < 1 << n; corner++) {
        float part = 1;
        for (int d = 0; d < 3; d++) {
            bool far = corner >> d & 1;
            at[d] = low[d] + far;
            if (d < n) part *= far ? weight[d] : 1 - weight[d];
        }
        if (part == 0) continue; /* not read, so that an infinity there does no harm */
        struct texel one = read_texel(o, at);
        for (int c = 0; c < 4; c++) sum[c] += part * bits_float(one.bits[c]);
    }
    struct texel out;
    for (int c = 0; c < 4; c++) out.bits[c] = float_bits(sum[c]);
    return out;
}

/* The face that direction v points at, and where on it, from 0 to 1. */
static int cube_face(const float v[3], float out[2]) {
    float x = fabsf(v[0]), y = fabsf(v[1]), z = fabsf(v[2]), m, s, u;
    int face;
    if (x >= y && x >= z) {
        face = v[0] < 0;
        m = x, s = face ? v[2] : -v[2], u = -v[1];
    } else if (y >= z) {
        face = 2 + (v[1] < 0);
        m = y, s = v[0], u = v[1] < 0 ? -v[2] : v[2];
    } else {
        face = 4 + (v[2] < 0);
        m = z, s = v[2] < 0 ? -v[0] : v[0], u = -v[1];
    }
    out[0] = (s / m + 1) / 2;
    out[1] = (u / m + 1) / 2;
    return face;
}

/* ---- tex: op[0] the four results, op[1] the handle, op[2] the coordinates --------------------- */

static enum emu_step tex(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    const uint64_t *handle = emu_row64(w, i->op[1].row);
    const uint32_t *row = i->op[2].rows;
    bool is_real = i->type[i->n_types - 1] == EMU_F32;
    int n = i->aux[AUX_DIMENSIONS], first = i->aux[AUX_LAYERED];
    struct object o = {0};
    uint64_t known = 0;
    EMU_EACH_LANE(l, mask) {
        if ((!o.t || handle[l] != known) && !find(w, i, known = handle[l], false, &o))
            return EMU_STOP;
        int64_t at[3] = {0, 0, 0}, z = first ? (int32_t)emu_row32(w, row[0])[l] : 0;
        float x[3] = {0};
        for (int d = 0; d < n; d++) {
            uint32_t bits = emu_row32(w, row[first + d])[l];
            x[d] = bits_float(bits);
            at[d] = (int32_t)bits;
        }
        int filtered = n;
        if (i->aux[AUX_CUBE]) {
            z = 6 * z + cube_face(x, x);
            filtered = 2;
        }
        if (filtered < 3) at[2] = z;
        struct texel out = is_real ? sample(&o, filtered, x, z) : read_texel(&o, at);
        for (int c = 0; c < 4; c++) emu_row32(w, i->op[0].rows[c])[l] = out.bits[c];
        w->count[i->pc].bytes += (uint64_t)o.t->channels * o.t->channel_bytes;
    }
    return EMU_NEXT;
}

static bool read_geometry(struct emu_inst *i, int handle) {
    static const struct {
        const char *name;
        int dimensions, layered, cube;
    } known[] = {{"1d", 1, 0, 0},  {"2d", 2, 0, 0},   {"3d", 3, 0, 0},   {"a1d", 1, 1, 0},
                 {"a2d", 2, 1, 0}, {"cube", 3, 0, 1}, {"acube", 3, 1, 1}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (!emu_has(i, known[k].name)) continue;
        i->aux[AUX_DIMENSIONS] = known[k].dimensions;
        i->aux[AUX_LAYERED] = known[k].layered;
        i->aux[AUX_CUBE] = known[k].cube;
    }
    const struct emu_operand *at = &i->op[handle + 1];
    return i->op[handle].wide && at->n >= i->aux[AUX_DIMENSIONS] + i->aux[AUX_LAYERED];
}

emu_handler *emu_select_tex(struct emu_inst *i, const char **why) {
    *why = "the handle is no 64-bit register, or there are too few coordinates";
    if (!read_geometry(i, 1)) return NULL;
    *why = "a texture gives four values";
    return i->op[0].n == 4 ? tex : NULL;
}

/* ---- suld, sust: x counts bytes --------------------------------------------------------------- */

enum { OUTSIDE_TRAPS, OUTSIDE_CLAMPS, OUTSIDE_ZERO };

/* The element of lane l; nowhere: there is none, *status says what follows. */
static struct emu_place element(struct emu_warp *w, const struct emu_inst *i, uint32_t l,
                                int handle, bool store, enum emu_step *status) {
    const struct emu_operand *at = &i->op[handle + 1];
    const struct emu_place nowhere = {NULL};
    struct object o = {0};
    bool known = find(w, i, emu_row64(w, i->op[handle].row)[l], true, &o);
    const struct emu_texture *t = o.t;
    int n = i->aux[AUX_DIMENSIONS], first = i->aux[AUX_LAYERED];
    int64_t x[3] = {0}, bytes = i->aux[AUX_BYTES];
    *status = EMU_STOP;
    if (!known) return nowhere;
    for (int d = 0; d < n; d++) x[d] = (int32_t)emu_row32(w, at->rows[first + d])[l];
    if (first) x[2] = (int32_t)emu_row32(w, at->rows[0])[l];
    *status = EMU_NEXT;
    for (int d = 0; d < 3; d++) {
        int64_t most =
            d ? t->extent[d] - 1 : (int64_t)t->extent[0] * t->channels * t->channel_bytes - bytes;
        if (x[d] >= 0 && x[d] <= most && (d || x[0] % bytes == 0)) continue;
        if (i->aux[AUX_EDGE] == OUTSIDE_TRAPS || (d == 0 && x[0] % bytes)) {
            emu_report(
                EMU_BAD_GLOBAL, w, i, NULL,
                "lane %d: (%lld, %lld, %lld), x in bytes, is outside a surface of %u x %u x %u "
                "elements of %d bytes",
                l, (long long)x[0], (long long)x[1], (long long)x[2], t->extent[0], t->extent[1],
                t->extent[2], t->channels * t->channel_bytes);
            *status = EMU_STOP;
            return nowhere;
        }
        if (i->aux[AUX_EDGE] == OUTSIDE_ZERO || most < 0) return nowhere;
        x[d] = x[d] < 0 ? 0 : most;
    }
    w->count[i->pc].bytes += (uint64_t)bytes;
    return texel_place(&o, (uint64_t)x[0], (uint64_t)x[1], (uint64_t)x[2], (uint64_t)bytes,
                       store ? EMU_WRITE : EMU_READ);
}

/* Between memory and register k of the group, `bytes` of it. */
static void move(struct emu_warp *w, const struct emu_operand *group, int k, uint32_t l,
                 unsigned char *at, unsigned bytes, bool store) {
    uint64_t value = 0;
    if (store) {
        value = group->wide ? emu_row64(w, group->rows[k])[l] : emu_row32(w, group->rows[k])[l];
        memcpy(at, &value, bytes);
        return;
    }
    if (at) memcpy(&value, at, bytes);
    if (group->wide)
        emu_row64(w, group->rows[k])[l] = value;
    else
        emu_row32(w, group->rows[k])[l] = (uint32_t)value;
}

static enum emu_step surface(struct emu_warp *w, const struct emu_inst *i, uint32_t mask,
                             bool store) {
    const struct emu_operand *group = &i->op[store ? 2 : 0];
    unsigned bytes = (unsigned)i->aux[AUX_BYTES] / i->vec;
    enum emu_step status;
    EMU_EACH_LANE(l, mask) {
        struct emu_place at = element(w, i, l, store ? 0 : 1, store, &status);
        if (status == EMU_STOP) return EMU_STOP;
        if (!at.byte && store) continue;
        for (int k = 0; k < i->vec; k++)
            move(w, group, k, l, at.byte ? at.byte + (unsigned)k * bytes : NULL, bytes, store);
    }
    w->effects += store;
    return EMU_NEXT;
}
static enum emu_step suld(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    return surface(w, i, mask, false);
}
static enum emu_step sust(struct emu_warp *w, const struct emu_inst *i, uint32_t mask) {
    return surface(w, i, mask, true);
}

emu_handler *emu_select_surface(struct emu_inst *i, const char **why) {
    bool store = i->opcode[2] == 's';
    const struct emu_operand *group = &i->op[store ? 2 : 0];
    unsigned bytes = emu_type_bytes((enum emu_type)i->type[i->n_types - 1]);
    i->aux[AUX_BYTES] = (int32_t)(bytes * i->vec);
    i->aux[AUX_EDGE] = emu_has(i, "clamp")  ? OUTSIDE_CLAMPS
                       : emu_has(i, "zero") ? OUTSIDE_ZERO
                                            : OUTSIDE_TRAPS;
    *why = "the handle is no 64-bit register, or there are too few coordinates";
    if (!read_geometry(i, store ? 0 : 1)) return NULL;
    *why = "the number or width of the registers does not fit";
    if (group->n != i->vec || group->wide != (bytes == 8)) return NULL;
    return store ? sust : suld;
}
