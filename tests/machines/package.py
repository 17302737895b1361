"""attnlab as a wheel brings it: forward, RawKernel, counters, reports, predictions, refusals, types."""
import os
import typing

import attnlab
import numpy as np

from tap import check, end, refused

here = os.path.dirname(attnlab.__file__)
check('it is the installed one', 'site-packages' in here)
check('it is typed', os.path.exists(os.path.join(here, 'py.typed')))
for function in (attnlab.forward, attnlab.RawKernel.__init__, attnlab.RawKernel.__call__, attnlab.records):
    check(f'{function.__qualname__} says its types and what it does',
          'return' in typing.get_type_hints(function) and 'Raises' in function.__doc__)

dice = np.random.default_rng(7)
q, k, v = (dice.standard_normal((1, 2, 33, 64)).astype(np.float16) for _ in range(3))
s = q.astype(float) @ k.astype(float).transpose(0, 1, 3, 2) / 8
p = np.exp(s - s.max(-1, keepdims=True))
right = p / p.sum(-1, keepdims=True) @ v.astype(float)
for stage in (1, 2, 3, 4, 6):
    o = attnlab.forward(stage, q, k, v, device='emu')
    check(f'stage {stage} against NumPy', np.abs(o - right).max() < 2e-3, np.abs(o - right).max())
refused('a head_dim that stage 6 does not take', 'head_dim',
        lambda: attnlab.forward(6, *(x[..., :40].copy() for x in (q, k, v)), device='emu'), attnlab.Unsupported)
refused('a stage that is not there', 'there are 1, 2, 3, 4, 6', lambda: attnlab.forward(5, q, k, v))

# y[i] = 2 x[i], for every thread that is launched
PTX = '''.version 7.8
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 x, .param .u64 y)
{
    .reg .f32 %f<3>;
    .reg .b32 %r<5>;
    .reg .b64 %d<6>;
    ld.param.u64 %d1, [x];
    ld.param.u64 %d2, [y];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    mul.wide.s32 %d3, %r4, 4;
    add.s64 %d4, %d1, %d3;
    add.s64 %d5, %d2, %d3;
    ld.global.f32 %f1, [%d4];
    add.f32 %f2, %f1, %f1;
    st.global.f32 [%d5], %f2;
    ret;
}
'''
x = dice.standard_normal(96).astype(np.float32)
y = np.zeros_like(x)
kernel = attnlab.RawKernel(PTX, 'twice')
kernel(3, 32, (x, y))
check('a kernel of PTX', (y == 2 * x).all())
check('its counters', kernel.counters['instructions'] == 3 * 13, kernel.counters['instructions'])
check('no reports', kernel.reports == [], kernel.reports)
check('a counter group', kernel.groups('MIX'), 'it is empty')
check('what stands beside a prediction', len(kernel.prediction) > 5, kernel.prediction)
kernel(4, 32, (x, y))
check('an access outside is reported', any('outside' in r or 'past' in r or 'no allocation' in r for r in kernel.reports), kernel.reports)
refused('a kernel that is not there', 'twice', lambda: attnlab.RawKernel(PTX, 'thrice'))
refused('an array of another type', 'not <f2', lambda: attnlab.forward(1, q.astype(np.float32), k, v))
end()
