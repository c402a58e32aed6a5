// Colours of style/tokens.css as a canvas needs them: what the browser makes of the token now.

const probe = document.createElement('i');
probe.hidden = true;

/** The computed colour of the custom property `token`, such as "--series-1". */
export function colour(token: string): string {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(${token})`;
  return getComputedStyle(probe).color;
}

const kSeriesCount = 4;
const kDashes = [undefined, [6, 4], [2, 3]];

/** Token of the `index`-th of several series. */
export const seriesToken = (index: number): string => `--series-${(index % kSeriesCount) + 1}`;

/** Where there are more series than colours, the dashes tell the rest apart. */
export const seriesDash = (index: number): number[] | undefined => kDashes[Math.floor(index / kSeriesCount) % kDashes.length];
