// Names that somebody chose to do harm, in every place where the API passes on a name.

export const kHtml = '<img src=x onerror="window.harmed=1"><script>window.harmed=1</script>';
export const kBackwards = '\u202Egnp.evil\u202C \u0645\u0631\u062D\u0628\u0627 \u2066x';
export const kLong = 'x'.repeat(1000);
export const kQuote = `a'; window.harmed=1; "b" & $(touch /tmp/x) \`y\``;

const kNames = [kHtml, kBackwards, kLong, kQuote];

/** Changes `cluster` in place. */
export function makeHostile(cluster) {
  cluster.name = kHtml;
  cluster.jobs.forEach((job, at) => {
    job.name = kNames[at % 4];
    job.user = kNames[(at + 1) % 4];
    if (job.reason !== undefined) job.reason_words = kNames[(at + 2) % 4];
    if (at % 5 === 0) job.partition = kNames[at % 4];
  });
  cluster.nodes.forEach((node, at) => {
    if (at < 4) node.name = kNames[at];
    node.reason = kNames[at % 4];
    node.features = kNames;
    node.jobs.forEach((job, index) => {
      job.name = kNames[index % 4];
      job.user = kNames[(index + 1) % 4];
    });
    for (const gpus of node.gpus) if (gpus.gpu === 'l40s') gpus.gpu_name = kHtml;
    if (node.partitions[0] === 'cpu_only') node.partitions = [kLong];
    if (at % 7 === 0) node.reserved = { name: kBackwards, start: 0, end: 4000000000 };
  });
}
