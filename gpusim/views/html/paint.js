// Two ways to fill rectangles of a state's colour: one by one, or as pixels where there are very many.

function rectanglePen({ context, palette }) {
  return {
    fill(x, y, width, height, state) {
      context.fillStyle = palette.css[state];
      context.fillRect(x, y, Math.max(width, 1), height);
    },
    finish() {},
  };
}

/** A pen for part of a pane, which appears when the pen is done. Each rectangle is at least a device pixel. */
function pixelPen(pane, background, left, top, width, height) {
  const scale = pane.density;
  const image = pane.context.createImageData(
    Math.max(1, Math.round(width * scale)),
    Math.max(1, Math.round(height * scale)),
  );
  const pixels = new Uint32Array(image.data.buffer).fill(pixelOf(background));
  const edge = (position, most) => Math.min(Math.max(Math.floor(position * scale), 0), most);
  return {
    fill(x, y, wide, high, state) {
      const [x0, y0] = [edge(x - left, image.width - 1), edge(y - top, image.height - 1)];
      const x1 = Math.max(x0 + 1, edge(x - left + wide, image.width));
      const y1 = Math.max(y0 + 1, edge(y - top + high, image.height));
      const colour = pane.palette.pixel[state];
      for (let start = y0 * image.width; start < y1 * image.width; start += image.width) {
        for (let at = start + x0; at < start + x1; at++) pixels[at] = colour;
      }
    },
    finish() {
      pane.context.putImageData(image, Math.round(left * scale), Math.round(top * scale));
    },
  };
}
