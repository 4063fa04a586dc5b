"""The windows of generic addresses: 64 bits of which each lane's say where it is, in shared, local or global memory.

The window of a block's shared memory and that of a thread's local memory take 16 MiB each. Runs give each lane a place
of 32 bits: in the window of global memory, or from SHARED_PLACE and LOCAL_PLACE on, where no buffer lies.
"""

# Beyond the image, where global accesses are refused; a round number each, with lower halves of 0 as on an H100.
SHARED_WINDOW, LOCAL_WINDOW = 0x7D00_0000_0000, 0x7E00_0000_0000
WINDOW_BITS = 24
WINDOW_BYTES = 1 << WINDOW_BITS
SHARED_PLACE, LOCAL_PLACE = (1 << 32) - 2 * WINDOW_BYTES, (1 << 32) - WINDOW_BYTES
SHARED_TOP, LOCAL_TOP = SHARED_WINDOW >> WINDOW_BITS, LOCAL_WINDOW >> WINDOW_BITS
BANK, BYTES = 0, 16  # the constant bank where a launch puts the windows (isa.architecture says where), and of both
# Shared addresses have the block's rank in its cluster above bit 24. Other ranks' places begin PEER_BYTES apart, behind
# the own one's, by rank from 0 on; so a block of a cluster has no more shared memory than that.
RANK_BITS, PEER_BITS = 24, 18
PEER_BYTES = 1 << PEER_BITS
SPECIALS = frozenset({"SWINLO", "SWINHI", "LWINLO", "LWINHI"})  # special registers that tell of them
