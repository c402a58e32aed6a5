// Made-up history and accuracy, the same in every run.
import { kNow } from './cluster.mjs';
import { random } from './random.mjs';

const kWeek = 7 * 86400;

export function history(cluster, query) {
  const weeks = Number(query.get('weeks') ?? 8);
  const gpu = query.get('gpu') ?? '';
  const chance = random(7 + gpu.length);
  const gpus = [...new Map(cluster.nodes.flatMap((node) => node.gpus).map((one) => [one.gpu, one]))].map(([id, one]) => ({
    gpu: id,
    gpu_name: one.gpu_name,
    total: cluster.nodes.reduce((sum, node) => sum + node.gpus.filter((it) => it.gpu === id).reduce((s, it) => s + it.total, 0), 0),
    last_day: Array.from({ length: 24 }, (_, hour) => Math.round(1000 * (0.6 + 0.3 * Math.sin(hour / 4 + id.length))) / 1000),
  }));
  return {
    time_zone: 'CET',
    utc_offset_seconds: 3600,
    weeks,
    since: kNow - weeks * kWeek,
    until: kNow,
    gpus,
    heat: heat(chance),
    by_week: byWeek(gpus, weeks, chance),
    series: series(weeks, chance),
    best_time: {
      weekend: false,
      hour_from: 4,
      hour_to: 8,
      jobs: 210,
      wait_p50_seconds: 60,
      wait_p90_seconds: 1500,
      usual_wait_p50_seconds: 900,
      usual_wait_p90_seconds: 11400,
    },
    best_time_unknown: null,
    note: `12,345 jobs since 26 September, of ${weeks} weeks`,
  };
}

/** GPU-hours of made-up accounts; `names` null: the caller may see none. */
export function usage(query, names = ['vision', 'robotics', 'nlp', 'teaching'], priced = true) {
  const weeks = Number(query.get('weeks') ?? 8);
  const chance = random(11);
  const row = (account, weekly) => {
    const waited = { jobs: 31, p50_seconds: 240, p90_seconds: 9000 };
    const weekly_cost = priced ? weekly.map((hours) => Math.round(hours * 18) / 10) : null;
    const sum = (values) => Math.round(10 * values.reduce((a, b) => a + b, 0)) / 10;
    return {
      account,
      jobs: 20 + chance.below(400),
      gpu_hours: sum(weekly),
      cost: weekly_cost ? sum(weekly_cost) : null,
      unpriced_gpu_hours: priced ? 0 : sum(weekly),
      weekly_gpu_hours: weekly,
      weekly_cost,
      weekly_waits: weekly.map((_, week) => (week === 0 ? { jobs: 0, p50_seconds: null, p90_seconds: null } : waited)),
    };
  };
  const accounts = (names ?? [null]).map((name, at) =>
    row(
      name,
      Array.from({ length: weeks }, () => Math.round(10 * chance.spread(900 / (at + 1), 0.5)) / 10),
    ),
  );
  const all = row(
    null,
    Array.from({ length: weeks }, (_, week) => Math.round(10 * accounts.reduce((sum, one) => sum + one.weekly_gpu_hours[week], 0)) / 10),
  );
  const monday = kNow - ((kNow - 4 * 86400) % kWeek);
  return {
    weeks: Array.from({ length: weeks }, (_, at) => monday - (weeks - 1 - at) * kWeek),
    until: kNow,
    own_only: false,
    known_since: kNow - 400 * 86400,
    note: null,
    all,
    accounts,
  };
}

/** What each user of the queue has there, with made-up waits. */
export function users(cluster, query) {
  const wanted = query.get('account');
  const jobs = cluster.jobs.filter((job) => job.gpus > 0);
  const mine = jobs.filter((job) => !wanted || job.account === wanted);
  const rows = new Map();
  const empty = (user) => ({
    user,
    accounts: [],
    pending: 0,
    pending_gpus: 0,
    running: 0,
    running_gpus: 0,
    oldest_submit: null,
    next_start_p50: null,
    jobs: 40,
    gpu_hours: 1200.5,
    waited_hours: 131.5,
    stalled_hours: 31.5,
    wait_p50_seconds: 1500,
  });
  const all = { ...empty(null), accounts: [] };
  const least = (a, b) => (a === null ? (b ?? null) : b === null || b === undefined ? a : Math.min(a, b));
  for (const job of mine) {
    if (!rows.has(job.user)) rows.set(job.user, empty(job.user));
    for (const row of [rows.get(job.user), all]) {
      if (job.account && !row.accounts.includes(job.account)) row.accounts.push(job.account);
      if (job.state === 'PENDING') {
        row.pending += 1;
        row.pending_gpus += job.gpus * job.array_task_count;
        row.oldest_submit = least(row.oldest_submit, job.submit_time);
        row.next_start_p50 = least(row.next_start_p50, job.start_p50);
      } else {
        row.running += 1;
        row.running_gpus += job.gpus;
      }
    }
  }
  const accounts = [...new Set(jobs.map((job) => job.account))].filter((name) => name !== null).sort();
  return {
    since: kNow - 4 * kWeek,
    until: kNow,
    own_only: false,
    known_since: kNow - 400 * 86400,
    note: null,
    own_accounts: accounts.slice(0, 1),
    accounts,
    cluster_wait_p50_seconds: 900,
    all,
    users: [...rows.values()].sort((a, b) => b.running_gpus + b.pending_gpus - a.running_gpus - a.pending_gpus),
  };
}

function heat(chance) {
  return Array.from({ length: 168 }, (_, at) => {
    const weekday = Math.floor(at / 24);
    const hour = at % 24;
    const load = (weekday < 5 ? 1 : 0.35) * (0.35 + 0.65 * Math.exp(-(((hour - 15) / 5) ** 2)));
    if (weekday === 6 && hour === 4)
      return { weekday, hour, jobs: 0, wait_p50_seconds: null, wait_p90_seconds: null, use: null, queue: null };
    return {
      weekday,
      hour,
      jobs: 1 + Math.round(40 * load),
      wait_p50_seconds: Math.round(chance.spread(5000 * load ** 2, 0.6)),
      wait_p90_seconds: Math.round(chance.spread(30000 * load ** 2, 0.6)),
      use: Math.min(1, 0.5 + 0.5 * load),
      queue: Math.round(200 * load ** 2) / 10,
    };
  });
}

function byWeek(gpus, weeks, chance) {
  const rows = [];
  for (let week = weeks; week > 0; --week) {
    gpus.forEach(({ gpu }, at) => {
      const p50 = chance.spread(900 * (at + 1), 0.5);
      rows.push({
        week_start: kNow - week * kWeek - (kNow % 86400),
        gpu,
        jobs: 40 + chance.below(300),
        wait_p50_seconds: p50,
        wait_p90_seconds: p50 * 5,
        use: 0.5 + 0.45 * chance.next(),
        queue: 3 + 9 * chance.next(),
      });
    });
  }
  return rows;
}

function series(weeks, chance) {
  const count = Math.min(700, weeks * 168);
  const seconds = Math.round((weeks * kWeek) / count);
  return Array.from({ length: count }, (_, at) => {
    const time = kNow - (count - at) * seconds;
    const day = 0.6 + 0.4 * Math.sin(((time % 86400) / 86400) * 2 * Math.PI - 1.9);
    if (at > 200 && at < 210) return { time, seconds, pending: null, pending_gpus: null, busy_gpus: null };
    return {
      time,
      seconds,
      pending: 12 * day + 3 * chance.next(),
      pending_gpus: 30 * day + 9 * chance.next(),
      busy_gpus: 60 + 24 * day + 4 * chance.next(),
    };
  });
}

const kDeciles = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

export function accuracy(young = false) {
  if (young) return youngAccuracy();
  const chance = random(3);
  const all = {
    jobs: 1204,
    median_abs_error_seconds: 3,
    within_600s: 0.83,
    at_once: 0.99,
    covered_jobs: 304,
    covered_median_abs_error_seconds: 1260,
    coverage_p50: 0.52,
    coverage_p90: 0.91,
    slurm_jobs: 210,
    slurm_median_abs_error_seconds: 61000,
    median_abs_error_seconds_beside_slurm: 1500,
  };
  const sizes = ['1', '2-3', '4-7'];
  return {
    all,
    fits_now: {},
    does_not_fit_now: {},
    by_gpu: [
      ['l40s', 'L40S'],
      ['rtx4090', 'RTX 4090'],
      ['rtx2080ti', 'RTX 2080 Ti'],
    ].flatMap(([gpu, gpu_name]) =>
      sizes.map((gpus) => ({
        ...all,
        gpu,
        gpu_name,
        gpus,
        jobs: 20 + chance.below(300),
        slurm_median_abs_error_seconds: gpus === '1' ? null : 30000,
      })),
    ),
    since: kNow - 20 * 86400,
    note: 'of 900 jobs that were said to start at once, 99 % did; half of the 304 said to wait came within 21 min of the median, 91 % before the p90',
    calibration: kDeciles.map((said) => ({
      said,
      came: said ** 1.1,
      low: said ** 1.1 - 0.04,
      high: Math.min(1, said ** 1.1 + 0.04),
      jobs: said === 0.5 ? 304 : 240,
    })),
    weeks: Array.from({ length: 6 }, (_, at) => ({
      week_start: kNow - (6 - at) * kWeek,
      jobs: 200,
      covered_jobs: 50,
      coverage_p50: 0.42 + 0.03 * at,
      coverage_p90: at === 1 ? null : 0.8 + 0.025 * at,
      median_abs_error_seconds: 60 * at,
      slurm_jobs: 30,
      slurm_median_abs_error_seconds: 40000,
      median_abs_error_seconds_beside_slurm: 1300,
    })),
    points: Array.from({ length: 304 }, (_, at) => point(at, chance)),
  };
}

function point(at, chance) {
  const p50 = chance.spread(3000, 1.1);
  const gpu = chance.pick([
    ['l40s', 'L40S'],
    ['rtx4090', 'RTX 4090'],
    ['rtx2080ti', 'RTX 2080 Ti'],
  ]);
  return {
    started_at: kNow - (304 - at) * 5000,
    gpu: gpu[0],
    gpu_name: gpu[1],
    gpus: 1 + chance.below(6),
    said_p10_seconds: Math.round(p50 * 0.4),
    said_p50_seconds: p50,
    said_p90_seconds: p50 * 3,
    wait_seconds: chance.spread(p50 * 1.05, 0.6),
    slurm_error_seconds: chance.next() < 0.6 ? chance.spread(50000, 0.5) : null,
  };
}

function youngAccuracy() {
  const all = {
    jobs: 4,
    median_abs_error_seconds: 12,
    within_600s: 1,
    at_once: 1,
    covered_jobs: 0,
    covered_median_abs_error_seconds: null,
    coverage_p50: null,
    coverage_p90: null,
    slurm_jobs: 0,
    slurm_median_abs_error_seconds: null,
    median_abs_error_seconds_beside_slurm: null,
  };
  return {
    all,
    fits_now: {},
    does_not_fit_now: {},
    by_gpu: [],
    since: kNow - 3600,
    note: 'accuracy not known yet (4 of 30 jobs needed)',
    calibration: kDeciles.map((said) => ({ said, came: null, low: null, high: null, jobs: 0 })),
    weeks: [],
    points: [],
  };
}
