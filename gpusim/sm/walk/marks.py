"""Marks of the rows that a walk's log has of work that ends later than its instruction.

A row has the number of its instruction below the mark, and in the place of addresses what the mark says. Places are
bytes of the shared memory of a cluster's blocks, one behind the other.

| mark | noted of | in the place of addresses |
|---|---|---|
| NOTED | what waits, closes groups, or uses registers of a product, whatever its guard | nothing |
| PLACED | LDGSTS | each lane's place |
| SIGNALLED | what begins barriers, and arrives at them | each lane's barrier |
| PASSED | a wait for phases, or a look, that has found them over | the barriers of the lanes that it is true for |
| AWAITING | one that will be true when the phase ends | the same |
| ASKED | a command of the copy engine | its barrier, place, bytes there, what it reads there, ranks, bytes; UNDER_WAY |
| BOXED | the same, behind a row of ASKED | what it accesses in global memory: four words for each run of rows |
| MULTIPLIED | a matrix instruction of a warpgroup | its descriptors' four words, whether C is added |
| FLIPPED | a phase that has ended | its barrier |

A run is rows of a box that lie as far apart in global memory: the first byte, bytes of a row, bytes to the next, rows.
What is beyond the tensor is left out, and behind the last run there are zeros.
"""

MARK = 24  # the lowest bit of a mark
NOTED, PLACED, SIGNALLED, PASSED, AWAITING, ASKED, MULTIPLIED, FLIPPED, BOXED = range(1, 10)
NO_BARRIER = 0xFFFFFFFF
UNDER_WAY, SOURCE = 6, 7  # of a command, so many not waited for; the place of bytes or a tensor, the box's coordinates
