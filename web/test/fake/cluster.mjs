// Two clusters to show: a small one like a single lab's, and one of 10,000 nodes and 50,000 jobs.
// Nodes and queue rows in the shape of the API; everything else is counted from them.
import { random } from './random.mjs';

export const kNow = 1795300782;

const kGib = 2 ** 30;

export const kGpus = {
  rtx2080ti: { gpu_name: 'RTX 2080 Ti', gres_type: 'gpu2080ti', memory_bytes: 11 * kGib },
  rtx4070: { gpu_name: 'RTX 4070', gres_type: 'gpu4070', memory_bytes: 12 * kGib },
  rtx4090: { gpu_name: 'RTX 4090', gres_type: 'gpu4090', memory_bytes: 24 * kGib },
  l40s: { gpu_name: 'L40S', gres_type: 'gpul40s', memory_bytes: 48000000000 },
  'h100-1g.11gb': { gpu_name: 'H100 MIG 1g.11gb', gres_type: 'h100_1g.11gb', memory_bytes: 11 * kGib },
  'h100-80gb-sxm': { gpu_name: 'H100 80GB SXM', gres_type: 'h100', memory_bytes: 80 * kGib },
  'a100-80gb-sxm': { gpu_name: 'A100 80GB SXM', gres_type: 'a100', memory_bytes: 80 * kGib },
};

const kSmall = [
  { prefix: 'classt', from: 1, count: 8, gpu: 'rtx2080ti', gpus: 4, partition: 'gpu_shared' },
  { prefix: 'classt', from: 9, count: 5, gpu: 'rtx4070', gpus: 4, partition: 'gpu_shared' },
  { prefix: 'classt', from: 21, count: 2, gpu: 'rtx4090', gpus: 4, partition: 'gpu_shared' },
  { prefix: 'classt', from: 25, count: 4, gpu: 'l40s', gpus: 6, partition: 'gpu_shared' },
  { prefix: 'classt', from: 31, count: 1, gpu: 'h100-1g.11gb', gpus: 7, partition: 'gpu_shared' },
  { prefix: 'host', from: 1, count: 3, gpu: '', gpus: 0, partition: 'cpu_only' },
];

const kLarge = [
  { prefix: 'h', from: 1, count: 4000, gpu: 'h100-80gb-sxm', gpus: 8, partition: 'hopper' },
  { prefix: 'a', from: 1, count: 3000, gpu: 'a100-80gb-sxm', gpus: 8, partition: 'ampere' },
  { prefix: 'l', from: 1, count: 2000, gpu: 'l40s', gpus: 6, partition: 'ada' },
  { prefix: 'c', from: 1, count: 1000, gpu: '', gpus: 0, partition: 'cpu' },
];

const two = (value) => String(value).padStart(2, '0');

/** { nodes, jobs, name }: `large` chooses, `seed` varies them. */
export function makeCluster(large, seed = 1) {
  const chance = random(seed);
  const nodes = (large ? kLarge : kSmall).flatMap((group) => makeGroup(group, chance));
  const running = runningJobs(nodes, chance);
  const pending = pendingJobs(large ? 50000 - running.length : 14, large ? kLarge : kSmall, chance);
  return { name: large ? 'large' : 'seed', nodes, jobs: [...pending, ...running] };
}

function makeGroup(group, chance) {
  return Array.from({ length: group.count }, (_, at) => makeNode(group, group.from + at, chance));
}

function makeNode(group, number, chance) {
  const dice = chance.next();
  const condition =
    dice < 0.03 ? 'down' : dice < 0.07 ? 'drained' : dice < 0.12 ? 'promised' : dice < 0.3 ? 'free' : dice < 0.55 ? 'partly' : 'busy';
  const idle = condition === 'free' || condition === 'down' || condition === 'promised';
  const used = group.gpus === 0 || idle ? 0 : condition === 'busy' ? group.gpus : 1 + chance.below(Math.max(1, group.gpus - 1));
  const free = ['free', 'partly', 'promised'].includes(condition) ? group.gpus - used : 0;
  const gpu = kGpus[group.gpu];
  const promised = condition === 'promised' ? { job_id: 9000 + number, start: kNow + 600 * (1 + chance.below(9)) } : null;
  return {
    name: group.prefix + two(number),
    state: {
      down: 'DOWN*',
      drained: used > 0 ? 'MIXED+DRAIN' : 'IDLE+DRAIN',
      promised: 'IDLE+PLANNED',
      free: 'IDLE',
      partly: 'MIXED',
      busy: 'ALLOCATED',
    }[condition],
    condition: group.gpus === 0 && condition === 'partly' ? 'busy' : condition,
    reason: condition === 'down' ? 'Not responding' : condition === 'drained' ? 'fan 3 is loud, ticket 4711' : '',
    reason_user: condition === 'down' ? 'slurm' : condition === 'drained' ? 'root' : '',
    since: condition === 'down' || condition === 'drained' ? kNow - 3600 * (1 + (number % 9)) : null,
    partitions: [group.partition],
    features: gpu ? [gpu.gres_type, 'avx512'] : [],
    cpus: 64,
    cpus_allocated: used * 8,
    memory_mib: 515000,
    memory_allocated_mib: used * 64000,
    gpus: gpu ? [{ gpu: group.gpu, gpu_name: gpu.gpu_name, gres_type: gpu.gres_type, total: group.gpus, used, free }] : [],
    jobs: [],
    jobs_total: 0,
    next_end_p50: null,
    idle_allocated: 0,
    promised,
    reserved: null,
  };
}

let nextId = 0;

function runningJobs(nodes, chance) {
  nextId = 2000;
  const rows = [];
  for (const node of nodes) {
    for (let left = node.gpus[0]?.used ?? 0; left > 0;) {
      const gpus = Math.min(left, chance.pick([1, 1, 2, 2, 4, 8]));
      left -= gpus;
      rows.push(runningJob(node, gpus, chance));
    }
    node.jobs.splice(16);
    node.next_end_p50 = node.jobs.length > 0 ? Math.min(...node.jobs.map((job) => job.end_p50)) : null;
  }
  return rows;
}

function runningJob(node, gpus, chance) {
  const limit = chance.pick([3600, 14400, 43200, 86400, 172800]);
  const start = kNow - chance.below(Math.round(limit * 0.7));
  const end_limit = start + limit;
  const end_p50 = Math.min(end_limit, kNow + chance.spread(Math.max(300, (end_limit - kNow) * 0.5), 0.4));
  const end_p90 = Math.min(end_limit, Math.round(end_p50 + (end_limit - end_p50) * 0.7));
  const job_id = ++nextId;
  node.jobs.push({ job_id, name: null, user: null, gpus, cpus: gpus * 8, start_time: start, end_p50, end_p90, end_limit });
  node.jobs_total += 1;
  const { gpu, gpu_name, gres_type } = node.gpus[0];
  return {
    ...rowOf(job_id, node.partitions[0], gpu, gpu_name, gres_type, gpus, limit, chance),
    state: 'RUNNING',
    submit_time: start - chance.below(7200),
    start_time: start,
    end_time: end_limit,
    end_p50,
    end_p90,
  };
}

function rowOf(job_id, partition, gpu, gpu_name, gres_type, gpus, limit, chance) {
  return {
    job_id,
    array_tasks: '',
    array_task_count: chance.next() < 0.1 ? 1 + chance.below(40) : 1,
    name: null,
    user: null,
    account: null,
    qos: null,
    partition,
    gres: gpus ? `gpu:${gres_type}:${gpus}` : '',
    gpu,
    gpu_name,
    gpus,
    nodes: gpus > 8 ? Math.ceil(gpus / 8) : 1,
    time_limit_seconds: limit,
    priority: 10000 + chance.below(9000),
  };
}

const kReasons = [
  ['Priority', 'other jobs stand before it', 'when those before it have started'],
  ['Resources', 'it is next, and waits for GPUs to become free', 'when running jobs end'],
  ['QOSMaxGRESPerUser', 'its user has as many GPUs as the QOS allows', 'when another job of the user ends'],
  ['JobHeldUser', 'its user holds it', 'when it is released: scontrol release'],
];

function pendingJobs(count, groups, chance) {
  const withGpus = groups.filter((group) => group.gpus > 0);
  const rows = [];
  for (let at = 0; at < count; ++at) {
    const group = chance.pick(withGpus);
    const gpu = kGpus[group.gpu];
    const limit = chance.pick([3600, 28800, 86400]);
    const gpus = chance.pick([1, 1, 2, 4, group.gpus, 2 * group.gpus]);
    const held = chance.next() < 0.06;
    const [reason, reason_words, clears] = held ? kReasons[3] : kReasons[at === 0 ? 1 : chance.below(3)];
    const p50 = held ? null : Math.round((at + 1) * (count > 100 ? 4 : 900) * (0.6 + chance.next()));
    rows.push({
      ...rowOf(++nextId, group.partition, group.gpu, gpu.gpu_name, gpu.gres_type, gpus, limit, chance),
      state: 'PENDING',
      submit_time: kNow - chance.below(20000),
      reason,
      reason_words,
      clears,
      slurm_start: chance.next() < 0.4 && p50 ? kNow + Math.round(p50 * 2.4) : null,
      jobs_before: held ? null : at,
      ...waits(p50, chance),
      run_p50_seconds: Math.round(limit * (0.2 + 0.6 * chance.next())),
    });
  }
  return rows.sort((a, b) => (a.start_p50 ?? Infinity) - (b.start_p50 ?? Infinity) || a.job_id - b.job_id);
}

function waits(p50, chance) {
  if (p50 === null)
    return {
      wait_p10_seconds: null,
      wait_p50_seconds: null,
      wait_p90_seconds: null,
      wait_mean_seconds: null,
      start_p10: null,
      start_p50: null,
      start_p90: null,
    };
  const p10 = Math.round(p50 * (0.2 + 0.4 * chance.next()));
  const p90 = Math.round(p50 * (1.3 + 1.5 * chance.next()));
  return {
    wait_p10_seconds: p10,
    wait_p50_seconds: p50,
    wait_p90_seconds: p90,
    wait_mean_seconds: Math.round(p50 * 1.2),
    start_p10: kNow + p10,
    start_p50: kNow + p50,
    start_p90: kNow + p90,
  };
}

/** Names as a user sees them: every third job is of another account. */
export function nameJobs(cluster) {
  const accounts = ['vision', 'robotics', 'nlp'];
  cluster.jobs.forEach((job, at) =>
    Object.assign(job, { name: `train-${at}`, user: `user${at % 5}`, account: accounts[at % 3], qos: at % 4 ? 'normal' : 'high' }),
  );
}

/** One GPU of `gpu` is free, and kept for job 1644, which starts in seven minutes. */
export function keepOne(cluster, gpu) {
  const nodes = cluster.nodes.filter((node) => node.gpus[0]?.gpu === gpu);
  nodes.forEach((node, at) => {
    const free = at === 0 ? 1 : 0;
    Object.assign(node.gpus[0], { used: node.gpus[0].total - free, free });
    node.condition = free ? 'partly' : 'busy';
    node.promised = free ? { job_id: 1644, start: kNow + 420 } : null;
  });
}
