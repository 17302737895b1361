// Textures and surfaces against arithmetic by hand: run_textures [outside|stale|forged]. Exits with the
// number of wrong values.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

static int bad;
static void expect(const char *what, float got, float want) {
    if (got == want) return;
    printf("%s: %g, not %g\n", what, got, want);
    bad++;
}

__global__ void one(cudaTextureObject_t t, float x, float *r) { *r = tex1D<float>(t, x); }
__global__ void two(cudaTextureObject_t t, float x, float y, float *r) {
    *r = tex2D<float>(t, x, y);
}
__global__ void three(cudaTextureObject_t t, float x, float y, float z, float *r) {
    *r = tex3D<float>(t, x, y, z);
}
__global__ void layer(cudaTextureObject_t t, float x, float y, int z, float *r) {
    *r = tex2DLayered<float>(t, x, y, z);
}
__global__ void cube(cudaTextureObject_t t, float x, float y, float z, float *r) {
    *r = texCubemap<float>(t, x, y, z);
}
__global__ void fetch(cudaTextureObject_t t, int i, float *r) {
    short4 v = tex1Dfetch<short4>(t, i);
    *r = v.x + 10 * v.y + 100 * v.z + 1000 * v.w;
}
__global__ void bytes(cudaTextureObject_t t, float x, float *r) { *r = tex2D<float4>(t, x, 0).y; }
__global__ void negate(cudaSurfaceObject_t s) {
    float v = surf2Dread<float>(s, threadIdx.x * 4, threadIdx.y);
    surf2Dwrite(-v, s, threadIdx.x * 4, threadIdx.y); // of 8 x 4 floats
}

// Describes a surface in its own memory, as an emulator that trusts such memory would: its second row
// begins where the host keeps `secret`.
__global__ void forge(unsigned long long *own, unsigned long long secret) {
    unsigned long long at = (unsigned long long)own;
    own[0] = 0x78657454;
    own[1] = at, own[2] = 64;                   // texels and their bytes
    own[3] = 0x0000100000001000, own[4] = 4096; // extents
    own[5] = secret - at;                       // from row to row
    own[7] = 0x0001000000000401;                // one channel of four bytes, a surface
    __threadfence();
    surf2Dwrite(666, (cudaSurfaceObject_t)at, 0, 1);
}

static float *result;
static float take() {
    float r = NAN;
    if (cudaMemcpy(&r, result, 4, cudaMemcpyDeviceToHost)) bad++;
    return r;
}

static cudaTextureObject_t texture(cudaArray_t a, cudaTextureAddressMode edge, bool linear,
                                   bool normalized, bool fraction = false) {
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t = 0;
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    for (int i = 0; i < 3; i++) d.addressMode[i] = edge;
    d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    d.readMode = fraction ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    d.normalizedCoords = normalized;
    d.borderColor[0] = -7;
    if (cudaCreateTextureObject(&t, &r, &d, NULL)) bad++;
    return t;
}

static cudaArray_t array_of(const void *from, cudaChannelFormatDesc f, int w, int h, int d,
                            unsigned flags) {
    cudaArray_t a;
    cudaMemcpy3DParms p = {};
    int texel = (f.x + f.y + f.z + f.w) / 8;
    if (cudaMalloc3DArray(&a, &f, make_cudaExtent(w, h, d), flags)) bad++;
    p.srcPtr = make_cudaPitchedPtr((void *)from, w * texel, w, h ? h : 1);
    p.dstArray = a;
    p.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1);
    p.kind = cudaMemcpyHostToDevice;
    if (cudaMemcpy3D(&p)) bad++;
    return a;
}

int main(int argc, char **argv) {
    float image[4 * 8 * 6];
    for (int i = 0; i < 192; i++) image[i] = i;
    auto f = cudaCreateChannelDesc<float>();
    cudaMalloc(&result, 4);

    // no array is refused, and leaves no object
    cudaResourceDesc none = {};
    cudaTextureDesc plain = {};
    cudaTextureObject_t object = 0;
    none.resType = cudaResourceTypeArray;
    expect("no array", cudaCreateTextureObject(&object, &none, &plain, NULL),
           cudaErrorInvalidValue);
    expect("no object", object, 0);

    // one row of 0 1 2 ... 7; weights have 8 bits: 0.3 - 0.5 + 3 has 205/256 of texel 3
    cudaArray_t row = array_of(image, f, 8, 0, 0, 0), plane = array_of(image, f, 8, 4, 0, 0);
    auto clamp = texture(row, cudaAddressModeClamp, true, false);
    one<<<1, 1>>>(clamp, 3.3f, result), expect("linear", take(), 2 + 205 / 256.f);
    one<<<1, 1>>>(clamp, 3.5f, result), expect("at a texel", take(), 3);
    one<<<1, 1>>>(clamp, 100, result), expect("clamped", take(), 7);
    one<<<1, 1>>>(texture(row, cudaAddressModeBorder, false, false), 8, result),
        expect("border", take(), -7);
    one<<<1, 1>>>(texture(row, cudaAddressModeWrap, false, true), 1.125f, result),
        expect("wrapped", take(), 1);
    one<<<1, 1>>>(texture(row, cudaAddressModeMirror, false, true), 1.0625f, result),
        expect("mirrored", take(), 7);
    one<<<1, 1>>>(texture(row, cudaAddressModeWrap, true, true), 0, result),
        expect("linear across the edge", take(), 3.5f);
    two<<<1, 1>>>(texture(plane, cudaAddressModeClamp, true, false), 2, 2, result);
    expect("bilinear", take(), (9 + 10 + 17 + 18) / 4.f);
    two<<<1, 1>>>(texture(plane, cudaAddressModeClamp, false, false), 2.9f, 3.1f, result);
    expect("nearest", take(), 26);
    three<<<1, 1>>>(texture(array_of(image, f, 8, 4, 6, 0), cudaAddressModeClamp, true, false), 1,
                    1, 1, result);
    expect("trilinear", take(), (0 + 1 + 8 + 9 + 32 + 33 + 40 + 41) / 8.f);
    layer<<<1, 1>>>(
        texture(array_of(image, f, 8, 4, 6, cudaArrayLayered), cudaAddressModeWrap, false, false),
        3, 2, 5, result);
    expect("layer 5", take(), 32 * 5 + 8 * 2 + 3);
    auto faces =
        texture(array_of(image, f, 4, 4, 6, cudaArrayCubemap), cudaAddressModeClamp, false, true);
    cube<<<1, 1>>>(faces, 0.1f, -2, 0.2f, result), expect("face -y", take(), 16 * 3 + 4 * 1 + 2);
    cube<<<1, 1>>>(faces, 0.1f, 0.2f, 2, result), expect("face +z", take(), 16 * 4 + 4 * 1 + 2);

    // a buffer, and bytes as fractions
    short4 quads[4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {1, 1, 1, 1}, {-1, 0, 0, 0}}, *buffer;
    uchar4 pixels[2] = {{0, 51, 0, 0}, {0, 255, 0, 0}};
    cudaMalloc(&buffer, sizeof quads),
        cudaMemcpy(buffer, quads, sizeof quads, cudaMemcpyHostToDevice);
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t linear;
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = buffer, r.res.linear.sizeInBytes = sizeof quads;
    r.res.linear.desc = cudaCreateChannelDesc<short4>();
    if (cudaCreateTextureObject(&linear, &r, &d, NULL)) bad++;
    fetch<<<1, 1>>>(linear, 1, result), expect("fetched", take(), 8765);
    fetch<<<1, 1>>>(linear, 3, result), expect("its sign", take(), -1);
    fetch<<<1, 1>>>(linear, 4, result), expect("past the end", take(), 0);
    bytes<<<1, 1>>>(texture(array_of(pixels, cudaCreateChannelDesc<uchar4>(), 2, 1, 0, 0),
                            cudaAddressModeClamp, true, false, true),
                    1, result);
    expect("fraction", take(), 0.5f * 0.2f + 0.5f);

    // a surface, read back
    cudaSurfaceObject_t surface;
    r = {}, r.resType = cudaResourceTypeArray, r.res.array.array = plane;
    float back[32];
    if (cudaCreateSurfaceObject(&surface, &r)) bad++;
    negate<<<1, dim3(8, 4)>>>(surface);
    if (cudaMemcpy2DFromArray(back, 32, plane, 0, 0, 32, 4, cudaMemcpyDeviceToHost)) bad++;
    expect("negated", back[31], -31);

    if (argc > 1 && !strcmp(argv[1], "outside")) negate<<<1, dim3(9, 4)>>>(surface);
    if (argc > 1 && !strcmp(argv[1], "stale")) {
        cudaDestroyTextureObject(clamp);
        one<<<1, 1>>>(clamp, 0, result);
    }
    static int secret = 42;
    unsigned long long *own;
    if (argc > 1 && !strcmp(argv[1], "forged") && !cudaMalloc(&own, 128))
        forge<<<1, 1>>>(own, (unsigned long long)&secret);
    cudaError_t e = cudaDeviceSynchronize();
    if (secret != 42) printf("the host's secret is %d\n", secret), bad++;
    if (argc > 1) printf("synchronize: %s\n", cudaGetErrorName(e));
    return bad;
}
