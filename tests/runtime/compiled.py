"""attnlab.TritonKernel and attnlab.NumbaKernel on what their packages hand out, written by hand: neither is needed here."""
import json
import os
import sys
import tempfile
from types import SimpleNamespace

import attnlab
import numpy as np
from refusal import refused

# out[i] = x[i] + n * scale, where Triton's two pointers of scratch follow: each block counts itself in the first
TRITON = '''//
.version 9.4
.target sm_90a
.address_size 64
.visible .entry add(
	.param .u64 .ptr .global .align 1 add_param_0, .param .u64 .ptr .global .align 1 add_param_1, .param .u32 add_param_2,
	.param .f32 add_param_3, .param .u64 .ptr .global .align 1 add_param_4, .param .u64 .ptr .global .align 1 add_param_5)
.reqntid 64
{
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	.loc 1 5 0
	ld.param.b64 %rd1, [add_param_0];
	ld.param.b64 %rd2, [add_param_1];
	ld.param.b32 %r1, [add_param_2];
	ld.param.b32 %r2, [add_param_3];
	ld.param.b64 %rd3, [add_param_4];
	mov.u32 %r3, %tid.x;
	mov.u32 %r4, %ctaid.x;
	mov.u32 %r5, %ntid.x;
	mad.lo.s32 %r3, %r4, %r5, %r3;
	mul.wide.u32 %rd4, %r3, 4;
	add.s64 %rd5, %rd1, %rd4;
	add.s64 %rd6, %rd2, %rd4;
	ld.global.b32 %r6, [%rd5];
	cvt.rn.f32.s32 %r7, %r1;
	fma.rn.f32 %r6, %r7, %r2, %r6;
	st.global.b32 [%rd6], %r6;
	mul.wide.u32 %rd7, %r4, 16;
	add.s64 %rd7, %rd3, %rd7;
	red.global.add.u32 [%rd7+12], 1;
	ret;
}
	.file 1 "compiled.py"
	.section .debug_abbrev
	{
.b8 1
.b8 0
	}
'''
# x[i, j] = a (complex: its parts) of an array of two dimensions as Numba passes it, by its strides
NUMBA = '''
.version 9.0
.target sm_90
.address_size 64
.common .global .align 8 .u64 _ZN08NumbaEnv4fill;
.visible .entry _ZN4fillB2v1(
''' + ',\n'.join(f'	.param .u64 p{i}' for i in range(9)) + ''',
	.param .f64 re, .param .f64 im, .param .u32 n, .param .u64 m)
{
	.reg .pred %p<2>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<19>;
	.reg .f64 %d<4>;
	ld.param.u64 %rd1, [p4];
	ld.param.u64 %rd2, [p5];
	ld.param.u64 %rd3, [p6];
	ld.param.u64 %rd4, [p7];
	ld.param.u64 %rd5, [p8];
	ld.param.u64 %rd6, [p2];
	ld.param.u64 %rd7, [p3];
	ld.param.f64 %d1, [re];
	ld.param.f64 %d2, [im];
	ld.param.u32 %r1, [n];
	ld.param.u64 %rd11, [m];
	mov.u32 %r2, %tid.x;
	mov.u32 %r3, %tid.y;
	cvt.u64.u32 %rd8, %r2;
	cvt.u64.u32 %rd9, %r3;
	setp.ge.u64 %p1, %rd8, %rd2;
	@%p1 ret;
	setp.ge.u64 %p1, %rd9, %rd3;
	@%p1 ret;
	mad.lo.s64 %rd1, %rd8, %rd4, %rd1;
	mad.lo.s64 %rd1, %rd9, %rd5, %rd1;
	cvt.rn.f64.u32 %d3, %r1;
	add.f64 %d1, %d1, %d3;
	mul.lo.s64 %rd6, %rd6, %rd7;
	add.s64 %rd6, %rd6, %rd11;
	cvt.rn.f64.s64 %d3, %rd6;
	add.f64 %d2, %d2, %d3;
	cvta.to.global.u64 %rd1, %rd1;
	st.global.f64 [%rd1], %d1;
	st.global.f64 [%rd1+8], %d2;
	ret;
}
'''
METADATA = {'name': 'add', 'num_warps': 4, 'num_ctas': 1, 'shared': 0, 'global_scratch_size': 16, 'profile_scratch_size': 0,
            'tensordesc_meta': []}
ONE = ('--jobs', '1')


# ---- Triton
compiled = SimpleNamespace(asm={'ptx': TRITON}, metadata=SimpleNamespace(_asdict=lambda: METADATA))
x, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
k = attnlab.TritonKernel(compiled, run=ONE)
k((4,), (x, out, 3, 0.5))
assert np.array_equal(out, x + 1.5) and k.reports == [], k.reports
assert k.block == 64 and k.counters['st_global'] == 4 * 2, k.counters  # .reqntid is what counts, not num_warps
k(4, (x, out, np.int32(-2), np.float32(2)))
assert np.array_equal(out, x - 4)
refused(lambda: k(4, (x, out, 3)), 'takes 4 arguments, 3 are given')
refused(lambda: k(4, (x, out)[:1]), 'takes 4 arguments, 1 are given')
refused(lambda: k(4, (x, out, 3, 4.0, x)), 'constexpr')
refused(lambda: k(4, (x, out, 2.5, 0.5)), 'argument 3')
small = attnlab.TritonKernel(SimpleNamespace(asm={'ptx': TRITON.replace('.reqntid 64', '')}, metadata={**METADATA, 'num_warps': 1}))
small(8, (x, out, 1, 1.0))
assert small.block == 32 and np.array_equal(out, x + 1)
none = attnlab.TritonKernel(SimpleNamespace(asm={'ptx': TRITON}, metadata={**METADATA, 'global_scratch_size': 0}), run=ONE)
none(4, (x, out, 1, 1.0))
assert any('not allocated' in r for r in none.reports), none.reports  # the kernel's scratch is as large as Triton says
refused(lambda: attnlab.TritonKernel(SimpleNamespace(asm={'ttir': ''}, metadata=METADATA)), 'no PTX')
refused(lambda: attnlab.TritonKernel(SimpleNamespace(asm={'ptx': TRITON}, metadata={**METADATA, 'tensordesc_meta': [1]})), 'tensor descriptor')

with tempfile.TemporaryDirectory() as cache:
    refused(lambda: attnlab.TritonKernel(cache), 'no kernel of Triton is there')

    def put(folder, name, factor):
        os.makedirs(os.path.join(cache, folder), exist_ok=True)
        for suffix, text in ('.ptx', TRITON.replace('entry add', f'entry {name}').replace('%r7, %r2, %r6', f'{factor}, %r2, %r6')), \
                ('.json', json.dumps({**METADATA, 'name': name})):
            with open(os.path.join(cache, folder, name + suffix), 'w') as f:
                f.write(text)
        with open(os.path.join(cache, folder, f'__grp__{name}.json'), 'w') as f:
            f.write('{}')
        return os.path.join(cache, folder, name + '.json')

    old = put('OLD', 'add', '0f40000000')
    os.utime(old, (1, 1))
    put('NEW', 'add', '0f40400000')
    attnlab.TritonKernel(cache)(4, (x, out, 0, 1.0))
    assert np.array_equal(out, x + 3)  # the newest
    attnlab.TritonKernel(os.path.join(cache, 'OLD'))(4, (x, out, 0, 1.0))
    assert np.array_equal(out, x + 2)
    put('NEW', 'more', '0f40800000')
    refused(lambda: attnlab.TritonKernel(cache), 'several kernels: name one of add, more')
    refused(lambda: attnlab.TritonKernel(cache, 'less'), 'no kernel of Triton called less')
    attnlab.TritonKernel(cache, 'more')(4, (x, out, 0, 1.0))
    assert np.array_equal(out, x + 4)

# ---- Numba
for order in 'C', 'F':
    a = np.zeros((5, 7), np.complex128, order=order)
    k = attnlab.NumbaKernel((NUMBA, None))
    k(1, (8, 8), (a, 2 + 3j, 4, 5))
    assert (a == 2 + 4 + (3 + 35 * 16 + 5) * 1j).all() and k.reports == [], (order, a)
k = attnlab.NumbaKernel(NUMBA)
k(1, (8, 8), (a, (np.float64(1), 0.0), 1, -7))
assert (a == 2 + (560 - 7) * 1j).all(), a
k(1, (8, 8), (a, 0j, 4294967295, True))
assert (a == 4294967295 + 561j).all(), a
refused(lambda: k(1, (8, 8), (a, 0j, 1)), '12 words of arguments are given and 13 taken')
refused(lambda: k(1, (8, 8), (a[:, ::2], 0j, 1, 1)), 'numpy.ascontiguousarray')
refused(lambda: attnlab.NumbaKernel(len), 'a function of numba.cuda.jit is wanted')
print('right')
