# Where warps spend their time, stage by stage: each reason's share of all cycles that warps were there.
# Drawn for the last series that has stall counters: the run itself, where a recorded one stands beside it.
load 'plots/style.gp'
first_stall = 17 # column of stall_selected in table.txt; the others follow
n_reasons = 13
array reason[n_reasons] = ['issuing', 'another warp was taken', 'execution pipe taken', 'fixed latency', \
    'before a WGMMA', 'barrier', 'shared memory, MUFU', 'queue to shared memory', 'global memory, mbarrier', \
    'queue to global memory', 'branch', 'instruction cache', 'dispatch']
array tint[n_reasons] = ['#009e73', '#8fd6bf', '#0072b2', '#bdbdbd', '#56b4e9', '#d55e00', '#e69f00', '#f5d68a', \
    '#cc79a7', '#e8c3d8', '#8c564b', '#777777', '#444444']
drawn = 0
do for [s = 1:n_series] {
    n_values = 0
    stats table index s-1 using (n_values = n_values + valid(first_stall + 3), 1) nooutput
    if (n_values) { drawn = s }
}
do for [s = 1:n_series] { if (drawn != s) { unset label 100 + s } }
set title 'What warps do with their time, by stage'
set ylabel 'percent of warps'' cycles'
set yrange [0:100]
set key outside right top vertical width 1 samplen 1 font ',10' invert
if (!drawn) {
    set label 1 'nothing to draw: no stall counters here' at graph 0.5, graph 0.5 center
    plot table index 0 using ($0 + 1):(NaN):xtic(2) notitle
} else {
    # the share of issuing is 1 of each issue by definition: older records leave it out
    share(c) = c == first_stall ? 1 : valid(c) ? column(c) : 0
    there(x) = valid(first_stall + 3)
    all(x) = sum [c = first_stall:first_stall + n_reasons - 1] share(c)
    upto(k) = sum [c = first_stall:first_stall + k - 1] share(c)
    set style fill solid 0.95 noborder
    plot table index drawn-1 using ($0 + 1):(NaN):xtic(tic_of(0)) notitle, \
         for [k = 1:n_reasons] table index drawn-1 \
             using ($0 + 1):(0):($0 + 0.7):($0 + 1.3):(there(0) ? 100 * upto(k - 1) / all(0) : NaN):(there(0) ? 100 * upto(k) / all(0) : NaN) \
             with boxxyerror linecolor rgb tint[k] title reason[k], \
         table index drawn-1 using ($0 + 1):(there(0) ? NaN : 50):('n/a') with labels notitle
}
