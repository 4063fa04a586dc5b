"""Names of the scheduling policies, in the order of `rules.warp_scheduler.POLICIES`, for those who must not compile."""

POLICY_NAMES = ("lrr", "gto", "oldest")
