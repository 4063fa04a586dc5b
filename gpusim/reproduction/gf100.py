"""Notes of claims on the files of the GTX 480 and the Tesla C2050, which have the same chip."""

WITH_TAGS = "caches keep tags here and not on c2050, the same chip"
WITHOUT_TAGS = "nothing hits in caches, which on gtx480, the same chip, keep tags"
# What people chose for the GTX 480 while they saw the rates of CME213's kernels.
OF_THE_CARD = "cache.hits; global_memory.latency; schedulers.policy; shared_memory.merge_halves"
# What they chose for the C2050 in sight of the rates in Tan's paper.
OF_THE_BOARD = "ECC and the bandwidth that arrives"
