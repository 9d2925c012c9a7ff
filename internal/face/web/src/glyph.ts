// The shapes of series, the same as those of svg.go.
export function glyph(ctx: CanvasRenderingContext2D, colour: number, x: number, y: number, r: number): void {
  ctx.beginPath();
  switch ((colour - 1) % 6) {
    case 0: ctx.arc(x, y, r, 0, 2 * Math.PI); break;
    case 1: ctx.rect(x - r, y - r, 2 * r, 2 * r); break;
    case 2: corners(ctx, [[x, y - 1.2 * r], [x + 1.2 * r, y + r], [x - 1.2 * r, y + r]]); break;
    case 3: corners(ctx, [[x, y - 1.3 * r], [x + 1.3 * r, y], [x, y + 1.3 * r], [x - 1.3 * r, y]]); break;
    case 4: corners(ctx, [[x, y + 1.2 * r], [x + 1.2 * r, y - r], [x - 1.2 * r, y - r]]); break;
    default:
      ctx.moveTo(x - 1.2 * r, y); ctx.lineTo(x + 1.2 * r, y);
      ctx.moveTo(x, y - 1.2 * r); ctx.lineTo(x, y + 1.2 * r);
      ctx.stroke();
      return;
  }
  ctx.fill();
}

function corners(ctx: CanvasRenderingContext2D, at: [number, number][]): void {
  at.forEach(([x, y], i) => (i ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
  ctx.closePath();
}
