"""Arrays in, numbers out: consensus, agreement, confusion, scores, intervals, comparisons, mistakes, the gate. Pure."""
