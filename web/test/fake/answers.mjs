// Answers of the API about a made-up cluster: filters, pages and counts as the daemon has them.
import { kGpus, kNow } from './cluster.mjs';

const kLimits = [3600, 28800, 86400];

const has = (text, part) => text.toLowerCase().includes(part.toLowerCase());

export function waits(cluster) {
  const gpus = typesOf(cluster).map((gpu) => gpuWaits(cluster, gpu));
  return {
    gpus,
    best: [1, 2, 4, 8].flatMap((count) => kLimits.map((limit) => best(gpus, count, limit))).filter((row) => row.choices.length > 0),
    ...counts(cluster),
    forecast: {
      method: 'history',
      samples: 64,
      note: 'of 900 jobs that were said to start at once, 99 % did; half of those said to wait came within 21 min of the median',
      record: {},
    },
  };
}

/** Falls for six hours, then rises; the range widens with time. */
export function free(cluster, query) {
  const hours = cluster.freeHours ?? Number(query.get('hours') ?? 48);
  const step_seconds = 900;
  const steps = Array.from({ length: hours * 4 + 1 }, (_, step) => step);
  const gpus = freeByType(cluster).map(({ gpu, gpu_name, free: now, total }) => {
    const usable = totals(cluster.nodes.filter((node) => node.gpus[0]?.gpu === gpu)).usable;
    const p50 = steps.map((step) => Math.round(step < 24 ? now * (1 - step / 24) : ((usable * (step - 24)) / (hours * 4)) * 0.8));
    const doubt = (step) => Math.round((usable * Math.min(step, 96)) / 480);
    const low = p50.map((count, step) => Math.max(0, count - doubt(step)));
    const high = p50.map((count, step) => Math.min(usable, count + doubt(step)));
    return { gpu, gpu_name, total, usable, p10: low, p50, p90: high };
  });
  return { start: kNow, step_seconds, until: kNow + hours * 3600, samples: 32, watched_seconds: 604800, gpus };
}

export function counts(cluster) {
  const pending = cluster.jobs.filter((job) => job.state === 'PENDING').length;
  return { pending, running: cluster.jobs.length - pending };
}

const typesOf = (cluster) => [...new Set(cluster.nodes.flatMap((node) => node.gpus.map((gpus) => gpus.gpu)))];

export function freeByType(cluster) {
  return typesOf(cluster).map((gpu) => {
    const { free, total } = totals(cluster.nodes.filter((node) => node.gpus[0]?.gpu === gpu));
    return { gpu, gpu_name: nameOf(cluster, gpu), free, total };
  });
}

const nameOf = (cluster, gpu) => cluster.nodes.find((node) => node.gpus[0]?.gpu === gpu).gpus[0].gpu_name;

const out = (node) => node.condition === 'down' || node.condition === 'drained';

function totals(nodes) {
  const sum = { total: 0, usable: 0, free: 0, used: 0, promised: 0 };
  for (const node of nodes) {
    for (const gpus of node.gpus) {
      sum.total += gpus.total;
      sum.usable += out(node) ? 0 : gpus.total;
      sum.free += node.condition === 'promised' ? 0 : gpus.free;
      sum.used += gpus.used;
      sum.promised += node.condition === 'promised' ? gpus.total - gpus.used : 0;
    }
  }
  return sum;
}

function gpuWaits(cluster, gpu) {
  const nodes = cluster.nodes.filter((node) => node.gpus[0]?.gpu === gpu);
  const per = nodes[0].gpus[0].total;
  const { total, usable, free } = totals(nodes);
  const shapes = [
    ['one', 1, 1],
    ['half_node', Math.ceil(per / 2), 1],
    ['node', per, 1],
    ['two_nodes', per, 2],
  ];
  const partition = nodes[0].partitions[0];
  const hard = Object.keys(kGpus).indexOf(gpu);
  const row = ([shape, gpus_per_node, count]) => kLimits.map((limit) => oneWait(shape, gpus_per_node, count, limit, partition, free, hard));
  return {
    gpu,
    gpu_name: nodes[0].gpus[0].gpu_name,
    memory_bytes: kGpus[gpu]?.memory_bytes ?? null,
    partitions: [...new Set(nodes.flatMap((node) => node.partitions))],
    nodes: nodes.length,
    gpus_per_node: per,
    total,
    usable,
    free,
    waits: shapes.flatMap(row),
  };
}

function oneWait(shape, gpus_per_node, nodes, time_limit_seconds, partition, free, hard) {
  const base = { shape, gpus_per_node, nodes, time_limit_seconds };
  if (shape === 'two_nodes' && hard === 1) {
    return {
      ...base,
      partition: null,
      wait_p10_seconds: null,
      wait_p50_seconds: null,
      wait_p90_seconds: null,
      reason: 'no partition lets one job have two nodes with RTX 4070',
    };
  }
  const need = gpus_per_node * nodes;
  const p50 = need <= free / 2 ? 0 : Math.round(400 * (1 + hard) * Math.sqrt(need) * (time_limit_seconds / 3600) ** 0.4 * nodes ** 2);
  return {
    ...base,
    partition,
    wait_p10_seconds: Math.round(p50 / 3),
    wait_p50_seconds: p50,
    wait_p90_seconds: p50 === 0 ? 20 : Math.round(p50 * 2.6),
    reason: null,
  };
}

function best(gpus, count, limit) {
  const fitting = gpus.filter((gpu) => gpu.gpus_per_node >= count);
  const choices = fitting.map((gpu) => {
    const wait = gpu.waits.find((one) => one.gpus_per_node >= count && one.time_limit_seconds === limit);
    return {
      gpu: gpu.gpu,
      gpu_name: gpu.gpu_name,
      partition: gpu.partitions[0],
      wait_p50_seconds: wait.wait_p50_seconds,
      wait_p90_seconds: wait.wait_p90_seconds,
      wait_mean_seconds: wait.wait_p50_seconds * 1.3,
    };
  });
  choices.sort((a, b) => a.wait_mean_seconds - b.wait_mean_seconds);
  return { gpus_per_node: count, nodes: 1, time_limit_seconds: limit, choices: choices.slice(0, 3) };
}

/** Where a job of one node and any type starts first. */
export function select(cluster, { job, min_gpu_memory_bytes: least = 0 }) {
  const count = Number(job.gres.split(':').at(-1));
  const begin = job.begin ? job.begin - kNow : 0;
  const fits = (gpu) => gpu.gpus_per_node >= count && (gpu.memory_bytes ?? 0) >= least;
  const gpus = waits(cluster).gpus;
  const alternatives = gpus.filter(fits).map((gpu, at) => {
    const p50 = begin + 600 * at * job.nodes;
    const waitsOf = { wait_p10_seconds: begin, wait_p50_seconds: p50, wait_p90_seconds: begin + 2 * (p50 - begin), wait_mean_seconds: p50 };
    const { gpu: id, gpu_name, memory_bytes: gpu_memory_bytes } = gpu;
    return { gpu: id, gpu_name, gpu_memory_bytes, partition: gpu.partitions[0], may_be_preempted: at === 2, ...waitsOf };
  });
  const rejected = gpus
    .filter((gpu) => !fits(gpu))
    .map((gpu) => ({ gpu: gpu.gpu, gpu_name: gpu.gpu_name, partition: gpu.partitions[0], reason: 'it is too small' }));
  return { job: {}, reason: alternatives.length > 0 ? '' : 'nothing fits', alternatives, rejected };
}

export function nodes(cluster, query) {
  const partition = query.get('partition');
  const gpu = query.get('gpu');
  const search = query.get('search') ?? '';
  const name = query.get('node');
  const matching = cluster.nodes.filter(
    (node) =>
      (!name || node.name === name) &&
      (!partition || node.partitions.includes(partition)) &&
      (!gpu || node.gpus.some((gpus) => gpus.gpu === gpu)) &&
      (!search || has(`${node.name} ${node.reason} ${node.features.join(' ')}`, search)),
  );
  const conditions = { free: 0, partly: 0, busy: 0, promised: 0, drained: 0, down: 0 };
  for (const node of matching) conditions[node.condition] += 1;
  const condition = query.get('condition');
  const lists = { broken: out, idle_allocated: (node) => node.idle_allocated > 0 };
  const rows = condition ? matching.filter(lists[condition] ?? ((node) => node.condition === condition)) : matching;
  const [offset, limit] = page(query, 200);
  return {
    groups: groups(cluster),
    broken: brokenOf(cluster),
    idle_allocated: cluster.idle ?? idleOf(cluster),
    conditions,
    nodes: rows.slice(offset, offset + limit),
    total: rows.length,
    offset,
  };
}

export function scheduler() {
  const cycles = (scale) => ({ last_seconds: 0.8 * scale, mean_seconds: scale, max_seconds: 4 * scale, cycles: 900 });
  return {
    read_at: kNow - 120,
    since: kNow - 40_000,
    main: { ...cycles(0.0021), mean_depth: 40, queue_length: 410 },
    backfill: { ...cycles(2.4), mean_depth: 230, queue_length: 400 },
    backfilled_jobs: 1234,
    rpcs: 98_765,
    rpc_mean_seconds: 0.00042,
    server_threads: 3,
    agent_queue: 0,
    problem: null,
  };
}

/** Before now a job that has ended on each node with GPUs, then what runs, then what the node is kept for. */
export function timeline(cluster, query) {
  const span = 3600 * Number(query.get('hours') ?? 24);
  const found = nodes(cluster, query);
  const rowOf = (node) => {
    const [gpus] = node.gpus;
    const bar = { name: null, user: null, start_p90: null, end_p90: null };
    const ended = { ...bar, job_id: 7000, gpus: 1, kind: 'ended', start: kNow - 5 * 3600, end: kNow - 3 * 3600 };
    const running = node.jobs.map(({ job_id, name, user, gpus: held, start_time, end_p50, end_p90 }) => {
      return { ...bar, job_id, name, user, gpus: held, kind: 'running', start: start_time, end: end_p50, end_p90 };
    });
    const next = node.promised && { ...bar, job_id: node.promised.job_id, gpus: gpus.total, kind: 'forecast', start: node.promised.start };
    const comes = next && { ...next, start_p90: next.start + 3600, end: next.start + 7200 };
    const jobs = [ended, ...running, ...(comes ? [comes] : [])];
    const { name, condition } = node;
    return { name, condition, gpu: gpus.gpu, gpu_name: gpus.gpu_name, total: gpus.total, jobs, jobs_total: jobs.length };
  };
  const rows = found.nodes.filter((node) => node.gpus.length > 0).map(rowOf);
  return { start: kNow - span, until: kNow + span, known_since: kNow - 6 * 3600, nodes: rows, total: found.total, offset: found.offset };
}

const kLetters = { free: 'f', partly: 'p', busy: 'b', promised: 'k', drained: 'd', down: 'x' };

/** A letter for each node; names are not made into ranges as the daemon makes them. */
export function map(cluster) {
  const found = new Map();
  for (const node of cluster.nodes) {
    for (const gpus of node.gpus) {
      const key = `${node.partitions[0]}/${gpus.gpu}/${gpus.total}`;
      const empty = { partition: node.partitions[0], gpu: gpus.gpu, gpu_name: gpus.gpu_name, gpus_per_node: gpus.total, nodes: '' };
      const group = found.get(key) ?? { ...empty, condition: '', used: '', free: '' };
      found.set(key, group);
      group.nodes += (group.nodes ? ',' : '') + node.name;
      group.condition += kLetters[node.condition];
      group.used += gpus.used.toString(36);
      group.free += gpus.free.toString(36);
    }
  }
  return { groups: [...found.values()] };
}

function brokenOf(cluster) {
  const rows = new Map();
  for (const node of cluster.nodes.filter(out)) {
    const { gpu = '', gpu_name = '', total = 0, used = 0 } = node.gpus[0] ?? {};
    const row = rows.get(gpu) ?? { gpu, gpu_name, nodes: 0, gpus: 0, lost: 0 };
    rows.set(gpu, { ...row, nodes: row.nodes + 1, gpus: row.gpus + total, lost: row.lost + total - used });
  }
  return [...rows.values()];
}

function idleOf(cluster) {
  const idle = cluster.nodes.filter((node) => node.idle_allocated > 0);
  return idle.length === 0 ? null : { nodes: idle.length, gpus: idle.reduce((sum, node) => sum + node.idle_allocated, 0), problem: null };
}

const page = (query, size) => [Number(query.get('offset') ?? 0), Number(query.get('limit') ?? size)];

function groups(cluster) {
  const keys = new Map();
  for (const node of cluster.nodes) {
    const key = `${node.partitions[0]}/${node.gpus[0]?.gpu ?? ''}`;
    keys.set(key, [...(keys.get(key) ?? []), node]);
  }
  return [...keys.values()].map((members) => {
    const sum = totals(members);
    return {
      partition: members[0].partitions[0],
      gpu: members[0].gpus[0]?.gpu ?? '',
      gpu_name: members[0].gpus[0]?.gpu_name ?? '',
      nodes: members.length,
      gpus: sum.total,
      free: sum.free,
      used: sum.used,
      promised: sum.promised,
      unavailable: sum.total - sum.free - sum.used - sum.promised,
    };
  });
}

export function queue(cluster, query) {
  const state = query.get('state');
  const search = query.get('search') ?? '';
  const wanted = (job) =>
    (!state || (job.state === 'PENDING') === (state === 'pending')) &&
    (!query.get('partition') || job.partition === query.get('partition')) &&
    (!query.get('gpu') || job.gpu === query.get('gpu')) &&
    (!query.get('user') || job.user === query.get('user')) &&
    (!query.get('qos') || job.qos === query.get('qos')) &&
    (!query.get('account') || job.account === query.get('account')) &&
    (!search || String(job.job_id) === search || has(`${job.name ?? ''} ${job.user ?? ''}`, search));
  const rows = sortedJobs(cluster.jobs.filter(wanted), query.get('sort') ?? '');
  const [offset, limit] = page(query, query.get('format') === 'csv' ? rows.length : 100);
  return {
    jobs: rows.slice(offset, offset + limit),
    total: rows.length,
    hidden: 0,
    owners: { users: namesOf(cluster, 'user'), accounts: namesOf(cluster, 'account'), qos: namesOf(cluster, 'qos') },
    offset,
    pools: poolsOf(cluster),
    sweeps: cluster.sweeps,
  };
}

const namesOf = (cluster, key) => [...new Set(cluster.jobs.map((job) => job[key]))].filter((name) => name).sort();

const kSortValues = {
  job_id: (job) => job.job_id,
  user: (job) => job.user,
  gpus: (job) => job.gpus,
  partition: (job) => job.partition,
  state: (job) => job.reason || '~running',
  start: (job) => job.start_p50 ?? job.end_p50,
};

const lately = { jobs: [], sort: '', sorted: [] };

// Pages of one order follow each other: it is kept.
function sortedJobs(jobs, sort) {
  const same = lately.sort === sort && lately.jobs.length === jobs.length && lately.jobs.every((job, at) => job === jobs[at]);
  if (!same) Object.assign(lately, { jobs, sort, sorted: inOrder(jobs, sort) });
  return lately.sorted;
}

function inOrder(jobs, sort) {
  const value = kSortValues[sort.replace(/^-/, '')];
  if (!value) return jobs;
  const sign = sort.startsWith('-') ? -1 : 1;
  const none = (job) => Number(value(job) === null || value(job) === undefined);
  const compare = (a, b) => none(a) - none(b) || sign * (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) || a.job_id - b.job_id;
  return [...jobs].sort(compare);
}

// By account as the daemon has it: accounts that nobody may see are one row without a name.
export function waiting(cluster) {
  const accounts = new Map();
  const empty = (account) => ({
    account,
    pending: 0,
    pending_gpus: 0,
    pending_gpu_hours: 0,
    running: 0,
    running_gpus: 0,
    oldest_submit: null,
    next_start_p50: null,
    reasons: [],
  });
  const all = empty(null);
  for (const job of cluster.jobs.filter((one) => one.gpus > 0)) {
    if (!accounts.has(job.account)) accounts.set(job.account, empty(job.account));
    for (const row of [accounts.get(job.account), all]) countWaiting(job, row);
  }
  const gpus = totals(cluster.nodes);
  const rows = [...accounts.values()].sort((a, b) => b.pending_gpus - a.pending_gpus);
  return {
    gpus: {
      total: gpus.total,
      used: gpus.used,
      free: gpus.free,
      promised: gpus.promised,
      unavailable: gpus.total - gpus.used - gpus.free - gpus.promised,
    },
    all,
    accounts: rows,
  };
}

const earlier = (a, b) => (a === null ? b : b === null || b === undefined ? a : Math.min(a, b));

function countWaiting(job, row) {
  if (job.state !== 'PENDING') {
    row.running += 1;
    row.running_gpus += job.gpus;
    return;
  }
  const gpus = job.gpus * job.array_task_count;
  row.pending += 1;
  row.pending_gpus += gpus;
  row.pending_gpu_hours = Math.round(10 * row.pending_gpu_hours + (gpus * job.run_p50_seconds) / 360) / 10;
  row.oldest_submit = earlier(row.oldest_submit, job.submit_time);
  row.next_start_p50 = earlier(row.next_start_p50, job.start_p50);
  const reason = row.reasons.find((one) => one.reason_words === job.reason_words);
  if (reason) Object.assign(reason, { jobs: reason.jobs + 1, gpus: reason.gpus + gpus });
  else row.reasons.push({ reason: job.reason, reason_words: job.reason_words, clears: job.clears, jobs: 1, gpus });
}

/** One job with why it waits and what would start it sooner; null where there is none. */
export function job(cluster, id) {
  const found = cluster.jobs.find((one) => one.job_id === id);
  if (!found) return null;
  const pending = found.state === 'PENDING';
  const sooner = [
    { change: '--gpus-per-node gpu4090:1', words: 'with --gpus-per-node gpu4090:1 it would start now', wait_p50_seconds: 0 },
    { change: '-t 04:00:00', words: 'with -t 04:00:00 it would start in 25 min', wait_p50_seconds: 1500 },
  ];
  return {
    ...found,
    jobs_before: pending ? 3 : null,
    ahead: pending ? [7001, 7002].map((ahead) => ({ job_id: ahead, gpus: 4, nodes: 1, priority: 12_000 })) : undefined,
    on_nodes: cluster.nodes.filter((node) => node.jobs.some((one) => one.job_id === id)).map((node) => node.name),
    priority_factors: pending
      ? { total: 10000, age: 1500, association: 0, fair_share: 6000, job_size: 500, partition: 1000, qos: 1000, tres: 0, nice: 0 }
      : null,
    warnings: [],
    why: pending
      ? [
          { words: found.reason_words, clears: found.clears },
          { words: '3 jobs ahead of it want the same nodes', clears: 'when they have started' },
        ]
      : [],
    cheaper: pending && found.wait_p50_seconds > 600 ? sooner : [],
    moved:
      pending && found.job_id % 3 === 0
        ? { said_start: found.submit_time + 600, start: found.start_p50, because: ['4 jobs came ahead of it'] }
        : null,
    limit_advice: pending
      ? {
          words: '-t 03:30:00 instead of 1-00:00:00: starts 2 h 10 sooner',
          time_limit_seconds: 12600,
          command: `scontrol update jobid=${id} timelimit=03:30:00`,
        }
      : null,
  };
}

const kept = new WeakMap();

// Those of the large cluster, which tests do not change, are counted once.
function poolsOf(cluster) {
  if (cluster.nodes.length < 1000) return pools(cluster);
  if (!kept.has(cluster)) kept.set(cluster, pools(cluster));
  return kept.get(cluster);
}

function pools(cluster) {
  const found = new Map();
  for (const group of groups(cluster)) {
    found.set(`${group.partition}/${group.gpu}`, {
      partition: group.partition,
      gpu: group.gpu,
      gpu_name: group.gpu_name,
      pending: 0,
      pending_gpus: 0,
      running: 0,
      running_gpus: 0,
      free: group.free,
    });
  }
  for (const job of cluster.jobs) {
    const pool = found.get(`${job.partition}/${job.gpu}`);
    if (!pool) continue;
    const kind = job.state === 'PENDING' ? 'pending' : 'running';
    pool[kind] += 1;
    pool[`${kind}_gpus`] += job.gpus;
  }
  return [...found.values()];
}
