// The foot: by which clock times are told, which program answers, and the keys.
import { useLive } from '../live/live';
import type { Clock } from './clock';
import { openPalette } from './palette';
import { setParams } from './route';

export function Footer({ clock }: { clock: Clock }) {
  const { snapshot } = useLive();
  const { browser, cluster } = clock.zones;
  return (
    <footer class="foot">
      {clock.fixed ? (
        <span>Times are the cluster’s ({cluster}).</span>
      ) : (
        <label class="field-row">
          <span>Times</span>
          <select
            value={clock.cluster || cluster !== '' ? 'cluster' : ''}
            onChange={(event) => setParams({ clock: (event.target as HTMLSelectElement).value })}
          >
            <option value="">in your time zone ({browser})</option>
            <option value="cluster">in the cluster’s time zone{cluster ? ` (${cluster})` : ''}</option>
          </select>
        </label>
      )}
      <button type="button" class="link" onClick={openPalette}>
        Jump to … and keys
      </button>
      {snapshot ? (
        <span>
          gpuadvised {snapshot.version}
          {snapshot.source ? `, source ${snapshot.source}` : ''}
        </span>
      ) : null}
    </footer>
  );
}
