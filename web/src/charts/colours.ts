// Colours of style/tokens.css as a canvas needs them: what the browser makes of the token now.

const probe = document.createElement('i');
probe.hidden = true;

/** The computed colour of the custom property `token`, such as "--series-1". */
export function colour(token: string): string {
  if (!probe.isConnected) document.body.append(probe);
  probe.style.color = `var(${token})`;
  return getComputedStyle(probe).color;
}

export const kSeriesCount = 4;

/** Token of the `index`-th of several series; those beyond the colours, and -1, are grey. */
export const seriesToken = (index: number): string => (index >= 0 && index < kSeriesCount ? `--series-${index + 1}` : '--text-3');
