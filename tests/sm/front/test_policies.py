"""Scheduling policies: those that come with the simulator, and those that a user registers."""

import pytest
from timing import cycles_of, plain_machine, run_text
from twins import differences, run_both

import gpusim
from gpusim.engines.simulate import ENGINES, run_sm
from gpusim.sm.front.policies.declaration import POLICY_NAMES, REGISTERED
from gpusim.sm.front.policies.policies import POLICIES
from gpusim.sm.jit.rule import lowest_bit
from isa.errors import LimitError, UserError
from isa.text.listing import read

THREE_WARPS = ".block 96\nFADD R0, R1, R2\nFADD R3, R4, R5\nFADD R6, R7, R8\nEXIT"


@pytest.fixture(autouse=True)
def unregistered():
    """Remove what a test has registered."""
    yield
    REGISTERED.clear()


def highest(_sm, _k, eligible):
    """The eligible warp with the highest number."""
    best = 0
    while eligible:
        best = lowest_bit(eligible)
        eligible &= eligible - 1
    return best


def careless(_sm, _k, eligible):
    """An error as soon as two warps are eligible."""
    if eligible & (eligible - 1):
        raise ValueError("whom")
    return lowest_bit(eligible)


def late(sm, _k, eligible):
    """No warp before cycle 10, then the lowest."""
    return lowest_bit(eligible) if sm.now >= 10 else -1


def stranger(sm, _k, eligible):
    """A warp that does not exist, before cycle 4."""
    return 100 if sm.now < 4 else lowest_bit(eligible)


def never(_sm, _k, _eligible):
    """No warp."""
    return -1


def wordy(_sm, _k, _eligible):
    """Not a number."""
    return "the first"


def issues(policy, text=THREE_WARPS, **changes) -> list[tuple[int, int]]:
    """Cycle and warp of each issue but EXIT; a warp may issue again in the next slot."""
    run = run_text(text, {"schedulers.policy": policy, "schedulers.issue_interval": 2, **changes})
    return [(cycle, warp) for cycle, warp, pc in cycles_of(run) if pc < 3]


def order(policy, **changes) -> list[int]:
    """Warps in the order of their issues."""
    return [warp for _, warp in issues(policy, **changes)]


def test_each_name_has_its_policy():
    """Names and policies are the same, in number and order, as the engine counts them."""
    assert tuple(POLICIES) == POLICY_NAMES


def test_loose_round_robin_takes_turns():
    """Each warp issues once before the first does again."""
    assert order("lrr") == [0, 1, 2] * 3


@pytest.mark.parametrize("policy", ["gto", "oldest"])
def test_greedy_and_oldest_stay_with_the_first_warp(policy):
    """While the oldest warp is eligible, no other issues."""
    assert order(policy) == [0] * 3 + [1] * 3 + [2] * 3


def test_greedy_then_youngest_begins_with_the_last_warp():
    """The youngest warp issues while it can, then the next younger."""
    assert order("cggty") == [2] * 3 + [1] * 3 + [0] * 3


@pytest.mark.parametrize(("policy", "warp"), [("gto", 1), ("oldest", 0)])
def test_greedy_stays_where_oldest_goes_back(policy, warp):
    """At 54 warp 0's addition, which warp 1 skips, is done: `oldest` goes back to warp 0, `gto` stays with warp 1."""
    text = ".block 64\nS2R R0, WARPID\nISETP.EQ P0, R0, 0\n@P0 FADD R1, R2, R3\nFADD R4, R1, R1\n"
    text += "".join(f"FADD R{r}, R2, R3\n" for r in range(5, 25)) + "EXIT"
    run = run_text(text, {"schedulers.issue_interval": 2, "schedulers.policy": policy})
    assert {cycle: issued for cycle, issued, _ in cycles_of(run)}[54] == warp


@pytest.mark.parametrize(
    ("active", "warps"), [(1, [0, 0, 0, 1, 1, 1, 2, 2, 2]), (2, [0, 1, 0, 1, 0, 1, 2, 2, 2]), (3, [0, 1, 2] * 3)]
)
def test_two_levels_take_turns_among_the_active(active, warps):
    """`active` warps take turns; the next warp joins when one of them has exited."""
    assert order("two_level", **{"schedulers.active": active}) == warps


@pytest.mark.parametrize("wait", ["BAR.SYNC 0", "LDG R0, [R8]\nFADD R3, R0, R0"])
def test_a_warp_that_waits_for_memory_or_a_barrier_makes_room(wait):
    """With one active warp, the second warp begins before the first has passed its wait."""
    text = f".block 64\n.buffer x u32 32\nMOV R8, c[x]\n{wait}\nEXIT"
    run = run_text(text, {"schedulers.policy": "two_level", "schedulers.active": 1})
    (second,) = (cycle for cycle, warp, pc in cycles_of(run) if (warp, pc) == (1, 0))
    (past,) = (cycle for cycle, warp, pc in cycles_of(run) if (warp, pc) == (0, 2 + wait.count("\n")))
    assert second < past


def test_a_registered_policy_chooses():
    """A registered policy that prefers the highest warp issues three times from warp 2, then 1, then 0."""
    gpusim.register_policy("highest", highest)
    assert order("highest") == [2] * 3 + [1] * 3 + [0] * 3


def test_a_policy_may_decline():
    """If the policy chooses no warp, or one that is not eligible, nothing issues: here until cycle 10 or 4."""
    gpusim.register_policy("late", late)
    gpusim.register_policy("stranger", stranger)
    assert issues("late")[0] == (10, 0)
    assert issues("stranger")[0] == (4, 0)


def test_a_policy_that_never_chooses_meets_the_limit():
    """A policy that never chooses a warp ends with an error at the caller's limit of 1000 cycles."""
    gpusim.register_policy("never", never)
    with pytest.raises(LimitError, match="still running after 1000 cycles"):
        run_sm(read(THREE_WARPS), plain_machine({"schedulers.policy": "never"}), max_cycles=1000)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_error_in_a_registered_policy_ends_the_run(engine):
    """An exception that a policy raises reaches the caller of `run_sm`."""
    gpusim.register_policy("careless", careless)
    with pytest.raises(ValueError, match="whom"):
        run_sm(read(THREE_WARPS), plain_machine({"schedulers.policy": "careless"}), engine=engine)


@pytest.mark.parametrize("policy", ["highest", "late"])
def test_both_engines_agree_under_a_registered_policy(policy):
    """Under a registered policy both engines agree, with one dispatch port and with two."""
    gpusim.register_policy("highest", highest)
    gpusim.register_policy("late", late)
    for ports in (1, 2):
        changes = {"schedulers.count": 2, "schedulers.dispatch_ports": ports, "issue.pairing": "different-warp"}
        assert differences(*run_both(read(THREE_WARPS), plain_machine({"schedulers.policy": policy, **changes}))) == []


@pytest.mark.jit
@pytest.mark.parametrize(("policy", "skips"), [("lrr", True), ("two_level", True), ("late", False)])
def test_fast_forward_skips_nothing_under_a_registered_policy(policy, skips):
    """Fast-forward takes periods of a loop at once under the simulator's own policies, not under a registered one."""
    gpusim.register_policy("late", late)
    loop = read(".block 64\nMOV R0, 0\non:\nIADD R0, R0, 1\nISETP.LT P0, R0, 2000\n@P0 BRA on\nEXIT")
    run = run_sm(loop, plain_machine({"schedulers.policy": policy}), feed="trace-driven", fast_forward=True)
    assert (run.skipped > 0) is skips


def test_a_registered_name_may_be_replaced_but_no_built_in_one():
    """A name's later function replaces the earlier one; the simulator's own names are refused."""
    gpusim.register_policy("mine", late)
    gpusim.register_policy("mine", highest)
    assert issues("mine")[0] == (0, 2)
    with pytest.raises(UserError, match="policy lrr: it comes with the simulator; register yours under another name"):
        gpusim.register_policy("lrr", highest)


def test_an_unknown_policy_is_refused_with_all_names():
    """The message names the simulator's own policies and the registered ones."""
    gpusim.register_policy("mine", highest)
    with pytest.raises(UserError, match=r"unknown scheduling policy yours; choose one of lrr, .*two_level, mine"):
        order("yours")


@pytest.mark.jit
def test_a_policy_that_cannot_be_compiled_is_refused_in_one_line():
    """The message has the policy's name, Numba's error, and what a policy may take and return."""
    gpusim.register_policy("wordy", wordy)
    with pytest.raises(UserError, match=r"^policy wordy: Numba cannot compile it: .+; it takes and returns numbers"):
        order("wordy")
