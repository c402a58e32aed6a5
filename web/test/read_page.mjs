// What a view shows, as plain values read from its document.

const number = `(text) => (text === undefined || text === '' ? null : Number(text))`;

const kReaders = {
  now: () => ({
    gpus: all('article[data-gpu]', (card) => ({
      gpu: card.dataset.gpu,
      name: card.querySelector('h3').textContent,
      free: num(card.dataset.free),
      total: num(card.dataset.total),
      usable: num(card.dataset.usable),
      text: card.querySelector('.card-free').textContent,
      waits: Object.fromEntries(
        [...card.querySelectorAll('tr[data-shape]')].map((row) => [row.dataset.shape, [...row.querySelectorAll('td')].map((cell) => ({ p50: num(cell.dataset.p50), p90: num(cell.dataset.p90), words: cell.dataset.words ?? cell.textContent }))]),
      ),
    })),
    best: all('tr[data-best]', (row) => ({ job: row.dataset.best, choices: [...row.querySelectorAll('td[data-gpu]')].map((cell) => ({ gpu: cell.dataset.gpu, partition: cell.dataset.partition, words: cell.textContent })) })),
    note: text('[data-note]'),
  }),
  nodes: () => ({
    groups: all('[data-panel="groups"] tbody tr', (row) => ({ partition: row.dataset.partition, gpu: row.dataset.gpu, nodes: num(row.dataset.nodes), gpus: num(row.dataset.gpus), free: num(row.dataset.free), used: num(row.dataset.used), promised: num(row.dataset.promised), unavailable: num(row.dataset.unavailable) })),
    total: num(document.querySelector('.pager')?.dataset.total),
    nodes: all('[data-node]', (tile) => ({
      name: tile.dataset.node,
      condition: tile.dataset.condition,
      words: tile.querySelector('.tile-until').textContent,
      gpus: [...tile.querySelectorAll('.cells[data-total]')].map((cells) => ({ total: num(cells.dataset.total), used: num(cells.dataset.used), free: num(cells.dataset.free), cells: [...cells.children].map((cell) => cell.className.replace('cell cell-', '')) })),
    })),
    details: document.querySelector('[data-details]')?.textContent ?? null,
  }),
  queue: () => ({
    pools: all('[data-panel="pools"] tbody tr', (row) => ({ partition: row.dataset.partition, gpu: row.dataset.gpu, pending: num(row.dataset.pending), running: num(row.dataset.running), free: num(row.dataset.free) })),
    total: num(document.querySelector('.pager')?.dataset.total),
    jobs: all('tr[data-job]', (row) => ({ job_id: num(row.dataset.job), state: row.dataset.state, start: num(row.dataset.startP50), wait_p50: num(row.dataset.waitP50), end_p50: num(row.dataset.endP50), when: row.querySelector('.when').firstChild.textContent, why: row.querySelector('.why').firstElementChild.textContent, bars: row.querySelectorAll('.span').length })),
  }),
  history: () => ({
    note: text('[data-note]'),
    heat: all('.heat tbody tr', (row) => [...row.querySelectorAll('td')].map((cell) => num(cell.dataset.value))),
    plots: all('[data-plot]', (plot) => plot.dataset.plot),
    canvases: document.querySelectorAll('canvas').length,
  }),
  accuracy: () => ({
    note: text('[data-note]'),
    few: text('[data-few]'),
    figures: Object.fromEntries(all('[data-figure]', (figure) => [figure.dataset.figure, figure.dataset.words])),
    points: document.querySelectorAll('.said').length,
    calibration: num(document.querySelector('[data-calibration]')?.dataset.calibration),
    by_gpu: document.querySelectorAll('[data-panel="by-gpu"] tbody tr').length,
  }),
  ask: () => ({
    ranks: all('tbody[data-rank]', (row) => ({ rank: num(row.dataset.rank), gpu: row.dataset.gpu, gpus: num(row.dataset.gpus), wait_p50: num(row.dataset.waitP50), total_p50: num(row.dataset.totalP50) })),
    command: text('.best-command .command'),
    memory: all('.memory tbody tr', (row) => ({ gpu: row.dataset.gpu, fits: row.dataset.fits === 'yes', parts: row.querySelectorAll('.part').length })),
    scale: document.querySelector('[data-scale-gpu]') ? { gpu: document.querySelector('[data-scale-gpu]').dataset.scaleGpu, recommended: num(document.querySelector('[data-scale-gpu]').dataset.recommended) } : null,
    error: text('[role="alert"]'),
  }),
};

const head = () => ({
  cluster: document.querySelector('[data-cluster]')?.dataset.cluster ?? null,
  pending: num(document.querySelector('.counts')?.dataset.pending),
  running: num(document.querySelector('.counts')?.dataset.running),
  condition: document.querySelector('.age')?.dataset.condition ?? null,
  age: text('.age'),
  banner: text('[role="status"]'),
  trouble: text('.trouble'),
});

/** { head, …what the view shows }. */
export function readView(page, view) {
  const source = `(() => {
    const num = ${number};
    const all = (selector, make) => [...document.querySelectorAll(selector)].map(make);
    const text = (selector) => document.querySelector(selector)?.textContent ?? null;
    return { head: (${head})(), ...(${kReaders[view]})() };
  })()`;
  return page.evaluate(source);
}
