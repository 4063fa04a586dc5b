// The stall heat strip: for each moment, the share of issue slots lost, by reason. What is blank was used.

/** A strip for each scheduler, along the cycles that the pane shows. */
function drawStrips(view, pane) {
  const { context, run } = pane;
  context.font = `11px ${MONOSPACE}`;
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (let scheduler = 0; scheduler < run.schedulers; scheduler++) {
    const y = pane.heat + scheduler * BANDS.scheduler;
    const strip = { x: pane.left, y, width: plotWidth(pane), height: BANDS.scheduler - 1 };
    drawHeat(view, pane, [scheduler], strip, pane.cycle, pane.cycle + strip.width / view.scale);
    context.fillStyle = view.ink.faint;
    context.fillText(`scheduler ${scheduler}`, 6, y + BANDS.scheduler / 2);
  }
}

/** A strip for each unit that works by itself: tensor cores, the copy engine, barriers in shared memory. */
function drawUnits(view, pane) {
  const { context, run } = pane;
  const height = BANDS.scheduler - 1;
  run.units.forEach((unit, row) => {
    const y = pane.units + row * BANDS.scheduler;
    context.fillStyle = view.ink.faint;
    context.fillText(unit.name, 6, y + BANDS.scheduler / 2);
    context.fillStyle = view.ink.stripe;
    context.fillRect(pane.left, y, plotWidth(pane), height);
    clipped(context, [pane.left, y, plotWidth(pane), height], () => {
      const pen = rectanglePen(pane);
      for (let k = 0; k < unit.start.length; k++) {
        const [x0, x1] = [xOf(view, pane, unit.start[k]), xOf(view, pane, unit.end[k])];
        if (x1 > pane.left && x0 < pane.width) pen.fill(x0, y, Math.max(1, x1 - x0 - (x1 - x0 > 3)), height, unit.state[k]);
      }
    });
  });
}

function drawHeat(view, pane, schedulers, strip, start, end) {
  const shares = noShares(pane.run, start, end, Math.max(1, Math.round(strip.width * pane.density)));
  for (const scheduler of schedulers) {
    const lost = pane.run.lostBy[scheduler];
    for (let k = lowerBound(lost.end, start); k < lost.start.length && lost.start[k] < end; k++) {
      addShare(shares, lost.reason[k], lost.start[k], lost.end[k], 1 / schedulers.length);
    }
  }
  const pen = pixelPen(pane, view.ink.stripe, strip.x, strip.y, strip.width, strip.height);
  fillShares(pen, shares, strip);
  pen.finish();
}

/** The lost slots of each scheduler, in order of time. */
function groupLost(run) {
  return Array.from({ length: run.schedulers }, (_, scheduler) => {
    const own = [...run.lost.start.keys()].filter((k) => run.lost.scheduler[k] === scheduler);
    own.sort((a, b) => run.lost.start[a] - run.lost.start[b]);
    const column = (name) => Int32Array.from(own, (k) => run.lost[name][k]);
    return { start: column("start"), end: column("end"), reason: column("reason"), endedBy: column("ended_by") };
  });
}
