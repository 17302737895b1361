# The sentence that a picture over time shows, from its table (make stage-N timeline): of the whole GPU, or of one block's warps.
#
#   awk -f plots/says_over_time.awk results/timeline-stage-6.tsv

BEGIN { FS = "\t" }
/^#/ { next }
!named { for (i = 1; i <= NF; i++) column[$i] = i; named = 1; next }
"us" in column {
    if ($column["sm_pct"] > 0) { n++; tensor += $column["tensor_pct"]; mufu += $column["mufu_pct"]; last = $column["us"] }
    next
}
$column["name"] ~ /^warp/ {
    us = $column["end_us"] - $column["begin_us"]
    all += us
    of[$column["what"]] += us
}
END {
    if (n) printf "Over %.0f us the tensor pipe works at %.0f %% of all SMs' peak, the special functions at %.0f %%.\n", last, tensor / n, mufu / n
    if (all > 0) {
        for (what in of) order[++m] = what
        for (i = 1; i <= m; i++) for (j = i + 1; j <= m; j++) if (of[order[j]] > of[order[i]]) { what = order[i]; order[i] = order[j]; order[j] = what }
        for (i = 1; i <= m && i <= 3; i++) text = text (i > 1 ? "; " : "") sprintf("%.0f %% %s", 100 * of[order[i]] / all, order[i])
        print "What the warps' time goes to: " text "."
    }
}
