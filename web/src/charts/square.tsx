// A square field with labelled axes and the diagonal, for "said against what came"; drawn as SVG.
import type { ComponentChildren } from 'preact';

export const kLeft = 52;
export const kTop = 10;
export const kSide = 300;
const kBottom = 44;
const kRight = 26;

interface Tick {
  at: number; // 0..1
  words: string;
}

interface SquareProps {
  label: string;
  xName: string;
  yName: string;
  ticks: Tick[];
  children: ComponentChildren;
}

/** From 0..1 to the drawing's own units. */
export const toX = (at: number): number => kLeft + at * kSide;
export const toY = (at: number): number => kTop + (1 - at) * kSide;

export function Square({ label, xName, yName, ticks, children }: SquareProps) {
  return (
    <svg class="square" viewBox={`0 0 ${kLeft + kSide + kRight} ${kTop + kSide + kBottom}`} role="img" aria-label={label}>
      {ticks.map((tick) => (
        <g key={tick.words}>
          <line class="grid" x1={toX(tick.at)} x2={toX(tick.at)} y1={toY(0)} y2={toY(1)} />
          <line class="grid" x1={toX(0)} x2={toX(1)} y1={toY(tick.at)} y2={toY(tick.at)} />
          <text x={toX(tick.at)} y={toY(0) + 15} text-anchor="middle">
            {tick.words}
          </text>
          <text x={toX(0) - 6} y={toY(tick.at) + 4} text-anchor="end">
            {tick.words}
          </text>
        </g>
      ))}
      <line class="diagonal" x1={toX(0)} y1={toY(0)} x2={toX(1)} y2={toY(1)} />
      {children}
      <text class="axis-name" x={toX(0.5)} y={toY(0) + 34} text-anchor="middle">
        {xName}
      </text>
      <text class="axis-name" x={toX(0) + 8} y={toY(1) + 15}>{`↑ ${yName}`}</text>
    </svg>
  );
}
