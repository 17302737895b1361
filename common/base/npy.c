#include "npy.h"
#include "reason.h"
#include "heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_HEADER = 65536, PREFIX = 8 };

/* ---- The header: a Python dictionary with three known keys ----------------------------------- */

struct header {
    char descr[8];
    bool fortran_order;
    int rank;
    int64_t shape[8];
    bool has_descr, has_order, has_shape;
};

static const char *skip_space(const char *p) {
    while (*p == ' ' || *p == '\t' || *p == '\n') p++;
    return p;
}

/* 'text' or "text" at p: copied to out, which must have room. Returns what follows, or NULL. */
static const char *parse_string(const char *p, char *out, size_t out_bytes) {
    char quote = *p;
    if (quote != '\'' && quote != '"') return NULL;
    const char *end = strchr(p + 1, quote);
    if (!end || (size_t)(end - p - 1) >= out_bytes) return NULL;
    memcpy(out, p + 1, end - p - 1);
    out[end - p - 1] = 0;
    return end + 1;
}

/* (1, 8, 512, 64) or (3,) or () at p. */
static const char *parse_shape(const char *p, struct header *h) {
    if (*p++ != '(') return NULL;
    for (h->rank = 0;; h->rank++) {
        p = skip_space(p);
        if (*p == ')') return p + 1;
        if (h->rank == 8 || *p < '0' || *p > '9') return NULL;
        int64_t n = 0;
        for (; *p >= '0' && *p <= '9'; p++)
            if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *p - '0', &n))
                return NULL;
        h->shape[h->rank] = n;
        p = skip_space(p);
        if (*p == ',')
            p++;
        else if (*p != ')')
            return NULL;
    }
}

static const char *parse_value(const char *p, const char *key, struct header *h) {
    if (!strcmp(key, "descr") && !h->has_descr) {
        h->has_descr = true;
        return parse_string(p, h->descr, sizeof h->descr);
    }
    if (!strcmp(key, "fortran_order") && !h->has_order) {
        h->has_order = true;
        h->fortran_order = !strncmp(p, "True", 4);
        return h->fortran_order ? p + 4 : !strncmp(p, "False", 5) ? p + 5 : NULL;
    }
    if (!strcmp(key, "shape") && !h->has_shape) {
        h->has_shape = true;
        return parse_shape(p, h);
    }
    return NULL;
}

static bool parse_header(const char *p, struct header *h) {
    *h = (struct header){0};
    p = skip_space(p);
    if (*p++ != '{') return false;
    for (;;) {
        p = skip_space(p);
        if (*p == '}') break;
        char key[16];
        if (!(p = parse_string(p, key, sizeof key))) return false;
        p = skip_space(p);
        if (*p++ != ':') return false;
        if (!(p = parse_value(skip_space(p), key, h))) return false;
        p = skip_space(p);
        if (*p == ',')
            p++;
        else if (*p != '}')
            return false;
    }
    return *skip_space(p + 1) == 0 && h->has_descr && h->has_order && h->has_shape;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static const char *check_size(const char *path, const struct header *h, int64_t element_bytes,
                              int64_t *n_bytes) {
    int64_t bytes = element_bytes;
    bool empty = false;
    if (h->fortran_order)
        return reason("%s is in Fortran order; save numpy.ascontiguousarray(array)", path);
    for (int i = 0; i < h->rank; i++) {
        if (h->shape[i] > INT32_MAX) return reason("%s: dimension %d is 2^31 or more", path, i);
        empty |= !h->shape[i];
    }
    for (int i = 0; i < h->rank && !empty; i++)
        if (__builtin_mul_overflow(bytes, h->shape[i], &bytes))
            return reason("%s: its shape overflows 64 bits", path);
    *n_bytes = empty ? 0 : bytes;
    return NULL;
}

static const char *check_tensor(const char *path, const struct header *h, int64_t *n_bytes) {
    if (h->rank != 4)
        return reason("%s has %d dimensions, not 4: (batch, heads, seqlen, head_dim)", path,
                      h->rank);
    return check_size(path, h, 2, n_bytes);
}

static const char *check_half(const char *path, const struct header *h, int64_t *n_bytes) {
    if (!strcmp(h->descr, ">f2"))
        return reason("%s is big-endian; save it as little-endian: array.astype('<f2')", path);
    if (strcmp(h->descr, "<f2"))
        return reason("%s holds '%s', not fp16; save array.astype('<f2')", path, h->descr);
    return check_tensor(path, h, n_bytes);
}

/* NumPy has no bf16: its bits are kept as 16-bit integers, and ml_dtypes writes them as V2. */
static const char *check_bf16(const char *path, const struct header *h, int64_t *n_bytes) {
    if (strcmp(h->descr, "<u2") && strcmp(h->descr + 1, "V2"))
        return reason("%s holds '%s', not the bits of bf16; save array.view('<u2')", path,
                      h->descr);
    return check_tensor(path, h, n_bytes);
}

static const char *check_any(const char *path, const struct header *h, int64_t *n_bytes) {
    int bytes = atoi(h->descr + 2); /* of zeros where it is shorter */
    bool plain = strchr("<|", h->descr[0]) && strchr("fiub", h->descr[1]);
    if (!plain || (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8))
        return reason("%s holds '%s', not little-endian numbers", path, h->descr);
    return check_size(path, h, bytes, n_bytes);
}

/* Reads magic, version and header; the file then stands at the data, `data_at` bytes in. */
static const char *read_header(const char *path, FILE *f, struct header *h, int64_t *data_at) {
    unsigned char start[PREFIX + 4];
    if (fread(start, 1, PREFIX, f) != PREFIX || memcmp(start, "\x93NUMPY", 6))
        return reason("%s is not a .npy file; write one with numpy.save", path);
    int major = start[6], length_bytes = major == 1 ? 2 : 4;
    if (major < 1 || major > 3)
        return reason("%s is a .npy file of version %d; versions 1 to 3 are read", path, major);
    if (fread(start + PREFIX, 1, length_bytes, f) != (size_t)length_bytes)
        return reason("%s is cut short in its header", path);
    uint32_t length = 0;
    for (int i = length_bytes; i-- > 0;) length = length << 8 | start[PREFIX + i];
    if (length > MAX_HEADER)
        return reason("%s has a header of %u bytes; it is damaged", path, length);
    char *text = heap_take(length + 1);
    const char *why = NULL;
    if (fread(text, 1, length, f) != length)
        why = reason("%s is cut short in its header", path);
    else {
        text[length] = 0;
        if (strlen(text) != length || !parse_header(text, h))
            why = reason("%s has a header that is not NumPy's; it is damaged", path);
    }
    free(text);
    *data_at = PREFIX + length_bytes + (int64_t)length;
    return why;
}

typedef const char *header_check(const char *path, const struct header *h, int64_t *n_bytes);

static const char *read_array(const char *path, header_check *check, struct header *h, void **data,
                              int64_t *n_bytes) {
    const char *why = NULL;
    void *to = NULL;
    *data = NULL;
    int fd =
        open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe without a writer must not block */
    FILE *f = fd < 0 ? NULL : fdopen(fd, "rb");
    if (!f) {
        why = reason("cannot open %s: %s", path, strerror(errno));
        if (fd >= 0) close(fd);
        return why;
    }
    struct stat status;
    if (fstat(fileno(f), &status)) {
        why = reason("cannot examine %s: %s", path, strerror(errno));
        goto done;
    }
    if (!S_ISREG(status.st_mode)) {
        why = reason("%s is %s, not a .npy file", path,
                     S_ISDIR(status.st_mode) ? "a directory" : "no regular file");
        goto done;
    }
    int64_t bytes, data_at = 0;
    if ((why = read_header(path, f, h, &data_at)) || (why = check(path, h, &bytes))) goto done;
    if (status.st_size - data_at != bytes) {
        why = reason("%s %s: its shape asks for %lld bytes of data, it has %lld", path,
                     status.st_size - data_at < bytes ? "is cut short" : "has data past its end",
                     (long long)bytes, (long long)(status.st_size - data_at));
        goto done;
    }
    to = malloc(bytes ? bytes : 1);
    if (!to) {
        why =
            reason_as(STATUS_DEVICE, "no memory for the %lld bytes of %s", (long long)bytes, path);
        goto done;
    }
    if (fread(to, 1, bytes, f) != (size_t)bytes) {
        why =
            reason("cannot read %s: %s", path, ferror(f) ? strerror(errno) : "it shrank meanwhile");
        goto done;
    }
    *n_bytes = bytes;
    *data = to;
    to = NULL;
done:
    free(to);
    fclose(f);
    return why;
}

static const char *read_tensor(const char *path, header_check *check, int64_t shape[4],
                               half **data) {
    struct header h;
    int64_t bytes;
    void *read;
    const char *why = read_array(path, check, &h, &read, &bytes);
    *data = read;
    if (!why) memcpy(shape, h.shape, 4 * sizeof shape[0]);
    return why;
}

const char *npy_read_half(const char *path, int64_t shape[4], half **data) {
    return read_tensor(path, check_half, shape, data);
}

const char *npy_read_bf16(const char *path, int64_t shape[4], half **data) {
    return read_tensor(path, check_bf16, shape, data);
}

const char *npy_read(const char *path, struct npy *out) {
    struct header h;
    int64_t bytes;
    const char *why = read_array(path, check_any, &h, &out->data, &bytes);
    if (why) return why;
    memcpy(out->descr, h.descr, sizeof out->descr);
    memcpy(out->shape, h.shape, sizeof out->shape);
    out->rank = h.rank;
    out->bytes = (size_t)bytes;
    return NULL;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static const char *write_all(int fd, const void *data, size_t bytes) {
    for (const char *p = data; bytes;) {
        ssize_t n = write(fd, p, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return strerror(errno);
        p += n;
        bytes -= n;
    }
    return NULL;
}

/* The rename is only safe once the folder that holds the name is on the disk too. */
static const char *sync_folder(const char *path) {
    char folder[4096];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash) slash[1] = 0;
    int fd = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY);
    if (fd < 0) return strerror(errno);
    const char *why = fsync(fd) && errno != EINVAL ? strerror(errno) : NULL;
    close(fd);
    return why;
}

/* A pipe or a device stays what it is: it is written to, where a file is replaced. */
static const char *write_special(const char *path, const char *header, size_t header_bytes,
                                 const void *data, size_t bytes) {
    int fd = open(path, O_WRONLY | O_NOCTTY);
    if (fd < 0) return strerror(errno);
    const char *why = write_all(fd, header, header_bytes);
    if (!why) why = write_all(fd, data, bytes);
    if (close(fd) && !why) why = strerror(errno);
    return why;
}

const char *npy_write(const char *path, const char *descr, int rank, const int64_t *shape,
                      const void *data, size_t element_bytes) {
    char dims[192] = "", header[512], temporary[4096];
    size_t bytes = element_bytes;
    for (int i = 0, at = 0; i < rank; i++) {
        at += snprintf(dims + at, sizeof dims - at, "%lld,%s", (long long)shape[i],
                       i + 1 < rank ? " " : "");
        bytes *= shape[i];
    }
    /* data begins at a multiple of 64 bytes; the last byte of the header is a newline */
    int length = snprintf(header + 10, sizeof header - 10,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, dims);
    int padded = (10 + length + 1 + 63) / 64 * 64 - 10;
    memset(header + 10 + length, ' ', padded - length);
    header[10 + padded - 1] = '\n';
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(padded & 255);
    header[9] = (char)(padded >> 8);

    struct stat there;
    if (!stat(path, &there) && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
        const char *why = write_special(path, header, (size_t)(10 + padded), data, bytes);
        return why ? reason("cannot write %s: %s", path, why) : NULL;
    }
    if (snprintf(temporary, sizeof temporary, "%s.XXXXXX", path) >= (int)sizeof temporary)
        return reason("cannot write a file whose path has %zu bytes", strlen(path));
    int fd = mkstemp(temporary);
    if (fd < 0) return reason("cannot write %s: %s", path, strerror(errno));
    const char *why = write_all(fd, header, 10 + padded);
    if (!why) why = write_all(fd, data, bytes);
    mode_t mask = umask(0);
    umask(mask);
    if (!why && (fchmod(fd, 0666 & ~mask) || fsync(fd))) why = strerror(errno);
    if (close(fd) && !why) why = strerror(errno);
    if (!why && rename(temporary, path)) why = strerror(errno);
    if (why) {
        unlink(temporary);
        return reason("cannot write %s: %s", path, why);
    }
    why = sync_folder(path);
    return why ? reason("%s is written, but a power cut may lose it: its folder is not synced: %s",
                        path, why)
               : NULL;
}

const char *npy_write_half(const char *path, int rank, const int64_t *shape, const half *data) {
    return npy_write(path, "<f2", rank, shape, data, sizeof *data);
}

const char *npy_write_bf16(const char *path, int rank, const int64_t *shape, const half *data) {
    return npy_write(path, "<u2", rank, shape, data, sizeof *data);
}

const char *npy_write_float(const char *path, int rank, const int64_t *shape, const float *data) {
    return npy_write(path, "<f4", rank, shape, data, sizeof *data);
}
