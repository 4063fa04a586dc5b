"""The reference engine: discrete events on SimPy, one process per agent.

An agent sleeps until its time on the agenda; an act that makes another agent's time earlier wakes that agent, which
then sleeps until the new time. Only cycles with events are visited. The rules are those of the compiled engine, and so
is the order inside a cycle: every event carries its agent's rank as its priority.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
import simpy
from simpy.events import Event

from gpusim.launch.launch import ChipLaunch, Launch
from gpusim.sm.chip.chip import chip
from gpusim.sm.unit.capacities import NEVER, TRACE, TRACE_MARGIN
from gpusim.sm.walk import step, turn_order
from gpusim.support.interruption import held_back

AT_ONCE = 256  # events before Ctrl-C is answered
FIRST_PRIORITY = 2  # after SimPy's own urgent and normal events


class Agents:
    """Shared state of one SM's processes: the launch, the clock, and the agents that each agent has to wake.

    `index` is the SM's place in the order within a cycle, and in the chip if there is one.
    """

    def __init__(
        self, launch: Launch, environment: simpy.Environment, together: ChipLaunch | None = None, index: int = 0
    ) -> None:
        self.launch, self.together, self.index = launch, together, index
        self.environment = environment
        self.every: Sequence[Agents] = ()
        self.agenda, self.interval = launch.sm.agenda, int(launch.sm.machine.interval)
        self.fault, self.traced = launch.sms["fault"]["code"], launch.sms["traced"]
        self.planned = [NEVER] * int(launch.sm.agents)
        self.wake = [environment.event() for _ in self.planned]
        self.events = 0


def at(environment: simpy.Environment, when: int, priority: int) -> Event:
    """Return an event at cycle `when` with a priority among the events of that cycle (a plain timeout has none)."""
    event = Event(environment)
    event._ok, event._value = True, None
    environment.schedule(event, priority=priority, delay=when - environment.now)
    return event


def position(agents: Agents, agent: int, now: int) -> int:
    """Return the agent's position in the order of cycle `now`, one SM after another."""
    order = agents.launch.order
    return agents.index * len(agents.planned) + order[now // agents.interval % len(order)][agent]


def order(launch: Launch) -> list[list[int]]:
    """Return each agent's position in the order of a slot's cycles, for as many slots as the order takes to repeat."""
    machine, agents = launch.sm.machine, range(int(launch.sm.agents))
    firsts = [turn_order.first_scheduler(launch.sm, slot * machine.interval) for slot in range(int(machine.schedulers))]
    turns = [[int(turn_order.rank(launch.sm, p, first)) for p in agents] for first in firsts]
    return [[turn.index(agent) for agent in agents] for turn in turns]


def live(agents: Agents, agent: int) -> Generator[Event, Any, None]:
    """Run one agent: sleep until its time or until woken, act, and wake every agent that must now act sooner."""
    environment, agenda = agents.environment, agents.agenda
    while True:
        when = agents.planned[agent] = int(agenda[agent])
        if when >= NEVER:
            yield agents.wake[agent]
            continue
        timer = at(environment, when, FIRST_PRIORITY + position(agents, agent, when))
        agents.events += 1
        yield timer | agents.wake[agent]
        if timer.processed and int(agenda[agent]) == environment.now:
            act(agents, agent)


def act(agents: Agents, agent: int) -> None:
    """Do one act, and the wake-ups that follow from it."""
    launch, together = agents.launch, agents.together
    now = int(agents.environment.now)
    if together:
        chip.lend(together.sms, agents.index, together.chips, now)
    step.act_on(launch.sms, launch.memory, agent, now)
    news = bool(together and launch.sm.cluster_news)
    if together:
        chip.take_back(together.sms, agents.index, together.chips, now)
    look_around(agents, agent)
    if news:
        for others in agents.every:
            if others is not agents:
                look_around(others)


def look_around(agents: Agents, acting: int = -1) -> None:
    """Wake every agent of an SM, but the one that acts, that must now act sooner."""
    for other, (planned, due) in enumerate(zip(agents.planned, np.asarray(agents.agenda).tolist(), strict=False)):
        if other != acting and due < planned:
            wake_up(agents, other)


def wake_up(agents: Agents, agent: int) -> None:
    """Let a sleeping agent look at its agenda again."""
    sleeping, agents.wake[agent] = agents.wake[agent], agents.environment.event()
    agents.planned[agent] = int(agents.agenda[agent])
    sleeping.succeed()


def start(launch: Launch) -> list[Agents]:
    """Return the launch with its SM's agents asleep, at cycle 0."""
    return [_asleep(Agents(launch, simpy.Environment()))]


def start_chip(together: ChipLaunch) -> list[Agents]:
    """Return all SMs with their agents asleep, at cycle 0 of one clock."""
    environment = simpy.Environment()
    every = [_asleep(Agents(launch, environment, together, s)) for s, launch in enumerate(together.each)]
    for agents in every:
        agents.every = every
    return every


def _asleep(agents: Agents) -> Agents:
    agents.launch.order = order(agents.launch)
    for agent in range(int(agents.launch.sm.agents)):
        agents.environment.process(live(agents, agent))
    return agents


def goes_on(agents: Agents) -> bool:
    """Tell whether the SM can take another cycle: no fault, and room for its trace records."""
    return bool(agents.fault[0] == 0 and agents.traced[0] + TRACE_MARGIN < TRACE)


def run(every: Sequence[Agents], until: int) -> int:
    """Advance to the first event at or after `until` and return its cycle (NEVER: nothing left); stop at a fault."""
    environment = every[0].environment
    while _more(every, until):
        with held_back():  # compiled code cannot pass an exception to its caller
            for _ in range(AT_ONCE):
                if _more(every, until):
                    environment.step()
    return int(min(environment.peek(), NEVER))


def _more(every: Sequence[Agents], until: int) -> bool:
    """Tell whether there is an event before `until`, and each SM can take another cycle."""
    return bool(every[0].environment.peek() < until and all(map(goes_on, every)))
