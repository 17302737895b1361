# Where warps spend their time, stage by stage: each reason's share of all cycles that warps were there.
# Drawn for the last series that has stall counters: the run itself, where a recorded one stands beside it.
load 'plots/table.gp'
n_reasons = 13
array stall[n_reasons] = ['selected', 'not_selected', 'math_pipe', 'wait', 'gmma', 'barrier', 'short_scoreboard', 'mio', \
    'long_scoreboard', 'lg', 'branch', 'no_instruction', 'dispatch']
array reason[n_reasons] = ['issuing', 'another warp was taken', 'execution pipe taken', 'fixed latency', \
    'before a WGMMA', 'barrier', 'shared memory, MUFU', 'queue to shared memory', 'global memory, mbarrier', \
    'queue to global memory', 'branch', 'instruction cache', 'dispatch']
array tint[n_reasons] = ['#009e73', '#8fd6bf', '#0072b2', '#bdbdbd', '#56b4e9', '#d55e00', '#e69f00', '#f5d68a', \
    '#cc79a7', '#e8c3d8', '#8c564b', '#777777', '#444444']
drawn = 0
do for [s = 1:n_series] {
    n_values = 0
    stats table index s-1 using (n_values = n_values + has('stall_wait'), 1) nooutput
    if (n_values) { drawn = s }
}
do for [s = 1:n_series] { if (drawn != s) { series_foot[s] = '' } }
title_text = 'What warps do with their time'
sub_text = problem.'. Percent of the cycles of all warps'.(drawn ? ', '.series_kind[drawn] : '')
eval begin_foot
eval put_foot
eval heading
set ylabel 'percent of cycles'
set yrange [0:100]
set key outside right top vertical width 1 samplen 1 font ',14' invert
if (!drawn) {
    set label 1 'nothing to draw: no stall counters here' at graph 0.5, graph 0.5 center
    plot table index 0 using ($0 + 1):(NaN):xtic(strcol('stage')) notitle
} else {
    # the share of issuing is 1 of each issue by definition: older records leave it out
    share(k) = k == 1 ? 1 : has('stall_'.stall[k]) ? column('stall_'.stall[k]) : 0
    there(x) = has('stall_wait')
    all(x) = sum [k = 1:n_reasons] share(k)
    upto(n) = n < 1 ? 0 : sum [k = 1:n] share(k)
    set style fill solid 0.95 noborder
    plot table index drawn-1 using ($0 + 1):(NaN):xtic(tic_of(0)) notitle, \
         for [n = 1:n_reasons] table index drawn-1 \
             using ($0 + 1):(0):($0 + 0.7):($0 + 1.3):(there(0) ? 100 * upto(n - 1) / all(0) : NaN):(there(0) ? 100 * upto(n) / all(0) : NaN) \
             with boxxyerror linecolor rgb tint[n] title reason[n], \
         table index drawn-1 using ($0 + 1):(there(0) ? NaN : 50):('n/a') with labels notitle
}
