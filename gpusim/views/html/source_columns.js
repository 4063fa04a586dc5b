// The columns of the source view's halves.

/** Columns of figures that both halves have. */
function figureColumns(run, half) {
  const { most, all } = bySource(run);
  const waited = (row) => row.sum?.waited ?? 0;
  const issues = (row) => row.sum?.issues ?? 0;
  const conflicts = (row) => row.sum?.conflicts ?? 0;
  const columns = [
    {
      name: "waited",
      figure: true,
      title: "warp-cycles, by reason",
      kind: "bar",
      of: waited,
      show: (row) => (waited(row) ? bar(run, row.sum, most[half].waited) : ""),
    },
    {
      name: "share",
      figure: true,
      title: "of all warp-cycles waited in the cycles shown",
      kind: "number heat",
      of: waited,
      heat: (row) => waited(row) / most[half].waited,
      show: (row) => (waited(row) ? percent(waited(row), all) : ""),
    },
    {
      name: "issues",
      figure: true,
      title: "warp instructions",
      kind: "number heat cool",
      of: issues,
      heat: (row) => issues(row) / most[half].issues,
      show: (row) => (issues(row) ? counted(issues(row)) : ""),
    },
    {
      name: "conflicts",
      figure: true,
      title: "passes through shared memory, or requests to global memory, beyond those that the widths need",
      kind: "number",
      of: conflicts,
      show: (row) => (conflicts(row) ? counted(conflicts(row)) : ""),
    },
  ];
  return most.code.conflicts ? columns : columns.slice(0, -1);
}

function lineColumns(run) {
  return [
    { name: "line", kind: "number", natural: true, of: (row) => row.line, show: (row) => row.line },
    { name: "source", kind: "code", natural: true, of: (row) => row.line, show: (row) => row.text },
    ...figureColumns(run, "lines"),
  ];
}

/** The number of an instruction: its offset in machine code, else its pc. */
function nameOf({ offset, pc }) {
  return offset >= 0 ? offset.toString(16).padStart(4, "0") : String(pc);
}

function codeColumns(run) {
  const hex = run.program.some((one) => one.offset >= 0);
  const own = hex ? { name: "offset", title: "bytes, in hexadecimal", show: nameOf } : { name: "pc", show: nameOf };
  const line = { name: "line", kind: "number", of: (row) => row.line ?? 0, show: (row) => row.line || "" };
  return [
    { ...own, kind: "number", natural: true, of: (row) => row.pc },
    { name: "instruction", kind: "code", natural: true, of: (row) => row.pc, show: (row) => row.text },
    ...(hasLines(run) ? [line] : []),
    ...figureColumns(run, "code"),
  ];
}
