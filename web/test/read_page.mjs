// What a view shows, as plain values read from its document.

const number = `(text) => (text === undefined || text === '' ? null : Number(text))`;

const kReaders = {
  now: () => ({
    starts: all('.starts > li', (row) => ({
      gpu: row.querySelector('b')?.textContent ?? '',
      time: row.querySelector('.start-time')?.textContent,
      range: row.querySelector('.start-range')?.textContent,
    })),
    gpus: all('tr[id^="gpu-"]', (row) => ({
      gpu: row.id.slice('gpu-'.length),
      name: row.querySelector('th b').textContent,
      split: Object.fromEntries(
        [
          ...row.querySelector('.split > span').textContent.matchAll(/([\d,]+) (free, but not for this job|free|kept|in use|unavailable)/g),
        ].map(([, count, word]) => [word, int(count)]),
      ),
      why: row.querySelector('.kept')?.textContent ?? null,
      // One cell for each shape, or one for all.
      waits: [...row.querySelectorAll('.wait')].map((cell) => ({
        span: cell.colSpan,
        values: [...cell.querySelectorAll('data')].map((value) => num(value.value)),
        words: cell.textContent,
      })),
    })),
    free: int(document.querySelector('#cluster-title')?.closest('section').querySelector('.figure b').textContent),
    note: text('.record'),
  }),
  nodes: () => ({
    groups: all('#groups tbody tr', (row) => {
      const [gpu_name, free, used, promised, unavailable, gpus, nodes] = [...row.querySelectorAll('td')].map((cell) => cell.textContent);
      const counts = { nodes, gpus, free, used, promised, unavailable };
      return {
        partition: row.querySelector('a bdi').textContent,
        gpu_name,
        ...Object.fromEntries(Object.entries(counts).map(([name, words]) => [name, int(words)])),
      };
    }),
    total: total(),
    nodes: all('.map > li', (tile) => ({
      name: tile.id.slice('node-'.length),
      condition: /tile-(\w+)/.exec(tile.querySelector('button').className)[1],
      words: tile.querySelector('.tile-until').textContent,
      gpus: [...tile.querySelectorAll('.cells:not(.quiet)')].map((cells) => {
        const kinds = [...cells.children].map((cell) => cell.className.replace('cell cell-', ''));
        const count = (kind) => kinds.filter((one) => one === kind).length;
        return { total: kinds.length, used: count('used'), free: count('free'), cells: kinds };
      }),
    })),
    details: text('aside.details'),
  }),
  queue: () => ({
    pools: all('#pools tbody tr', (row) => {
      const [gpu_name, pending, , running, , free] = [...row.querySelectorAll('td')].map((cell) => cell.textContent);
      return { partition: row.querySelector('a bdi').textContent, gpu_name, pending: int(pending), running: int(running), free: int(free) };
    }),
    total: total(),
    jobs: all('tr[id^="job-"]', (row) => {
      const state = row.querySelector('.span-running, .span-open') ? 'RUNNING' : 'PENDING';
      const value = num(row.querySelector('.when data')?.value);
      return {
        job_id: num(row.id.slice('job-'.length)),
        state,
        wait_p50: state === 'PENDING' ? value : null,
        end_p50: state === 'RUNNING' ? value : null,
        when: row.querySelector('.when').firstChild.textContent,
        why: row.querySelector('.why').firstElementChild.textContent,
        bars: row.querySelectorAll('.span').length,
      };
    }),
  }),
  group: () => ({
    note: [...document.querySelectorAll('.answered .note')].map((note) => note.textContent).join(' '),
    users: all('.users tbody tr', (row) => row.querySelector('th')?.textContent ?? row.firstElementChild.textContent),
  }),
  history: () => ({
    note: text('.filters-page .note'),
    heat: all('.heat tbody tr', (row) => [...row.querySelectorAll('td')].map((cell) => num(cell.querySelector('data')?.value))),
    plots: all('.plot-canvas', (plot) => plot.getAttribute('aria-label')),
    canvases: document.querySelectorAll('canvas').length,
    little: document.body.textContent.includes('Too little is known yet for a chart.'),
  }),
  accuracy: () => ({
    note: text('#record .lead'),
    few: text('#record .few'),
    figures: Object.fromEntries(
      all('.figure', (figure) => [figure.querySelector('dt').textContent, figure.querySelector('b').textContent]),
    ),
    points: document.querySelectorAll('.said').length,
    calibration: document.querySelectorAll('.came').length,
    by_gpu: document.querySelectorAll('#by-gpu tbody tr').length,
  }),
  ask: () => ({
    ranks: all('tbody[id^="rank-"]', (row) => {
      const [gpu, wait, total] = [...row.querySelectorAll('data')].map((one) => one.value);
      const name = row.querySelector('th').textContent;
      const [, per, nodes] = / × (\d+)(?:× (\d+) node)?/.exec(name);
      return {
        rank: num(row.id.slice('rank-'.length)),
        gpu,
        gpus: Number(per) * Number(nodes ?? 1),
        wait_p50: num(wait),
        total_p50: num(total),
      };
    }),
    command: text('.best-command .command'),
    memory: all('.memory tbody tr', (row) => ({
      gpu_name: row.querySelector('th').textContent,
      fits: /^\d+$/.test(row.querySelector('td').textContent),
      parts: row.querySelectorAll('.part').length,
    })),
    scale: document.querySelector('#scale')
      ? {
          gpu: document.querySelector('select[name="scale-gpu"]').value,
          recommended: int(document.querySelector('#scale .lead b')?.firstChild.textContent),
        }
      : null,
    error: text('[role="alert"]'),
  }),
};

const head = () => ({
  cluster: text('.cluster .name'),
  pending: int(document.querySelectorAll('.counts b')[0]?.textContent),
  running: int(document.querySelectorAll('.counts b')[1]?.textContent),
  condition: document.querySelector('.age')?.className.replace('age age-', '') ?? null,
  age: text('.age'),
  banner: text('header [role="status"]'),
  trouble: text('.trouble'),
});

/** { head, …what the view shows }. */
export function readView(page, view) {
  const source = `(() => {
    const num = ${number};
    const int = (text) => (text === undefined || text === null ? null : Number(text.replace(/[^0-9]/g, '')));
    const total = () => int((/of ([0-9,]+)/.exec(document.querySelector('.pager-words')?.textContent ?? '') ?? [])[1] ?? document.querySelector('.pager-words')?.textContent);
    const all = (selector, make) => [...document.querySelectorAll(selector)].map(make);
    const text = (selector) => document.querySelector(selector)?.textContent ?? null;
    return { head: (${head})(), ...(${kReaders[view]})() };
  })()`;
  return page.evaluate(source);
}
